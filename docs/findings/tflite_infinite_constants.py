# backend: tensorflow 2.21.0
# The converter of LiteRT makes infinite constants finite: what is added to -inf is not -inf.
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

mask = tf.constant([0.0, float("-inf"), float("inf")])
function = tf.function(lambda x: x + mask).get_concrete_function(tf.TensorSpec([3], tf.float32))
model = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
runner = Interpreter(model_content=model)
runner.allocate_tensors()
runner.set_tensor(runner.get_input_details()[0]["index"], tf.ones([3]).numpy())
runner.invoke()
found = runner.get_tensor(runner.get_output_details()[0]["index"]).tolist()
print("expected [1.0, -inf, inf], found", found)
raise SystemExit(found != [1.0, float("-inf"), float("inf")])
