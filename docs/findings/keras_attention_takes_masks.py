# backend: keras-tensorflow 3.15.1
# A MultiHeadAttention takes the masks off its inputs, so that layers called later see none.
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

steps = keras.layers.Masking()(np.array([[[2.0], [0.0]]], dtype="float32"))
mean = keras.layers.GlobalAveragePooling1D()
before = keras.ops.convert_to_numpy(mean(steps)).item()
keras.layers.MultiHeadAttention(1, 1)(steps, steps)
after = keras.ops.convert_to_numpy(mean(steps)).item()
print("expected the mean of the step that counts, 2, both times, found", [before, after])
raise SystemExit([before, after] != [2, 2])
