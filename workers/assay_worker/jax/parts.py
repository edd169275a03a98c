"""What the rows of JAX share."""

import jax
import jax.numpy as jnp

from .. import arrays
from ..failure import Unsupported

SEED = [0]
ASKED = [None]  # who is told which values a row has to know


def known(tensor):
    """Return a tensor's elements as Python's numbers, in order."""
    if isinstance(tensor, jax.core.Tracer):
        raise Unsupported("a value that jit does not know")
    if ASKED[0] is not None:
        ASKED[0](tensor)
    return _flat(tensor.tolist())


def _flat(nested):
    if not isinstance(nested, list):
        return [nested]
    return [number for one in nested for number in _flat(one)]


def ints(tensor):
    """Return a tensor's elements as Python's whole numbers."""
    return [int(number) for number in known(tensor)]


def whole(tensor):
    """Return the only element of a tensor as a whole number."""
    return ints(tensor)[0]


def values_known(tensor):
    """Refuse under jit a row whose output's shape depends on an input's values."""
    if isinstance(tensor, jax.core.Tracer):
        raise Unsupported("a shape that depends on values, under jit")


def kind(number):
    """Return the type that a number of ONNX stands for."""
    if number not in arrays.NUMPY_TYPES:
        raise Unsupported("%s tensors" % arrays.TYPE_NAMES.get(number, number))
    return arrays.NUMPY_TYPES[number]


def is_float(x):
    """Tell whether the elements are floating-point numbers."""
    return jnp.issubdtype(x.dtype, jnp.floating)


def lowest(x):
    """Return the least number of a tensor's type."""
    if is_float(x):
        return -jnp.inf
    return False if x.dtype == bool else int(jnp.iinfo(x.dtype).min)


def highest(x):
    """Return the greatest number of a tensor's type."""
    if is_float(x):
        return jnp.inf
    return True if x.dtype == bool else int(jnp.iinfo(x.dtype).max)


def scalar(x, number):
    """Return a number in a tensor's type, not traced: reduce_window looks at it."""
    return x.dtype.type(number)


def axes_of(node, given, since):
    """Return the axes of a node, an attribute until they became an input; None if left out."""
    if node.opset < since or given is None:
        return node.get("axes")
    return ints(given)


def along(x, vector, axis):
    """Return a vector in the shape that spreads it along an axis of a tensor."""
    return jnp.reshape(vector, [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])


def key(node):
    """Return a key for random numbers: of the node's seed, or the worker's."""
    return jax.random.key(int(node.get("seed", SEED[0])))


def window(node, extents, kernel):
    """Return strides, dilations, (before, after) per axis, and what ceil_mode adds behind."""
    count = len(kernel)
    strides = node.get("strides") or [1] * count
    dilations = node.get("dilations") or [1] * count
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = _pads(node, extents, reach, strides)
    more = [0] * count
    if node.get("ceil_mode", 0):
        for i, (before, after) in enumerate(pads):
            room = extents[i] + before + after - reach[i]
            steps = -(-room // strides[i])
            if steps * strides[i] >= extents[i] + before:
                steps -= 1  # no window begins behind the end
            more[i] = max(0, steps * strides[i] - room)
    return list(strides), list(dilations), pads, more


def _pads(node, extents, reach, strides):
    auto = node.get("auto_pad", "NOTSET")
    count = len(extents)
    if auto == "VALID":
        return [(0, 0)] * count
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = []
        for extent, one, stride in zip(extents, reach, strides):
            total = max((-(-extent // stride) - 1) * stride + one - extent, 0)
            less = total // 2
            pads.append((less, total - less) if auto == "SAME_UPPER" else (total - less, less))
        return pads
    pads = node.get("pads") or [0] * (2 * count)
    return list(zip(pads[:count], pads[count:]))
