# backend: openvino 2026.4.1
# Tile whose repeats are an input gives what happens to lie in memory.
import numpy as np
import openvino
from openvino import opset13 as ops

x = ops.parameter([2, 3, 4, 5], np.float32)
repeats = ops.parameter([4], np.int64)
model = openvino.Model([ops.tile(x, repeats)], [x, repeats])
data = np.random.default_rng(0).random((2, 3, 4, 5), np.float32)
found = openvino.compile_model(model, "CPU")([data, np.array([7, 6, 4, 2])])[0]
expected = np.tile(data, [7, 6, 4, 2])
print("expected", expected.ravel()[:4], "found", found.ravel()[:4])
raise SystemExit(not np.array_equal(found, expected))
