# backend: keras-torch 3.15.1
# Maximum, Minimum, Dot and Dense of float64 are computed in float32.
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = keras.ops.convert_to_tensor(np.array([[1 / 3, 2 / 3]]), dtype="float64")
found = [
    keras.layers.Maximum(dtype="float64")([x, x]).dtype,
    keras.layers.Dot(1, dtype="float64")([x, x]).dtype,
    keras.layers.Dense(1, use_bias=False, dtype="float64")(x).dtype,
]
print("expected float64, found", found)
raise SystemExit(any("64" not in str(one) for one in found))
