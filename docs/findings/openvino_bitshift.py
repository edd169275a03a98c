# backend: openvino 2026.4.1
# Shifting a negative number to the right gives zero where the sign has to be kept.
import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

node = helper.make_node("BitShift", ["x", "by"], ["y"], direction="RIGHT")
x, by, y = (helper.make_tensor_value_info(n, TensorProto.INT32, [3]) for n in ("x", "by", "y"))
opsets = [helper.make_opsetid("", onnx.defs.onnx_opset_version())]
model = helper.make_model(helper.make_graph([node], "g", [x, by], [y]), opset_imports=opsets)
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
found = compiled([np.array([-8, -1, 8], np.int32), np.array([1, 1, 1], np.int32)])[0]
print("expected [-4, -1, 4], found", found)
raise SystemExit(found.tolist() != [-4, -1, 4])
