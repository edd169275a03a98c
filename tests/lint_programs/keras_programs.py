"""Programs with a numerical bug, and their fixed twins: Keras layers in TensorFlow graphs.

usage: keras_programs.py FOLDER

Runs in the environment of the backend tensorflow.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import tensorflow as tf
from keras import layers, ops
from programs import Programs

V1 = tf.compat.v1
program = Programs()
WEIGHTS = {"*": [-1.0, 1.0]}


def given(name: str, *shape: int | None) -> Any:
    """Return an input of the program."""
    return V1.placeholder(tf.float32, shape, name=name)


def danger(operation: Any, *arguments: Any) -> Any:
    """Apply the operation that may fail, under the name by which the test knows it."""
    return operation(*arguments, name="danger")


class Sampling(layers.Layer):
    """The layer of a variational autoencoder that draws."""

    def __init__(self, fixed: bool) -> None:
        """Clip or do not."""
        super().__init__()
        self.fixed = fixed

    def call(self, mean: Any, log_variance: Any, noise: Any) -> Any:
        """Return the mean and a deviation times noise."""
        if self.fixed:
            log_variance = ops.clip(log_variance, -30.0, 20.0)
        return mean + danger(tf.exp, 0.5 * log_variance) * noise


class OwnNormalization(layers.Layer):
    """A layer normalisation that somebody wrote."""

    def __init__(self, epsilon: float) -> None:
        """Keep the epsilon."""
        super().__init__()
        self.epsilon = epsilon

    def call(self, x: Any) -> Any:
        """Return rows of mean 0 and variance 1."""
        mean = ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) * danger(tf.math.rsqrt, variance + self.epsilon)


@program("lint.exp", "sampling_1/danger", parameters=WEIGHTS, x=[0, 255], noise=[-4, 4])
def sampling_layer(fixed: bool) -> Any:
    """A variational autoencoder's encoder."""
    x = given("x", None, 16)
    hidden = layers.Dense(8, activation="relu")(x)
    mean, log_variance = layers.Dense(2)(hidden), layers.Dense(2)(hidden)
    return Sampling(fixed)(mean, log_variance, given("noise", None, 2))


@program("lint.divide", "own_normalization_1/danger", parameters=WEIGHTS, x=[-1, 1])
def own_layer_normalization(fixed: bool) -> Any:
    """Normalisation whose epsilon is 0."""
    return OwnNormalization(1e-3 if fixed else 0.0)(layers.Dense(8)(given("x", None, 4)))


@program("lint.softmax", parameters=WEIGHTS, x=[0, 255], labels=[0, 1])
def own_binary_loss(fixed: bool) -> Any:
    """A loss on what a sigmoid gives."""
    labels = given("labels", None, 1)
    p = layers.Dense(1, activation="sigmoid")(given("x", None, 16))
    if fixed:
        p = ops.clip(p, 1e-6, 1.0 - 1e-6)
    return -ops.mean(labels * ops.log(p) + (1.0 - labels) * danger(tf.math.log, 1.0 - p))


@program("lint.log", parameters=WEIGHTS, x=[-10, 10], labels=[0, 1])
def relu_before_a_logarithm(fixed: bool) -> Any:
    """Logarithmic error of what a ReLU cuts off."""
    hidden = layers.Dense(4, activation="softplus" if fixed else "relu")(given("x", None, 4))
    if fixed:
        hidden = hidden + 1e-6
    return ops.mean(ops.square(danger(tf.math.log, hidden) - given("labels", None, 4)))


@program("lint.divide", x=[0, 1])
def pooled_by_weights(fixed: bool) -> Any:
    """An average whose weights may all be 0."""
    x = given("x", None, 6, 3)
    weights = ops.sum(x, axis=-1, keepdims=True)
    total = ops.sum(weights, axis=1)
    return danger(tf.divide, ops.sum(x * weights, axis=1), total + 1e-3 if fixed else total)


@program("lint.divide", parameters=WEIGHTS, x=[0, 255])
def convolution_divided_by_norm(fixed: bool) -> Any:
    """Pixels of a convolution divided by their length over the channels."""
    y = layers.Conv2D(4, 3, activation="relu")(given("x", None, 8, 8, 3))
    length = ops.sqrt(ops.sum(ops.square(y), axis=-1, keepdims=True))
    return danger(tf.divide, y, ops.maximum(length, 1e-6) if fixed else length)


def write(build: Any, fixed: bool, path: Path) -> None:
    """Build a program in a graph of its own, and write that."""
    keras.backend.clear_session()
    with tf.Graph().as_default() as graph:
        build(fixed)
        path.write_bytes(graph.as_graph_def().SerializeToString())


def main() -> None:
    """Write all programs."""
    V1.disable_v2_behavior()
    folder = Path(sys.argv[1])
    for one in program.all:
        write(one.build, False, folder / f"{one.name}.pb")
        write(one.build, True, folder / f"{one.name}.fixed.pb")
    program.describe(folder, ".pb")


if __name__ == "__main__":
    main()
