# backend: tensorflow 2.21.0
# LiteRT's softplus of a negative number loses all its digits: log(1 + e^x) and not log1p.
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

x = tf.constant([-10.0, -20.0])
function = tf.function(tf.nn.softplus).get_concrete_function(tf.TensorSpec([2], tf.float32))
model = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
runner = Interpreter(model_content=model)
runner.allocate_tensors()
runner.set_tensor(runner.get_input_details()[0]["index"], x.numpy())
runner.invoke()
found = runner.get_tensor(runner.get_output_details()[0]["index"])
print("expected", tf.nn.softplus(x).numpy(), "found", found)
raise SystemExit(bool(found[1] == 0))
