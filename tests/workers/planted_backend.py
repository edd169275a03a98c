"""A framework that is right but for one defect, which the variable PLANTED names."""

import os

import numpy
from assay_worker.arrays import from_numpy
from assay_worker.framework import TableFramework

PLANTED = os.environ.get("PLANTED", "")


class Planted(TableFramework):
    """Rows over numpy's arrays."""

    name = "planted"
    rows_modules = ("planted_backend",)

    def import_root(self, threads, seed):
        """Return numpy."""
        return numpy

    def put(self, array):
        """Return an Array as numpy's."""
        return array.numpy()

    def take(self, value):
        """Return numpy's array as an Array."""
        return from_numpy(numpy.asarray(value, numpy.float32))


def Add(node, a, b):
    if PLANTED == "dropped-bias" and b.ndim == 1:
        return a
    return a + b


def BatchNormalization(node, x, scale, bias, mean, variance):
    epsilon = numpy.float32(node.get("epsilon", 1e-5))
    root = numpy.sqrt(variance + epsilon)
    if PLANTED == "epsilon-outside-the-root":
        root = numpy.sqrt(variance) + epsilon
    return (x - mean) / root * scale + bias


def MatMul(node, a, b):
    if PLANTED == "half-products":
        return (a.astype(numpy.float16) @ b.astype(numpy.float16)).astype(numpy.float32)
    return a @ (b.T.copy() if PLANTED == "transposed-weights" else b)


def Relu(node, x):
    if PLANTED == "crash" or (PLANTED == "crash-of-large" and x.max() > 1e4):
        os.abort()
    return numpy.maximum(x, 0.1 if PLANTED == "leaking-threshold" else 0)


def Softmax(node, x):
    top = x.max(axis=-1, keepdims=True)
    axis = 0 if PLANTED == "wrong-axis" else -1
    powers = numpy.exp(x - top)
    return powers / powers.sum(axis=axis, keepdims=True)


FRAMEWORK = Planted
