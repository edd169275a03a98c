"""JAX: shapes, and tensors that are cut, joined, padded or made of nothing."""

import jax.numpy as jnp
from jax import lax

from ..table import composed, unsupported
from .parts import axes_of, ints, kind, known, whole


@composed
def CenterCropPad(node, x, shape):
    axes = node.get("axes") or range(x.ndim)
    for axis, wanted in zip(axes, ints(shape)):
        extent = x.shape[axis]
        if wanted < extent:
            start = (extent - wanted) // 2
            x = lax.slice_in_dim(x, start, start + wanted, axis=axis)
        elif wanted > extent:
            pads = [(0, 0)] * x.ndim
            before = (wanted - extent) // 2
            pads[axis] = (before, wanted - extent - before)
            x = jnp.pad(x, pads)
    return x


def Concat(node, *inputs):
    return jnp.concatenate(inputs, node["axis"])


def ConstantOfShape(node, shape):
    value = node.get("value")
    if value is None:
        return jnp.full(ints(shape), 0, "float32")
    return jnp.full(ints(shape), value.numpy().reshape(-1)[0], kind(value.type))


@composed
def DepthToSpace(node, x):
    n, c, h, w = x.shape
    b = node["blocksize"]
    if node.get("mode", "DCR") == "DCR":
        y = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, c // (b * b), h * b, w * b)


def Expand(node, x, shape):
    return jnp.broadcast_to(x, jnp.broadcast_shapes(x.shape, tuple(ints(shape))))


def EyeLike(node, x):
    to = kind(node["dtype"]) if node.get("dtype") else x.dtype
    return jnp.eye(x.shape[0], x.shape[1], node.get("k", 0), to)


def Flatten(node, x):
    axis, rows = node.get("axis", 1), 1
    axis = axis + x.ndim if axis < 0 else axis
    for extent in x.shape[:axis]:
        rows *= extent
    return jnp.reshape(x, (rows, x.size // rows if rows else 0))


def Pad(node, x, pads=None, value=None, axes=None):
    if node.opset < 11:
        amounts = node.get("pads", node.get("paddings"))
        value = node.get("value", 0.0)
    else:
        amounts = ints(pads)
    axes = range(x.ndim) if axes is None else ints(axes)
    pairs, count = [(0, 0)] * x.ndim, len(amounts) // 2
    for i, axis in enumerate(axes):
        pairs[axis] = (amounts[i], amounts[i + count])
    mode = node.get("mode", "constant")
    if mode != "constant":
        if min(amounts) < 0:
            unsupported("negative pads other than constant")
        return jnp.pad(x, pairs, mode)
    filling = jnp.zeros((), x.dtype) if value is None else jnp.asarray(value, x.dtype).reshape(())
    if min(amounts or [0]) < 0:
        return lax.pad(x, filling, [pair + (0,) for pair in pairs])
    return jnp.pad(x, pairs, constant_values=filling)


def Range(node, start, limit, delta):
    first, end, step = known(start)[0], known(limit)[0], known(delta)[0]
    return jnp.arange(first, end, step, start.dtype)


def Reshape(node, x, shape=None):
    wanted = node["shape"] if shape is None else ints(shape)
    if not node.get("allowzero", 0):
        wanted = [x.shape[i] if extent == 0 else extent for i, extent in enumerate(wanted)]
    return jnp.reshape(x, wanted)


def Shape(node, x):
    return jnp.array(x.shape[node.get("start", 0) : node.get("end")], "int64")


def Size(node, x):
    return jnp.array(x.size, "int64")


def Slice(node, x, starts=None, ends=None, axes=None, steps=None):
    if node.opset < 10:
        starts, ends, axes = node["starts"], node["ends"], node.get("axes")
    else:
        starts, ends = ints(starts), ints(ends)
        axes = None if axes is None else ints(axes)
    steps = [1] * len(starts) if steps is None else ints(steps)
    cuts = [slice(None)] * x.ndim
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        cuts[axis] = slice(starts[i], ends[i], steps[i])
    return x[tuple(cuts)]


@composed
def SpaceToDepth(node, x):
    n, c, h, w = x.shape
    b = node["blocksize"]
    y = x.reshape(n, c, h // b, b, w // b, b)
    order = (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    return y.transpose(order).reshape(n, c * b * b, h // b, w // b)


def Split(node, x, split=None):
    axis = node.get("axis", 0)
    sizes = node.get("split") if node.opset < 13 or split is None else ints(split)
    if not sizes:
        count = node.get("num_outputs") or len(node.outputs)
        each = -(-x.shape[axis] // count)
        sizes = [each] * (count - 1)
    places = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return tuple(jnp.split(x, places[: len(node.outputs) - 1], axis))


def Squeeze(node, x, axes=None):
    axes = axes_of(node, axes, 13)
    return jnp.squeeze(x, None if axes is None else tuple(axes))


def Tile(node, x, repeats, axis=None):
    if node.opset < 6:
        counts = [1] * x.ndim
        counts[whole(axis)] = whole(repeats)
        return jnp.tile(x, counts)
    return jnp.tile(x, ints(repeats))


def Transpose(node, x):
    return jnp.transpose(x, node.get("perm"))


def Trilu(node, x, k=None):
    diagonal = 0 if k is None else whole(k)
    return jnp.triu(x, diagonal) if node.get("upper", 1) else jnp.tril(x, diagonal)


def Unsqueeze(node, x, axes=None):
    return jnp.expand_dims(x, tuple(axes_of(node, axes, 13)))


_LISTS = "jax has no sequences"
_OPTIONS = "jax has no optional values"
_TEXTS = "jax has no texts"
MISSING = {
    "ConcatFromSequence": _LISTS,
    "DeformConv": "jax has no deformable convolution",
    "HammingWindow": "the window of jax.numpy has the rounded coefficients 0.54 and 0.46",
    "ImageDecoder": "jax decodes no images",
    "MaxRoiPool": "jax has no pooling of regions",
    "MelWeightMatrix": "jax has no mel scale",
    "NonMaxSuppression": "jax has no suppression of boxes",
    "Optional": _OPTIONS,
    "OptionalGetElement": _OPTIONS,
    "OptionalHasElement": _OPTIONS,
    "RegexFullMatch": _TEXTS,
    "RoiAlign": "jax has no pooling of regions",
    "SequenceAt": _LISTS,
    "SequenceConstruct": _LISTS,
    "SequenceEmpty": _LISTS,
    "SequenceErase": _LISTS,
    "SequenceInsert": _LISTS,
    "SequenceLength": _LISTS,
    "SequenceMap": _LISTS,
    "SplitToSequence": _LISTS,
    "StringConcat": _TEXTS,
    "StringNormalizer": _TEXTS,
    "StringSplit": _TEXTS,
    "TfIdfVectorizer": "jax counts no n-grams",
}
