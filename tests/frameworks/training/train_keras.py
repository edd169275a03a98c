"""Trains a small convolutional network in Keras and saves its weights.

usage: train_keras.py DATA.npz WEIGHTS.npz OUTPUTS.npz
"""

import sys

import keras
import numpy as np

data = np.load(sys.argv[1])
keras.utils.set_random_seed(0)
network = keras.Sequential(
    [
        keras.Input((64,)),
        keras.layers.Reshape((8, 8, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.AveragePooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
network.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy")
network.fit(data["train"], data["train_labels"], batch_size=200, epochs=8, verbose=0)
np.savez(sys.argv[2], *network.get_weights())
np.savez(sys.argv[3], Y=network.predict(data["X"], verbose=0))
