# backend: onnx-reference 1.23.2
# LRN counts channels to the number of images: all channels behind those are not normalized.
import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.ones((1, 3, 1, 1), np.float32)
node = helper.make_node("LRN", ["x"], ["y"], size=3, alpha=3.0, beta=1.0, bias=1.0)
info = helper.make_tensor_value_info
ends = info("x", TensorProto.FLOAT, x.shape), info("y", TensorProto.FLOAT, x.shape)
graph = helper.make_graph([node], "g", [ends[0]], [ends[1]])
found = ReferenceEvaluator(helper.make_model(graph)).run(None, {"x": x})[0].ravel()
print("expected [1/3, 1/4, 1/3], found", found.tolist())
raise SystemExit(not np.allclose(found, [1 / 3, 1 / 4, 1 / 3]))
