# backend: keras-tensorflow 3.15.1
# AdaptiveMaxPooling3D to one window, which is all of the image, kills the process with SIGFPE.
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

print("expected 26, the largest element", flush=True)
x = np.arange(27, dtype="float32").reshape(1, 3, 3, 3, 1)
found = keras.ops.convert_to_numpy(keras.layers.AdaptiveMaxPooling3D(1)(x)).item()
print("found", found)
raise SystemExit(found != 26)
