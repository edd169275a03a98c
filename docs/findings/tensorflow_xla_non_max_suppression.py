# backend: tensorflow 2.21.0
# XLA refuses to pick up to three of one box, which is legal without it.
import tensorflow as tf


def pick(boxes, scores):
    return tf.image.non_max_suppression(boxes, scores, 3)


given = tf.constant([[0.0, 0.0, 1.0, 1.0]]), tf.constant([0.9])
print("expected", pick(*given).numpy())
try:
    print("found", tf.function(pick, jit_compile=True)(*given).numpy())
except tf.errors.InvalidArgumentError as failure:
    print("found", str(failure).splitlines()[0])
    raise SystemExit(1)
