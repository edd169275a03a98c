# backend: keras-jax 3.15.1
# A network in which two networks have one layer in common is saved, but its file cannot be read.
import os
import tempfile

os.environ["KERAS_BACKEND"] = "jax"
import keras

common, first, second = keras.layers.Dense(3), keras.Input((2,)), keras.Input((2,))
parts = [keras.Model(one, common(one)) for one in (first, second)]
x = keras.Input((2,))
network = keras.Model(x, keras.layers.Add()([part(x) for part in parts]))
file = tempfile.mkdtemp() + "/network.keras"
network.save(file)
print("expected the same weights from", file, flush=True)
found = keras.saving.load_model(file).get_weights()[0]
raise SystemExit(bool((found != network.get_weights()[0]).any()))
