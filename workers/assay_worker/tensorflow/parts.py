"""What several rows of TensorFlow share."""

import tensorflow as tf

from ..table import unsupported
from . import known

_KINDS = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64",
    14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn",
    18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2",
}  # fmt: skip


def dtype(number):
    """Return the element type that ONNX calls by a number."""
    name = _KINDS.get(number, str(number))
    for place in (tf, tf.dtypes.experimental if hasattr(tf.dtypes, "experimental") else tf):
        if hasattr(place, name):
            return getattr(place, name)
    try:
        return tf.as_dtype(name)
    except TypeError:
        return unsupported("%s tensors" % name)


def ints(tensor):
    """Return an integer tensor as a Python list."""
    return [int(one) for one in known.answer(tensor)]


def floats(tensor):
    """Return a tensor of real numbers as a Python list."""
    return [float(one) for one in known.answer(tensor)]


def dims(x):
    """Return the shape as a Python list."""
    if x.shape.rank is None or None in x.shape.as_list():
        unsupported("a shape that depends on values, while tracing")
    return x.shape.as_list()


def rank(x):
    """Return the number of axes."""
    return x.shape.rank


def last(x):
    """Return N, C, ... as N, ..., C: what TensorFlow's kernels on the CPU want."""
    return tf.transpose(x, [0] + list(range(2, rank(x))) + [1])


def first(x):
    """Return N, ..., C as N, C, ...."""
    return tf.transpose(x, [0, rank(x) - 1] + list(range(1, rank(x) - 1)))


def moved_last(x, axis):
    """Return the tensor with an axis as its last, and the permutation that undoes this."""
    order = [i for i in range(rank(x)) if i != axis % rank(x)] + [axis % rank(x)]
    return tf.transpose(x, order), [order.index(i) for i in range(rank(x))]


def axes_of(node, axes, x):
    """Return the axes that a node names in an input or attribute; None for none named."""
    named = node.get("axes") if axes is None else ints(axes)
    return None if named is None else [axis % max(rank(x), 1) for axis in named]


def wrapped(indices, extent):
    """Return indices with negative ones counted from the end, as TensorFlow wants them."""
    if indices.dtype not in (tf.int32, tf.int64):
        indices = tf.cast(indices, tf.int64)
    return tf.where(indices < 0, indices + tf.cast(extent, indices.dtype), indices)


def along(vector, x, axis=1):
    """Return a vector with axes of length one, so that it lies along an axis of x."""
    shape = [1] * rank(x)
    shape[axis] = -1
    return tf.reshape(vector, shape)


def paddings(node, sizes, kernel, strides, dilations):
    """Return (before, after) of each spatial axis."""
    count, mode = len(sizes), node.get("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = node.get("pads") or [0] * (2 * count)
        return list(zip(pads[:count], pads[count:]))
    found = []
    for size, extent, stride, dilation in zip(sizes, kernel, strides, dilations):
        total = max((-(-size // stride) - 1) * stride + (extent - 1) * dilation + 1 - size, 0)
        total = 0 if mode == "VALID" else total
        less, more = total // 2, total - total // 2
        found.append((more, less) if mode == "SAME_LOWER" else (less, more))
    return found


def is_same(pads, sizes, kernel, strides, dilations):
    """Tell whether paddings are the ones that TensorFlow calls SAME."""
    for pad, size, extent, stride, dilation in zip(pads, sizes, kernel, strides, dilations):
        total = max((-(-size // stride) - 1) * stride + (extent - 1) * dilation + 1 - size, 0)
        if tuple(pad) != (total // 2, total - total // 2):
            return False
    return True


def padded(x, pads, value=0):
    """Pad the spatial axes of N, ..., C; a negative padding cuts away."""
    if all(pad == (0, 0) for pad in pads):
        return x
    cut = [slice(max(-b, 0), -max(-e, 0) or None) for b, e in pads]
    x = x[tuple([slice(None)] + cut + [slice(None)])]
    wide = [(max(b, 0), max(e, 0)) for b, e in pads]
    return tf.pad(x, [(0, 0)] + wide + [(0, 0)], constant_values=tf.cast(value, x.dtype))


def lowest(kind):
    """Return the least value of a type: what a maximum does not see."""
    return float("-inf") if kind.is_floating else kind.min


def opened(x, axis=2):
    """Return the tensor with an axis of length one, for kernels that want one more."""
    return tf.expand_dims(x, axis)
