# backend: openvino 2026.4.1
# The largest of no numbers is -infinity; OpenVINO gives the lowest finite number.
import numpy as np
import openvino
from openvino import opset13 as ops

x = ops.parameter([2, -1], np.float32)
model = openvino.Model([ops.reduce_max(x, np.array([1]), False)], [x])
found = openvino.compile_model(model, "CPU")([np.zeros((2, 0), np.float32)])[0]
print("expected [-inf, -inf], found", found)
raise SystemExit(not np.isneginf(found).all())
