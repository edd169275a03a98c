# backend: onnxruntime 1.31.1
# MaxUnpool counts indices in the output's shape; the standard's test, in the unpooled one.
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

info = helper.make_tensor_value_info
node = helper.make_node("MaxUnpool", ["x", "i", "s"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
inputs = [info("x", TensorProto.FLOAT, [1, 1, 2, 2]), info("i", TensorProto.INT64, [1, 1, 2, 2])]
inputs.append(info("s", TensorProto.INT64, [4]))
graph = helper.make_graph([node], "g", inputs, [info("y", TensorProto.FLOAT, None)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
runner = onnxruntime.InferenceSession(model.SerializeToString())
x = np.array([5, 6, 7, 8], np.float32).reshape(1, 1, 2, 2)
i = np.array([5, 7, 13, 15]).reshape(1, 1, 2, 2)
found = runner.run(None, {"x": x, "i": i, "s": np.array([1, 1, 5, 5])})[0]
print("expected 5 at row 1, column 1 and 6 at row 1, column 3 of a 4 by 4 corner, found\n", found)
raise SystemExit(found[0, 0, 1, 1] != 5)
