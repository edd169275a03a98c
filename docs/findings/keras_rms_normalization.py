# backend: keras-jax 3.15.1
# RMSNormalization of an axis that is not the last multiplies by its scale along the last one.
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

layer = keras.layers.RMSNormalization(axis=1, epsilon=0)
layer.build((1, 2, 2))
layer.set_weights([np.array([1, 3])])
found = keras.ops.convert_to_numpy(layer(np.ones((1, 2, 2), "float32")))
expected = np.array([[[1, 1], [3, 3]]])
print("expected", expected.tolist(), "found", found.tolist())
raise SystemExit(not np.allclose(found, expected, atol=1e-3))
