# backend: keras-torch 3.15.1
# LayerNormalization normalises the last axes, as many as were asked for, whichever those are.
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = np.array([[[1, 2], [3, 5]]], "float32")
found = keras.ops.convert_to_numpy(keras.layers.LayerNormalization(axis=1, epsilon=0)(x))
expected = np.array([[[-1, -1], [1, 1]]])
print("expected", expected.tolist(), "found", found.tolist())
raise SystemExit(not np.allclose(found, expected, atol=1e-3))
