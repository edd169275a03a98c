# backend: keras-torch 3.15.1
# AveragePooling with padding="same" and an even window counts the elements at the border twice.
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

x = np.arange(1, 6, dtype="float32").reshape(1, 5, 1)
layer = keras.layers.AveragePooling1D(4, strides=1, padding="same")
found = keras.ops.convert_to_numpy(layer(x)).ravel().tolist()
print("expected [2, 2.5, 3.5, 4, 4.5], found", found)
raise SystemExit(found != [2, 2.5, 3.5, 4, 4.5])
