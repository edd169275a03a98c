# backend: onnx-reference 1.23.2
# What a Loop collects is joined along the first axis where it has to get a new one.
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

info, node = helper.make_tensor_value_info, helper.make_node
scalars = [info("i", TensorProto.INT64, []), info("going", TensorProto.BOOL, [])]
ones = node(
    "Constant", [], ["one"], value=onnx.numpy_helper.from_array(np.ones((1, 1), np.float32))
)
results = [info("more", TensorProto.BOOL, []), info("one", TensorProto.FLOAT, [1, 1])]
body = helper.make_graph([ones, node("Identity", ["going"], ["more"])], "b", scalars, results)
loop = node("Loop", ["n", "on"], ["y"], body=body)
inputs = [info("n", TensorProto.INT64, []), info("on", TensorProto.BOOL, [])]
graph = helper.make_graph([loop], "g", inputs, [info("y", TensorProto.FLOAT, None)])
feed = {"n": np.array(3), "on": np.array(True)}
found = ReferenceEvaluator(helper.make_model(graph)).run(None, feed)[0]
print("expected shape (3, 1, 1), found", found.shape)
raise SystemExit(found.shape != (3, 1, 1))
