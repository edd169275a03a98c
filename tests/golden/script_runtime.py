# backend: onnxruntime 1.20.1
# AveragePool gives 2 where 4 is right; 1 of 2 elements are wrong.
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

feed = {"X": np.array([4.0, 6.0], np.float32).reshape(1, 1, 2)}
info, kind = helper.make_tensor_value_info, helper.np_dtype_to_tensor_dtype
nodes = [helper.make_node("AveragePool", ["X"], ["Y"], kernel_shape=[2], pads=[1, 0])]
inputs = [info(n, kind(one.dtype), one.shape) for n, one in feed.items()]
graph = helper.make_graph(nodes, "g", inputs, [info("Y", TensorProto.FLOAT, None)])
opsets = [helper.make_opsetid("", 28)]
model = helper.make_model(graph, ir_version=10, opset_imports=opsets).SerializeToString()
runner = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
found = runner.run(None, feed)
value = float(np.ravel(found[0])[0])
print("expected 4.0 at element 0, found", value)
raise SystemExit(bool(value != 4.0))
