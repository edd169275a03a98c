# backend: onnx-reference 1.23.2
# Before version 10 the mask of a Dropout has the type of the data; here it is always boolean.
import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.ones(2, np.float32)
info = helper.make_tensor_value_info
outputs = [info(name, TensorProto.FLOAT, x.shape) for name in ("y", "mask")]
node = helper.make_node("Dropout", ["x"], ["y", "mask"])
graph = helper.make_graph([node], "g", [info("x", TensorProto.FLOAT, x.shape)], outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 7)], ir_version=8)
found = ReferenceEvaluator(model).run(None, {"x": x})[1]
print("expected float32, found", found.dtype)
raise SystemExit(found.dtype != np.float32)
