# backend: openvino 2026.4.1
# On the CPU numbers of 64 bits are computed in 32, and come out as if they had 64.
import numpy as np
import openvino
from onnx import TensorProto, helper

x = np.array([1.0 / 3.0], np.float64)
sides = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [1]) for name in "XY"]
node = helper.make_node("Add", ["X", "X"], ["Y"])
graph = helper.make_graph([node], "g", sides[:1], sides[1:])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
core = openvino.Core()
found = core.compile_model(core.read_model(model.SerializeToString()), "CPU")([x])[0]
print("expected", x[0] + x[0], "found", found[0], "of type", found.dtype)
raise SystemExit(abs(found[0] - 2 * x[0]) > 1e-12)
