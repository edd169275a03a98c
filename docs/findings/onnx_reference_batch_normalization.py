# backend: onnx-reference 1.23.2
# BatchNormalization below version 14 mixes the batch's own mean and variance into the given ones.
import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.array([[0.0], [2.0]], np.float32)
given = {"scale": 1, "bias": 0, "mean": 0, "variance": 1}
feed = {"x": x, **{name: np.array([v], np.float32) for name, v in given.items()}}
info = helper.make_tensor_value_info
inputs = [info(name, TensorProto.FLOAT, one.shape) for name, one in feed.items()]
node = helper.make_node("BatchNormalization", list(feed), ["y"], epsilon=1e-7)
graph = helper.make_graph([node], "g", inputs, [info("y", TensorProto.FLOAT, x.shape)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=8)
found = ReferenceEvaluator(model).run(None, feed)[0].ravel()
print("expected [0, 2], found", found.tolist())
raise SystemExit(not np.allclose(found, [0, 2]))
