"""PyTorch: eager, or compiled as a whole with torch.compile."""

import numpy as np

from ..arrays import TYPE_NAMES, Array, from_numpy
from ..failure import Unsupported
from ..framework import TableFramework, limit_threads

# Types that numpy lacks, by their name in torch; their bytes pass as integers of the same width.
_MORE = {
    16: ("bfloat16", np.int16),
    17: ("float8_e4m3fn", np.uint8),
    18: ("float8_e4m3fnuz", np.uint8),
    19: ("float8_e5m2", np.uint8),
    20: ("float8_e5m2fnuz", np.uint8),
    24: ("float8_e8m0fnu", np.uint8),
}


class Torch(TableFramework):
    """Rows over torch.Tensor."""

    name = "torch"
    modes = ("", "compile")
    rows_modules = ("rows_math",)

    def import_root(self, threads, seed):
        """Import torch."""
        limit_threads(threads)
        import torch

        if threads > 0:
            torch.set_num_threads(threads)
        torch.manual_seed(seed)
        torch.set_grad_enabled(False)
        return torch

    def put(self, array):
        """Copy: the bytes are the engine's, and torch wants to write."""
        if array.type in _MORE:
            name, bits = _MORE[array.type]
            kind = getattr(self.root, name, None)
            if kind is not None:
                raw = np.frombuffer(array.data, bits).reshape(array.shape).copy()
                return self.root.from_numpy(raw).view(kind)
        elements = array.numpy()
        try:
            return self.root.from_numpy(np.array(elements))
        except TypeError:
            raise Unsupported("%s tensors" % TYPE_NAMES[array.type])

    def take(self, value):
        """Return a tensor's elements, dense and on the host."""
        value = value.detach().contiguous()
        for number, (name, bits) in _MORE.items():
            if value.dtype is getattr(self.root, name, None):
                same_width = self.root.int16 if bits is np.int16 else self.root.uint8
                raw = from_numpy(value.view(same_width).numpy())
                return Array(number, raw.shape, raw.data)
        return from_numpy(value.numpy())

    def signature(self, value):
        """Return what a compiled function depends on."""
        return str(value.dtype), tuple(value.shape)

    def compiled(self, function, _):
        """Compile the whole model at once."""
        return self.root.compile(function)

    def truth(self, value):
        """Return a tensor of one boolean as Python's."""
        return bool(value)

    count = staticmethod(int)

    def whole(self, number, kind):
        """Return a Python number as a tensor."""
        return self.root.tensor(number, dtype=self.root.bool if kind is bool else self.root.int64)

    def stack(self, values, axis):
        """Return tensors of one shape along a new axis."""
        return self.root.stack(values, axis)

    def extent(self, value, axis):
        """Return how long an axis is."""
        return value.shape[axis]

    def pick(self, value, axis, index):
        """Return one slice of an axis."""
        return value.select(axis, index)


FRAMEWORK = Torch
