# backend: openvino 2026.4.1
# A cast between floats turns infinity into the largest finite number.
import numpy as np
import openvino
from openvino import opset13 as ops

x = ops.parameter([3], np.float32)
model = openvino.Model([ops.convert(x, "f64")], [x])
found = openvino.compile_model(model, "CPU")([np.array([1, np.inf, -np.inf], np.float32)])[0]
print("expected [1, inf, -inf], found", found)
raise SystemExit(not np.isinf(found[1]))
