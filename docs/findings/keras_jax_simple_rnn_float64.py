# backend: keras-jax 3.15.1
# SimpleRNN in float64 fails: its state is float64 before a step and float32 after it.
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import keras
import numpy as np

print("expected an answer in float64")
found = keras.layers.SimpleRNN(2, dtype="float64")(np.ones((1, 3, 2)))
raise SystemExit(str(found.dtype) != "float64")
