"""A framework of one's own for Assay: numpy, in five operators."""

import numpy
from assay_worker.arrays import from_numpy
from assay_worker.framework import TableFramework


class Plain(TableFramework):
    """Rows over numpy's arrays; they stand in this very module."""

    name = "plain"
    rows_modules = ("plain_backend",)

    def import_root(self, threads, seed):
        """Return the module whose functions `call` finds."""
        return numpy

    def put(self, array):
        """Return an Array as numpy's."""
        return array.numpy()

    def take(self, value):
        """Return numpy's array as an Array."""
        return from_numpy(value)


def Add(node, a, b):
    return numpy.add(a, b)


def MatMul(node, a, b):
    return numpy.matmul(a, b)


def Mul(node, a, b):
    return numpy.multiply(a, b)


def Relu(node, x):
    return numpy.maximum(x, 0).astype(x.dtype)


def Softmax(node, x):
    axis = node.get("axis", -1)
    shifted = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


FRAMEWORK = Plain
