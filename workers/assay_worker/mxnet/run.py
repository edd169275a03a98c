"""Apache MXNet: imperative arrays on the CPU."""

import os

import numpy as np

from ..arrays import STRING, TYPE_NAMES, from_numpy
from ..failure import Unsupported
from ..framework import TableFramework, limit_threads

# What mxnet says of types and options for which it has no code.
_REFUSALS = (
    "not implemented",
    "not supported",
    "only support",
    "does not support",
    "is supported",
    "Unknown type",
)


class MXNet(TableFramework):
    """Rows over mxnet.nd.NDArray; mxnet.np takes the same arrays under another class."""

    name = "mxnet"
    rows_modules = ("rows_math", "rows_reduce", "rows_shape", "rows_neural", "rows_vision")

    def import_root(self, threads, seed):
        """Import mxnet, with an engine that runs each call at once: errors belong to their node."""
        limit_threads(threads)
        os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
        # Releases of mxnet use names that numpy has dropped since.
        for name, kind in (("bool", bool), ("int", int), ("float", float), ("object", object)):
            if name not in vars(np):
                setattr(np, name, kind)
        import mxnet

        mxnet.random.seed(seed)
        mxnet.util.set_np_shape(True)  # ranks and extents of zero
        return mxnet

    def row(self, node):
        """Return a row of the table; mxnet's own refusals are no failures."""
        row = TableFramework.row(self, node)

        def guarded(node, *inputs):
            if any(isinstance(one, list) for one in inputs):
                raise Unsupported("sequences")
            try:
                return row(node, *inputs)
            except self.root.base.MXNetError as failure:
                text = str(failure)
                if any(one.lower() in text.lower() for one in _REFUSALS):
                    raise Unsupported(_sentence(text))
                raise

        return guarded

    def put(self, array):
        """Copy into mxnet."""
        if array.type == STRING:
            raise Unsupported("string tensors")
        elements = array.numpy()
        try:
            return self.root.nd.array(elements, dtype=elements.dtype)
        except (KeyError, TypeError):
            raise Unsupported("%s tensors" % TYPE_NAMES[array.type])

    def take(self, value):
        """Return an array's elements; this waits for what is not computed yet."""
        return from_numpy(value.asnumpy())

    def tracing(self):
        """Write MXNet's functions and the methods of its arrays."""
        from .script import MXNetTracing

        return MXNetTracing(self.root)

    def truth(self, value):
        """Return an array of one boolean as Python's."""
        return bool(value.asnumpy().reshape(-1)[0])

    def count(self, value):
        """Return an array of one number as Python's."""
        return int(value.asnumpy().reshape(-1)[0])

    def whole(self, number, kind):
        """Return a Python number as an array."""
        return self.root.nd.array(np.array(number, kind), dtype="bool" if kind is bool else "int64")

    def stack(self, values, axis):
        """Return arrays of one shape along a new axis."""
        from .parts import typed

        return typed(lambda *arrays: self.root.nd.stack(*arrays, axis=axis), *values)

    def extent(self, value, axis):
        """Return how long an axis is."""
        return value.shape[axis]

    def pick(self, value, axis, index):
        """Return one slice of an axis."""
        axis %= len(value.shape)
        return value[tuple([slice(None)] * axis + [index])]


def _sentence(text):
    """Return the part of an error that says why."""
    lines = [one for one in text.splitlines() if any(w.lower() in one.lower() for w in _REFUSALS)]
    return " ".join(lines[0].split())[:300]


FRAMEWORK = MXNet
