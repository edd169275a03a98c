# backend: openvino 2026.4.1
# SpaceToDepth's mode CRD is read past: the channels come in the order of DCR.
import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

info = helper.make_tensor_value_info
node = helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="CRD")
x, y = info("x", TensorProto.FLOAT, [1, 2, 2, 2]), info("y", TensorProto.FLOAT, None)
opsets = [helper.make_opsetid("", onnx.defs.onnx_opset_version())]
model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=opsets)
core = openvino.Core()
found = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
found = found([np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)])[0].ravel()
print("expected 0 1 2 3 4 5 6 7 (each channel's block together), found", found)
raise SystemExit(found.tolist() != [0, 1, 2, 3, 4, 5, 6, 7])
