"""MXNet: what its rows share."""

import mxnet as mx

from ..arrays import TYPE_NAMES
from ..table import unsupported

TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
}
FLOATS = ("float16", "float32", "float64")


def kind(x):
    """Return the name of an array's element type."""
    return getattr(x.dtype, "__name__", str(x.dtype)).rstrip("_")


def type_name(number):
    """Return mxnet's name of a type of ONNX."""
    return TYPES[number] if number in TYPES else unsupported("%s tensors" % TYPE_NAMES[number])


def floats_only(x):
    """Refuse what is for floating point alone."""
    if kind(x) not in FLOATS:
        unsupported("%s elements" % kind(x))


def cast(x, name):
    """Return an array with another element type."""
    return x if kind(x) == name else mx.nd.cast(x, dtype=name)


def typed(function, *arrays):
    """Call a function that knows no booleans: they pass as bytes."""
    if all(kind(x) != "bool" for x in arrays):
        return function(*arrays)
    results = function(*[cast(x, "uint8") if kind(x) == "bool" else x for x in arrays])
    if isinstance(results, (list, tuple)):
        return tuple(cast(x, "bool") for x in results)
    return cast(results, "bool")


def to_np(x):
    """Return an array for functions of mxnet.np: the elements stay where they are."""
    return x.as_np_ndarray()


def from_np(x):
    """Return what a function of mxnet.np gives as the other functions want it."""
    if isinstance(x, (list, tuple)):
        return tuple(from_np(one) for one in x)
    return x.as_nd_ndarray()


def np_call(path):
    """Return a row that calls a function of mxnet.np with the inputs, and nothing else."""

    def row(node, *inputs):
        return from_np(row.function(*[to_np(x) for x in inputs]))

    row.path = path
    return row


def float_call(path):
    """Return a row that calls a function for floating point with the inputs."""

    def row(node, *inputs):
        for x in inputs:
            floats_only(x)
        return row.function(*inputs)

    row.path = path
    return row


def numbers(x):
    """Return an array's elements as a flat Python list."""
    return x.asnumpy().reshape(-1).tolist()


def ints(x):
    """Return an integer array's elements as a flat Python list."""
    return [int(n) for n in numbers(x)]


def number(x):
    """Return the one element of an array as Python's."""
    return numbers(x)[0]


def axes_of(node, given, opset):
    """Return the axes that an attribute tells before an opset and an input from it on."""
    if node.opset < opset:
        return node.get("axes")
    return None if given is None else ints(given)


def common_shape(*shapes):
    """Return the shape to which shapes broadcast."""
    rank = max(len(s) for s in shapes)
    full = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(0 if 0 in column else max(column) for column in zip(*full))


def expand(x, shape):
    """Return an array broadcast to a shape."""
    return from_np(mx.np.broadcast_to(to_np(x), tuple(shape)))


def padded(x, begin, end, value=0.0):
    """Return an array of rank 3 to 5 with its spatial axes padded."""
    if not any(begin) and not any(end):
        return x
    if min(list(begin) + list(end)) < 0:
        unsupported("negative pads")
    shape = x.shape
    if len(shape) == 3:
        x, begin, end = mx.nd.expand_dims(x, axis=2), [0] + list(begin), [0] + list(end)
    if len(x.shape) > 5:
        unsupported("padding of rank %d" % len(shape))
    width = [0, 0, 0, 0] + [n for pair in zip(begin, end) for n in pair]
    x = mx.nd.pad(x, mode="constant", pad_width=tuple(width), constant_value=value)
    return mx.nd.squeeze(x, axis=2) if len(shape) == 3 else x


def window_pads(node, extents, kernel, strides, dilations):
    """Return the pads before and after each spatial axis that a node's attributes mean."""
    rank, auto = len(kernel), node.get("auto_pad", "NOTSET")
    if auto == "VALID":
        return [0] * rank, [0] * rank
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        pads = node.get("pads", [0] * (2 * rank))
        return list(pads[:rank]), list(pads[rank:])
    begin, end = [], []
    for extent, size, stride, dilation in zip(extents, kernel, strides, dilations):
        need = max((-(-extent // stride) - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
        small, large = need // 2, need - need // 2
        begin.append(small if auto == "SAME_UPPER" else large)
        end.append(large if auto == "SAME_UPPER" else small)
    return begin, end
