"""Programs with a numerical bug, and their fixed twins, as TensorFlow 1 builds them.

usage: tensorflow_programs.py FOLDER

Runs in the environment of the backend tensorflow.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from programs import Programs

V1 = tf.compat.v1
program = Programs()
WEIGHTS = {"*": [-1.0, 1.0]}


def given(name: str, *shape: int | None, dtype: Any = tf.float32) -> Any:
    """Return an input of the program."""
    return V1.placeholder(dtype, shape, name=name)


def dense(x: Any, units: int, name: str = "dense") -> Any:
    """Return a dense layer's output."""
    weights = V1.get_variable(f"{name}/weights", [x.shape[-1], units])
    return tf.matmul(x, weights) + V1.get_variable(f"{name}/bias", [units])


@program("lint.softmax", parameters=WEIGHTS, x=[0, 255], labels=[0, 1])
def softmax_by_hand(fixed: bool) -> Any:
    """Cross-entropy of a softmax that is written out."""
    logits = dense(given("x", None, 16), 4)
    if fixed:
        logs = tf.nn.log_softmax(logits)
    else:
        powers = tf.exp(logits, name="danger")
        logs = tf.math.log(powers / tf.reduce_sum(powers, 1, keepdims=True))
    return -tf.reduce_mean(tf.reduce_sum(given("labels", None, 4) * logs, 1))


@program("lint.softmax", parameters=WEIGHTS, x=[0, 255], labels=[0, 1])
def log_of_softmax(fixed: bool) -> Any:
    """Logarithm of probabilities that may be 0, trained with Adam."""
    probabilities = tf.nn.softmax(dense(given("x", None, 16), 4))
    if fixed:
        probabilities = tf.clip_by_value(probabilities, 1e-7, 1.0)
    logs = tf.math.log(probabilities, name="danger")
    loss = -tf.reduce_mean(tf.reduce_sum(given("labels", None, 4) * logs, 1))
    return V1.train.GradientDescentOptimizer(0.1).minimize(loss)


@program("lint.divide", x=[-5, 5])
def distance_to_mean(fixed: bool) -> Any:
    """One over the distance to the mean, which an element may be equal to."""
    x = given("x", 8)
    away = x - tf.reduce_mean(x)
    if fixed:
        return away / (away * away + 1e-3)
    return tf.divide(1.0, away, name="danger")


@program("lint.variance", x=[-100, 100])
def deviation_by_squares(fixed: bool) -> Any:
    """Standard deviation as the mean of squares minus the square of the mean."""
    x = given("x", 32)
    variance = tf.reduce_mean(x * x) - tf.square(tf.reduce_mean(x))
    if fixed:
        variance = tf.maximum(variance, 0.0)
    return tf.sqrt(variance, name="danger")


@program("lint.log", p=[0, 1])
def clipped_to_zero(fixed: bool) -> Any:
    """Probabilities are clipped, but to 0."""
    return tf.math.log(tf.clip_by_value(given("p", 10), 1e-6 if fixed else 0.0, 1.0), name="danger")


@program("lint.log", p=[0, 1])
def clipped_below_the_format(fixed: bool) -> Any:
    """Probabilities are clipped to what is 0 in single precision."""
    return tf.math.log(tf.maximum(given("p", 10), 1e-30 if fixed else 1e-50), name="danger")


@program("lint.softmax", logit=[-50, 50])
def epsilon_that_vanishes(fixed: bool) -> Any:
    """1 + 1e-10 is 1 in single precision."""
    p = tf.sigmoid(given("logit", 10))
    tiny = tf.constant(1e-10)
    inner = (1.0 - p) + tiny if fixed else (tiny + tf.constant(1.0)) - p
    return tf.math.log(inner, name="danger")


@program("lint.exp", parameters=WEIGHTS, x=[-100, 100])
def unbounded_exponential(fixed: bool) -> Any:
    """Rates of a Poisson regression."""
    logits = dense(given("x", None, 8), 1)
    return tf.exp(tf.minimum(logits, 80.0) if fixed else logits, name="danger")


@program("lint.divide", scores=[-3, 3])
def batch_of_nothing(fixed: bool) -> Any:
    """Weights are divided by their sum, and all may be 0."""
    weights = tf.nn.relu(given("scores", 16))
    total = tf.reduce_sum(weights)
    return tf.divide(weights, total + 1e-6 if fixed else total, name="danger")


@program("lint.exp", parameters=WEIGHTS, x=[0, 255], noise=[-4, 4])
def variational_autoencoder(fixed: bool) -> Any:
    """The exponential of a learned logarithm of a variance."""
    x = given("x", None, 16)
    mean, log_variance = dense(x, 2, "mean"), dense(x, 2, "variance")
    if fixed:
        log_variance = tf.clip_by_value(log_variance, -20.0, 20.0)
    variance = tf.exp(log_variance, name="danger")
    sample = mean + given("noise", None, 2) * tf.exp(0.5 * log_variance)
    divergence = -0.5 * tf.reduce_sum(1.0 + log_variance - tf.square(mean) - variance, 1)
    return tf.reduce_mean(divergence) + tf.reduce_mean(tf.square(dense(sample, 16, "out") - x))


@program("lint.softmax", parameters=WEIGHTS, real=[-1, 1], noise=[-50, 50])
def adversarial_loss(fixed: bool) -> Any:
    """Loss of a discriminator that may be entirely sure."""
    with V1.variable_scope("discriminator", reuse=V1.AUTO_REUSE):
        on_real = dense(given("real", None, 8), 1)
        on_false = dense(given("noise", None, 8), 1)
    if fixed:
        losses = tf.nn.softplus(-on_real) + tf.nn.softplus(on_false)
    else:
        sure = tf.sigmoid(on_false)
        losses = -tf.math.log(tf.sigmoid(on_real)) - tf.math.log(1.0 - sure, name="danger")
    return tf.reduce_mean(losses)


@program("lint.divide", scores=[-10, 10], mask=[0, 1])
def attention_over_nothing(fixed: bool) -> Any:
    """Attention whose mask may leave no key of a row, normalised by hand."""
    weights = tf.exp(given("scores", 4, 8)) * given("mask", 4, 8)
    total = tf.reduce_sum(weights, 1, keepdims=True)
    return tf.divide(weights, total + 1e-9 if fixed else total, name="danger")


@program("lint.overflow", x=[0, 8])
def half_precision_sum(fixed: bool) -> Any:
    """A sum of squares that half precision does not hold."""
    x = given("x", 4096, dtype=tf.float16)
    squares = x * x
    return tf.reduce_sum(tf.cast(squares, tf.float32) if fixed else squares, name="danger")


@program("lint.divide", parameters={"temperature": [0, 10]}, logits=[-20, 20])
def temperature(fixed: bool) -> Any:
    """A learned temperature may become 0."""
    heat = V1.get_variable("temperature", [1])
    cooled = tf.maximum(heat, 0.05) if fixed else heat
    return tf.nn.softmax(tf.divide(given("logits", None, 10), cooled, name="danger"))


@program("lint.divide", x=[-1, 1])
def unit_length(fixed: bool) -> Any:
    """A vector is divided by its length."""
    x = given("x", None, 8)
    if fixed:
        return tf.nn.l2_normalize(x, 1)
    return tf.divide(x, tf.sqrt(tf.reduce_sum(x * x, 1, keepdims=True)), name="danger")


@program("lint.divide", x=[-1, 1])
def normalised_batch(fixed: bool) -> Any:
    """Batch normalisation without its epsilon."""
    x = given("x", 16, 4)
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) * tf.math.rsqrt(variance + 1e-3 if fixed else variance, name="danger")


@program("lint.acos", x=[-1, 1], y=[-1, 1])
def angle_between(fixed: bool) -> Any:
    """The cosine of an angle is a little above 1 by rounding."""
    x, y = given("x", 8), given("y", 8)
    lengths = tf.sqrt(tf.reduce_sum(x * x) + 1e-6) * tf.sqrt(tf.reduce_sum(y * y) + 1e-6)
    cosine = tf.reduce_sum(x * y) / lengths
    if fixed:
        cosine = tf.clip_by_value(cosine, -1.0, 1.0)
    return tf.acos(cosine, name="danger")


@program("lint.atanh", action=[-1, 1])
def squashed_action(fixed: bool) -> Any:
    """The inverse of tanh at its very ends, in a policy's likelihood."""
    action = given("action", 6)
    return tf.atanh(tf.clip_by_value(action, -0.999, 0.999) if fixed else action, name="danger")


@program("lint.pow", x=[-2, 2])
def broken_power(fixed: bool) -> Any:
    """The root of a number of any sign, as a power."""
    x = given("x", 6)
    return tf.pow(tf.abs(x) + 1e-3 if fixed else x, 0.5, name="danger")


@program("lint.integers", total=[0, 1000], parts=[0, 16])
def integer_share(fixed: bool) -> Any:
    """A whole number is divided by a count that may be 0."""
    total, parts = given("total", 4, dtype=tf.int32), given("parts", 4, dtype=tf.int32)
    return tf.math.floordiv(total, tf.maximum(parts, 1) if fixed else parts, name="danger")


@program("lint.index", signal=[-1, 1], first=[0, 96])
def window_of_a_signal(fixed: bool) -> Any:
    """A window of ten elements that begins where data say, too near to the end."""
    signal, first = given("signal", 100), given("first", dtype=tf.int32)
    begin = tf.stack([tf.minimum(first, 90) if fixed else first])
    return tf.slice(signal, begin, [10], name="danger")


@program("lint.divide", rate=[0.5, 1])
def halved_in_a_loop(fixed: bool) -> Any:
    """A step that a loop halves until nothing is left, and one over it."""
    rate = given("rate")

    def smaller(i: Any, step: Any) -> Any:
        return i + 1, tf.maximum(step * 0.5, 1e-6) if fixed else step * 0.5

    _, step = V1.while_loop(lambda i, step: i < 1000, smaller, [0, rate])
    return tf.divide(1.0, step, name="danger")


@program("lint.softmax", parameters=WEIGHTS, x=[-100, 100])
def logarithm_of_the_rest(fixed: bool) -> Any:
    """log(1 - p) of a probability that may be 1."""
    p = tf.sigmoid(dense(given("x", None, 8), 1))
    return tf.math.log1p(-(tf.minimum(p, 1.0 - 1e-6) if fixed else p), name="danger")


@program("lint.divide", "gradients/distance_grad/SqrtGrad", x=[-1, 1], y=[-1, 1])
def gradient_of_a_distance(fixed: bool) -> Any:
    """The gradient of a distance at 0."""
    x, y = given("x", 8), given("y", 8)
    squares = tf.reduce_sum(tf.math.squared_difference(x, y))
    return tf.gradients(tf.sqrt(squares + 1e-6 if fixed else squares, name="distance"), x)


@program("lint.divide", prediction=[0, 1], truth=[0, 1])
def dice(fixed: bool) -> Any:
    """Overlap of two masks that may both be empty."""
    prediction, truth = given("prediction", 64), given("truth", 64)
    both = 2.0 * tf.reduce_sum(prediction * truth)
    either = tf.reduce_sum(prediction) + tf.reduce_sum(truth)
    if fixed:
        return 1.0 - (both + 1.0) / (either + 1.0)
    return 1.0 - tf.divide(both, either, name="danger")


def write(build: Any, fixed: bool, path: Path) -> None:
    """Build a program in a graph of its own, and write that."""
    with tf.Graph().as_default() as graph:
        np.random.seed(0)
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
