# backend: openvino 2026.4.1
# Integers of 64 bits are computed in 32: what these do not hold is cut to their ends.
import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

x, y = (helper.make_tensor_value_info(name, TensorProto.INT64, [2]) for name in "xy")
graph = helper.make_graph([helper.make_node("Add", ["x", "c"], ["y"])], "g", [x], [y])
expected = np.array([2**40, -(2**40)])
graph.initializer.append(onnx.numpy_helper.from_array(expected, "c"))
opsets = [helper.make_opsetid("", onnx.defs.onnx_opset_version())]
model = helper.make_model(graph, opset_imports=opsets)
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
found = compiled([np.zeros(2, np.int64)])[0]
print("expected", expected, "found", found)
raise SystemExit(found.tolist() != expected.tolist())
