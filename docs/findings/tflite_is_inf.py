# backend: tensorflow 2.21.0
# LiteRT's translation of is_inf finds no infinity.
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

x = tf.constant([1.0, float("inf"), float("-inf"), float("nan")])
function = tf.function(tf.math.is_inf).get_concrete_function(tf.TensorSpec([4], tf.float32))
model = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
runner = Interpreter(model_content=model)
runner.allocate_tensors()
runner.set_tensor(runner.get_input_details()[0]["index"], x.numpy())
runner.invoke()
found = runner.get_tensor(runner.get_output_details()[0]["index"]).tolist()
print("expected [False, True, True, False], found", found)
raise SystemExit(found != [False, True, True, False])
