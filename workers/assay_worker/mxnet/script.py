"""How scripts of MXNet's own calls are written."""

from ..failure import Unsupported
from ..script import Tracing, modules_below
from .parts import TYPES


class MXNetTracing(Tracing):
    """mxnet, as mx, and the modules below it."""

    imports = ("import mxnet as mx", "mx.util.set_np_shape(True)")

    def __init__(self, mxnet):
        """Take the release's module."""
        below = (
            "nd", "nd.contrib", "nd.linalg", "nd.image", "nd.random", "nd.sparse", "np",
            "np.linalg", "npx", "np.random",
        )  # fmt: skip
        self.modules = modules_below(mxnet, "mx", below)[1:]
        self.tensors = (mxnet.nd.NDArray, mxnet.np.ndarray)

    def put(self, kind):
        """Say the type: else it is float32."""
        if kind not in TYPES:
            raise Unsupported("scripts with such types")
        return 'mx.nd.array({}, dtype="%s")' % TYPES[kind]

    def take(self, value, source):
        """Wait for the elements."""
        return "%s.asnumpy()" % source
