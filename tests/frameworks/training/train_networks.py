"""Trains small networks of published kinds in Keras on digits and saves them.

usage: train_networks.py digits.npz FOLDER [NAME...]
Keras 2 writes .h5 files, and Keras 3 .keras files. Without names all networks are trained.
"""

import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np
from keras import layers

IMAGE = (8, 8, 1)


def lenet():
    """Return two convolutions with pools, then dense layers."""
    return [
        layers.Conv2D(6, 3, padding="same", activation="relu", input_shape=IMAGE),
        layers.AveragePooling2D(3, strides=2, padding="same"),
        layers.Conv2D(8, 3, activation="tanh"),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ]


def vgg():
    """Return blocks of small kernels, each with a pool."""
    return [
        layers.Conv2D(6, 3, padding="same", activation="relu", input_shape=IMAGE),
        layers.Conv2D(6, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(10, activation="softmax"),
    ]


def mobilenet():
    """Return a step by channels and a step across them, with normalisation between."""
    return [
        layers.Conv2D(6, 3, strides=2, padding="same", use_bias=False, input_shape=IMAGE),
        layers.BatchNormalization(),
        layers.ReLU(6.0),
        layers.DepthwiseConv2D(2, padding="same"),
        layers.Conv2D(8, 1, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10, activation="softmax"),
    ]


def recurrent(kind):
    """Return a recurrence over the rows of an image."""
    return lambda: keras.models.Sequential(
        [
            layers.Reshape((8, 8), input_shape=IMAGE),
            kind(12),
            layers.Dense(10, activation="softmax"),
        ]
    )


def resnet():
    """Return a block whose input is added to its output."""
    x = layers.Input(IMAGE)
    first = layers.Conv2D(6, 3, padding="same", activation="relu")(x)
    inner = layers.BatchNormalization()(layers.Conv2D(6, 3, padding="same")(first))
    joined = layers.Activation("relu")(layers.Add()([first, inner]))
    scores = layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling2D()(joined))
    return keras.models.Model(x, scores)


def xception():
    """Return convolutions that are taken apart, with normalisation, beside a short cut."""
    x = layers.Input(IMAGE)
    first = layers.BatchNormalization()(layers.Conv2D(6, 3, use_bias=False)(x))
    inner = layers.Activation("relu")(first)
    inner = layers.SeparableConv2D(8, 3, padding="same", use_bias=False)(inner)
    inner = layers.Activation("relu")(layers.BatchNormalization()(inner))
    inner = layers.SeparableConv2D(8, 3, padding="same", use_bias=False)(inner)
    inner = layers.MaxPooling2D(2)(layers.BatchNormalization()(inner))
    beside = layers.Conv2D(8, 1, strides=2, use_bias=False)(first)
    joined = layers.Add()([inner, layers.BatchNormalization()(beside)])
    last = layers.SeparableConv2D(10, 3, activation="relu")(joined)
    scores = layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling2D()(last))
    return keras.models.Model(x, scores)


def sequence(make):
    """Return a network of layers one after the other."""
    return lambda: keras.models.Sequential(make())


def main():
    """Train each for a few rounds."""
    held = np.load(sys.argv[1])
    images, labels = held["train"].reshape((-1, *IMAGE)), np.eye(10)[held["train_labels"]]
    networks = {
        "lenet": sequence(lenet),
        "vgg": sequence(vgg),
        "mobilenet": sequence(mobilenet),
        "lstm": recurrent(layers.LSTM),
        "gru": recurrent(layers.GRU),
        "rnn": recurrent(layers.SimpleRNN),
        "resnet": resnet,
        "xception": xception,
    }
    np.random.seed(3)
    ending = ".keras" if keras.__version__.startswith("3") else ".h5"
    for name in sys.argv[3:] or list(networks):
        model = networks[name]()
        model.compile("adam", "categorical_crossentropy")
        model.fit(images, labels, epochs=8, batch_size=32, verbose=0)
        model.save(str(pathlib.Path(sys.argv[2]) / (name + ending)))


main()
