# backend: tensorflow 2.21.0
# LiteRT's comparison of plain unsigned bytes aborts the process.
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

spec = tf.TensorSpec([3], tf.uint8)
function = tf.function(tf.equal).get_concrete_function(spec, spec)
model = tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()
runner = Interpreter(model_content=model)
print("expected [True, True, True]", flush=True)
runner.allocate_tensors()
for place in runner.get_input_details():
    runner.set_tensor(place["index"], np.array([1, 2, 3], np.uint8))
runner.invoke()
print("found", runner.get_tensor(runner.get_output_details()[0]["index"]))
