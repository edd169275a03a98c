# backend: keras-torch 3.15.1
# LayerNormalization of an axis that is not the last is refused where the extents differ.
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

print("expected: the mean along axis 1 is 0")
found = keras.layers.LayerNormalization(axis=1)(np.ones((1, 3, 2), "float32"))
raise SystemExit(float(keras.ops.max(keras.ops.abs(found))) != 0)
