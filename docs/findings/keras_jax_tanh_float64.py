# backend: keras-jax 3.15.1
# The activation tanh of float64 gives float32, and with it every recurrence that has it.
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import keras
import numpy as np

layer = keras.layers.DepthwiseConv2D(3, activation="tanh", dtype="float64")
found = layer(np.ones((1, 5, 5, 3)))
print("expected float64, found", found.dtype)
raise SystemExit(str(found.dtype) != "float64")
