"""TensorFlow: shape, order and parts of tensors."""

import tensorflow as tf

from ..table import composed, unsupported
from .parts import axes_of, dims, dtype, ints, rank

_FAR = 2**31 - 1


@composed
def CenterCropPad(node, x, shape):
    sizes, have = ints(shape), dims(x)
    axes = [axis % rank(x) for axis in node.get("axes", list(range(rank(x))))]
    cut, pads = [slice(None)] * rank(x), [(0, 0)] * rank(x)
    for axis, size in zip(axes, sizes):
        less = abs(size - have[axis]) // 2
        if size < have[axis]:
            cut[axis] = slice(less, less + size)
        else:
            pads[axis] = (less, size - have[axis] - less)
    return tf.pad(x[tuple(cut)], pads)


def Concat(node, *inputs):
    return tf.concat(inputs, node.get("axis", 1))


def ConstantOfShape(node, shape):
    value = node.get("value")
    if value is None:
        return tf.zeros(ints(shape), tf.float32)
    return tf.fill(ints(shape), tf.constant(value.numpy().reshape(-1)[0], dtype(value.type)))


def DepthToSpace(node, x):
    size = node["blocksize"]
    if node.get("mode", "DCR") == "CRD":  # TensorFlow orders the channels the other way
        count, channels, high, wide = dims(x)
        x = tf.reshape(x, [count, channels // size**2, size**2, high, wide])
        x = tf.reshape(tf.transpose(x, [0, 2, 1, 3, 4]), [count, channels, high, wide])
    y = tf.nn.depth_to_space(tf.transpose(x, [0, 2, 3, 1]), size)
    return tf.transpose(y, [0, 3, 1, 2])


def Expand(node, x, shape):
    wanted = tf.broadcast_static_shape(x.shape, tf.TensorShape(ints(shape)))
    return tf.broadcast_to(x, wanted)


def EyeLike(node, x):
    kind = dtype(node["dtype"]) if node.get("dtype") else x.dtype
    rows, columns = dims(x)
    offset = node.get("k", 0)
    if offset == 0:
        return tf.eye(rows, columns, dtype=kind)
    length = min(rows + min(offset, 0), columns - max(offset, 0))
    if length <= 0:
        return tf.zeros([rows, columns], kind)
    ones = tf.ones([length], kind)
    return tf.linalg.diag(ones, k=offset, num_rows=rows, num_cols=columns)


def Flatten(node, x):
    axis, rows = node.get("axis", 1), 1
    axis = axis + rank(x) if axis < 0 else axis
    columns = 1
    for place, extent in enumerate(dims(x)):
        rows, columns = (rows * extent, columns) if place < axis else (rows, columns * extent)
    return tf.reshape(x, [rows, columns])


@composed
def NonZero(node, x):
    return tf.transpose(tf.where(x))


def Pad(node, x, pads=None, value=None, axes=None):
    mode = node.get("mode", "constant").upper()
    if node.opset < 11:
        wide, fill = node.get("pads", node.get("paddings")), node.get("value", 0.0)
    else:
        wide, fill = ints(pads), 0 if value is None else value
    chosen = list(range(rank(x))) if axes is None else [a % rank(x) for a in ints(axes)]
    both, count = [(0, 0)] * rank(x), len(chosen)
    for place, axis in enumerate(chosen):
        both[axis] = (wide[place], wide[place + count])
    if any(b < 0 or e < 0 for b, e in both):
        x = x[tuple(slice(max(-b, 0), -max(-e, 0) or None) for b, e in both)]
        both = [(max(b, 0), max(e, 0)) for b, e in both]
    if mode == "CONSTANT":
        return tf.pad(x, both, constant_values=tf.reshape(tf.cast(fill, x.dtype), []))
    if mode != "REFLECT":
        unsupported("padding by %s" % mode.lower())
    if any(max(pair) >= extent for pair, extent in zip(both, dims(x)) if pair != (0, 0)):
        unsupported("a reflection longer than its axis")
    return tf.pad(x, both, "REFLECT")


def Range(node, start, limit, delta):
    try:
        return tf.range(*[tf.reshape(one, []) for one in (start, limit, delta)])
    except AssertionError:  # what old releases say of the narrow types
        return unsupported("a range of %s" % start.dtype.name)


def Reshape(node, x, shape=None):
    wanted = node.get("shape") if node.opset < 5 else ints(shape)
    if not node.get("allowzero", 0):
        have = dims(x) if 0 in wanted else []
        wanted = [have[i] if extent == 0 else extent for i, extent in enumerate(wanted)]
    return tf.reshape(x, wanted)


def ReverseSequence(node, x, lengths):
    time, batch = node.get("time_axis", 0), node.get("batch_axis", 1)
    return tf.reverse_sequence(x, lengths, seq_axis=time, batch_axis=batch)


def Shape(node, x):
    return tf.shape(x, tf.int64)[slice(node.get("start", 0), node.get("end"))]


def Size(node, x):
    return tf.size(x, tf.int64)


def Slice(node, x, starts=None, ends=None, axes=None, steps=None):
    if node.opset < 10:
        begins, limits = node["starts"], node["ends"]
        chosen = node.get("axes") or list(range(len(begins)))
    else:
        begins, limits = ints(starts), ints(ends)
        chosen = list(range(len(begins))) if axes is None else ints(axes)
    strides = [1] * len(begins) if steps is None else ints(steps)
    parts = [slice(None)] * rank(x)
    for axis, begin, limit, stride in zip(chosen, begins, limits, strides):
        parts[axis] = slice(*[max(-_FAR, min(_FAR, n)) for n in (begin, limit, stride)])
    return x[tuple(parts)]


def SpaceToDepth(node, x):
    size, mode = node["blocksize"], node.get("mode", "DCR")
    y = tf.transpose(tf.nn.space_to_depth(tf.transpose(x, [0, 2, 3, 1]), size), [0, 3, 1, 2])
    if mode == "CRD":  # TensorFlow orders the channels the other way
        count, channels, high, wide = dims(y)
        y = tf.reshape(y, [count, size**2, channels // size**2, high, wide])
        y = tf.reshape(tf.transpose(y, [0, 2, 1, 3, 4]), [count, channels, high, wide])
    return y


def Split(node, x, parts=None):
    axis = node.get("axis", 0)
    sizes = node.get("split") if parts is None else ints(parts)
    count, extent = node.get("num_outputs", len(node.outputs)), dims(x)[axis]
    if not sizes and extent % count:
        each = -(-extent // count)
        sizes = [each] * (count - 1) + [extent - each * (count - 1)]
    return tuple(tf.split(x, sizes or count, axis))


def Squeeze(node, x, axes=None):
    return tf.squeeze(x, axes_of(node, axes, x))


def Tile(node, x, repeats, axis=None):
    if node.opset < 6:
        unsupported("Tile before opset 6")
    return tf.tile(x, ints(repeats))


def Transpose(node, x):
    return tf.transpose(x, node.get("perm"))


def Trilu(node, x, k=None):
    rows, columns = dims(x)[-2:]
    offset = 0 if k is None else max(-rows, min(columns, ints(k)[0]))
    if node.get("upper", 1):
        if offset <= 0:
            return tf.linalg.band_part(x, -offset, -1)
        return tf.experimental.numpy.triu(x, offset)
    if offset >= 0:
        return tf.linalg.band_part(x, -1, offset)
    return tf.experimental.numpy.tril(x, offset)


def Unsqueeze(node, x, axes=None):
    places = node.get("axes") if axes is None else ints(axes)
    places = sorted(axis % (rank(x) + len(places)) for axis in places)
    for axis in places:
        x = tf.expand_dims(x, axis)
    return x
