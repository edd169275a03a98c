# backend: keras-tensorflow 3.15.1
# Conv3D of float64 with padding="same" and a stride beyond the kernel starts inside the image.
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

found = []
for kind in ("float32", "float64"):
    layer = keras.layers.Conv3D(1, 1, strides=3, padding="same", use_bias=False, dtype=kind)
    x = np.arange(27, dtype=kind).reshape(1, 3, 3, 3, 1)
    layer.build(x.shape)
    layer.set_weights([np.ones((1, 1, 1, 1, 1))])
    found.append(keras.ops.convert_to_numpy(layer(x)).item())
print("expected [0, 0] in float32 and float64, found", found)
raise SystemExit(found != [0, 0])
