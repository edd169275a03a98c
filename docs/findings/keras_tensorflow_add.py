# backend: keras-tensorflow 3.15.1
# Adding a column adds it as a row if it fits: it is taken for a bias of the last axis.
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np

x, column = np.zeros((1, 2, 2), "float32"), np.array([[[1], [3]]], "float32")
found = keras.ops.convert_to_numpy(keras.layers.Add()([x, column]))
print("expected", (x + column).tolist(), "found", found.tolist())
raise SystemExit(bool((found != x + column).any()))
