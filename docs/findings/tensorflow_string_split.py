# backend: tensorflow 2.21.0
# A split by blanks with a limit that is not reached appends an empty text.
import tensorflow as tf

found = tf.strings.split(["hello world"], None, maxsplit=2).to_list()
print("expected [[b'hello', b'world']], found", found)
raise SystemExit(found != [[b"hello", b"world"]])
