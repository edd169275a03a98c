# backend: tensorflow 2.21.0
# LiteRT's softplus of a negative number loses all its digits: log(1 + e^x) and not log1p.
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

x = tf.constant([-10.0, -20.0])
function = tf.function(tf.nn.softplus).get_concrete_function(tf.TensorSpec([2], tf.float32))
model = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
runner = Interpreter(model_content=model).get_signature_runner()
found = next(iter(runner(features=x).values()))
print("expected", tf.nn.softplus(x).numpy(), "found", found)
raise SystemExit(bool(found[1] == 0))
