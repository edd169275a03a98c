"""MXNet: shapes, slices, gathering and scattering."""

import mxnet as mx

from ..table import composed, unsupported
from .parts import (
    axes_of,
    cast,
    common_shape,
    expand,
    from_np,
    ints,
    kind,
    number,
    numbers,
    to_np,
    type_name,
    typed,
)


def Compress(node, x, condition):
    axis = node.get("axis")
    if axis is None:
        x, axis = mx.nd.reshape(x, shape=(-1,)), 0
    axis %= len(x.shape)
    condition = cast(condition, "float32")
    if condition.shape[0] < x.shape[axis]:
        x = mx.nd.slice_axis(x, axis=axis, begin=0, end=condition.shape[0])
    return typed(lambda a: mx.nd.contrib.boolean_mask(a, condition, axis=axis), x)


def Concat(node, *inputs):
    axis = node["axis"]
    return typed(lambda *arrays: mx.nd.concat(*arrays, dim=axis), *inputs)


def ConstantOfShape(node, shape):
    value = node.get("value")
    fill, name = 0, "float32"
    if value is not None:
        fill, name = value.numpy().reshape(-1).tolist()[0], type_name(value.type)
    return mx.nd.full(tuple(ints(shape)), fill, dtype=name)


def DepthToSpace(node, x):
    if node.get("mode", "DCR") != "DCR":
        unsupported("mode %s" % node["mode"])
    return mx.nd.depth_to_space(x, node["blocksize"])


def Expand(node, x, shape):
    return expand(x, common_shape(x.shape, tuple(ints(shape))))


def EyeLike(node, x):
    name = type_name(node["dtype"]) if node.get("dtype") else kind(x)
    return mx.nd.eye(x.shape[0], x.shape[1], node.get("k", 0), dtype=name)


def Flatten(node, x):
    axis = node.get("axis", 1)
    if axis == 1 and len(x.shape) > 1:
        return mx.nd.flatten(x)
    axis = axis + len(x.shape) if axis < 0 else axis
    first = last = 1
    for extent in x.shape[:axis]:
        first *= extent
    for extent in x.shape[axis:]:
        last *= extent
    return x.reshape((first, last))


def Gather(node, x, indices):
    # mxnet takes negative places only when it wraps them; else its default is to clip.
    mode = "wrap" if any(n < 0 for n in ints(indices)) else "clip"
    axis = node.get("axis", 0)
    return typed(lambda a: mx.nd.take(a, indices, axis=axis, mode=mode), x)


def GatherND(node, x, indices):
    if node.get("batch_dims", 0):
        unsupported("batch_dims")
    places = mx.nd.moveaxis(indices, len(indices.shape) - 1, 0)
    return typed(lambda a: mx.nd.gather_nd(a, places), x)


def NonZero(node, x):
    places = from_np(mx.npx.nonzero(to_np(x if kind(x) != "bool" else cast(x, "int32"))))
    return mx.nd.transpose(places)


def OneHot(node, indices, depth, values):
    off, on = numbers(values)
    name = "uint8" if kind(values) == "bool" else kind(values)
    depth = int(number(depth))
    # Below zero ONNX counts from the end; mxnet has nothing there.
    indices = mx.nd.where(indices < 0, indices + depth, indices)
    hot = mx.nd.one_hot(indices, depth, on, off, dtype=name)
    rank = len(hot.shape)
    axis = node.get("axis", -1) % rank
    hot = hot if axis == rank - 1 else mx.nd.moveaxis(hot, rank - 1, axis)
    return cast(hot, kind(values))


def Pad(node, x, pads=None, value=None, axes=None):
    mode = node.get("mode", "constant")
    rank = len(x.shape)
    if node.opset < 11:
        amounts, fill = node["pads"], node.get("value", 0.0)
    else:
        amounts, fill = ints(pads), 0 if value is None else number(value)
    places = list(range(rank)) if axes is None else [a % rank for a in ints(axes)]
    widths = [(0, 0)] * rank
    for i, axis in enumerate(places):
        widths[axis] = (amounts[i], amounts[i + len(places)])
    if mode == "wrap":
        unsupported("mode wrap")
    if any(n < 0 for pair in widths for n in pair):
        unsupported("negative pads")
    plain = rank in (4, 5) and not any(n for pair in widths[:2] for n in pair)
    if hasattr(mx.np, "pad") and not plain:
        more = {"constant_values": fill} if mode == "constant" else {}
        return typed(lambda a: from_np(mx.np.pad(to_np(a), tuple(widths), mode=mode, **more)), x)
    return typed(lambda a: _legacy_pad(a, widths, mode, fill), x)


def _legacy_pad(x, widths, mode, fill):
    """Pad as before mxnet.np: rank 4 or 5, and neither of the first two axes."""
    lead = 0
    while len(x.shape) + lead < 4 or (any(widths[0]) and lead < 2) or _second(widths, lead):
        lead += 1
        if len(x.shape) + lead > 5:
            unsupported("padding of these axes")
    big = x.reshape((1,) * lead + tuple(x.shape))
    flat = tuple([0] * (2 * lead) + [n for pair in widths for n in pair])
    result = mx.nd.pad(big, mode=mode, pad_width=flat, constant_value=fill)
    return result.reshape(result.shape[lead:])


def _second(widths, lead):
    return lead < 1 and len(widths) > 1 and any(widths[1])


def Reshape(node, x, shape=None):
    target = tuple(node["shape"] if node.opset < 5 else ints(shape))
    if node.get("allowzero", 0):
        return from_np(mx.np.reshape(to_np(x), target))
    if not target:
        return x.reshape(())
    return mx.nd.reshape(x, shape=target)


def ReverseSequence(node, x, lengths):
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    lengths = cast(lengths, "float32")
    turned = x if (time, batch) == (0, 1) else mx.nd.swapaxes(x, 0, 1)
    result = mx.nd.SequenceReverse(turned, lengths, use_sequence_length=True)
    return result if (time, batch) == (0, 1) else mx.nd.swapaxes(result, 0, 1)


def ScatterND(node, x, indices, updates):
    if node.get("reduction", "none") != "none":
        unsupported("reduction %s" % node["reduction"])
    places = mx.nd.moveaxis(indices, len(indices.shape) - 1, 0)
    result = x.copy()
    mx.nd._internal._scatter_set_nd(
        lhs=result, rhs=updates, indices=places, shape=x.shape, out=result
    )
    return result


def _part(start, end, step, extent):
    """Return Python's slice with its ends within the axis: older releases want them there."""
    start, end, step = slice(start, end, step).indices(extent)
    if step > 0:
        return slice(start, max(start, end), step)
    return slice(start, None if end < 0 else min(start, end), step)


def Shape(node, x):
    shape = mx.nd.shape_array(x)
    if not node.attributes:
        return shape
    return from_np(to_np(shape)[_part(node.get("start", 0), node.get("end"), 1, len(x.shape))])


def Size(node, x):
    return mx.nd.size_array(x).reshape(())


def Slice(node, x, starts=None, ends=None, axes=None, steps=None):
    if node.opset < 10:
        starts, ends, axes = node["starts"], node["ends"], node.get("axes")
    else:
        starts, ends = ints(starts), ints(ends)
        axes, steps = (None if v is None else ints(v) for v in (axes, steps))
    picked = [slice(None)] * len(x.shape)
    for i, start in enumerate(starts):
        axis = (axes[i] if axes else i) % len(x.shape)
        picked[axis] = _part(start, ends[i], steps[i] if steps else 1, x.shape[axis])
    return from_np(to_np(x)[tuple(picked)])


def SpaceToDepth(node, x):
    if node.get("mode", "DCR") != "DCR":
        unsupported("mode %s" % node["mode"])
    return mx.nd.space_to_depth(x, node["blocksize"])


def Split(node, x, sizes=None):
    axis = node.get("axis", 0) % len(x.shape)
    sizes = node.get("split") if node.opset < 13 else (None if sizes is None else ints(sizes))
    if not sizes:
        count, extent = len(node.outputs), x.shape[axis]
        each = -(-extent // count)
        sizes = [each] * (count - 1) + [extent - each * (count - 1)]
    places, at = [], 0
    for size in sizes[:-1]:
        at += size
        places.append(at)
    result = mx.nd.split_v2(x, tuple(places), axis=axis) if places else mx.nd.identity(x)
    return tuple(result) if isinstance(result, (list, tuple)) else (result,)


def Squeeze(node, x, axes=None):
    axes = axes_of(node, axes, 13)
    if axes is None:
        axes = [i for i, extent in enumerate(x.shape) if extent == 1]
    if len(axes) == len(x.shape):
        return x.reshape(())
    return mx.nd.squeeze(x, axis=tuple(axes)) if axes else mx.nd.identity(x)


def Tile(node, x, repeats):
    return typed(lambda a: mx.nd.tile(a, reps=tuple(ints(repeats))), x)


def Transpose(node, x):
    order = node.get("perm")
    more = {"axes": tuple(order)} if order else {}
    return typed(lambda a: mx.nd.transpose(a, **more), x)


def Trilu(node, x, k=None):
    if node.get("upper", 1):
        unsupported("upper triangles")
    k = 0 if k is None else int(number(k))
    return from_np(mx.np.tril(to_np(x), k))


def Unsqueeze(node, x, axes=None):
    axes = axes_of(node, axes, 13)
    rank = len(x.shape) + len(axes)
    for axis in sorted(a % rank for a in axes):
        x = mx.nd.expand_dims(x, axis=axis)
    return x


def Where(node, condition, x, y):
    if hasattr(mx.np, "where"):
        return typed(lambda a, b: from_np(mx.np.where(to_np(condition), to_np(a), to_np(b))), x, y)
    shape = common_shape(condition.shape, x.shape, y.shape)
    chosen = cast(expand(condition, shape), "uint8")
    return typed(lambda a, b: mx.nd.where(chosen, expand(a, shape), expand(b, shape)), x, y)


def RandomNormal(node):
    return mx.nd.random.normal(
        node.get("mean", 0.0), node.get("scale", 1.0), tuple(node["shape"]),
        dtype=type_name(node.get("dtype", 1)),
    )  # fmt: skip


def RandomNormalLike(node, x):
    name = type_name(node["dtype"]) if node.get("dtype") else kind(x)
    return mx.nd.random.normal(node.get("mean", 0.0), node.get("scale", 1.0), x.shape, dtype=name)


def RandomUniform(node):
    return mx.nd.random.uniform(
        node.get("low", 0.0), node.get("high", 1.0), tuple(node["shape"]),
        dtype=type_name(node.get("dtype", 1)),
    )  # fmt: skip


def RandomUniformLike(node, x):
    name = type_name(node["dtype"]) if node.get("dtype") else kind(x)
    return mx.nd.random.uniform(node.get("low", 0.0), node.get("high", 1.0), x.shape, dtype=name)


@composed
def Multinomial(node, x):
    drawn = mx.nd.random.multinomial(
        mx.nd.softmax(x), shape=node.get("sample_size", 1),
        dtype=type_name(node.get("dtype", 6)),
    )  # fmt: skip
    return drawn.reshape((x.shape[0], node.get("sample_size", 1)))


_SEQUENCES, _OPTIONALS = "mxnet has no sequences", "mxnet has no optionals"
MISSING = {
    "ConcatFromSequence": _SEQUENCES,
    "GatherElements": "mxnet has no gathering of single elements",
    "Optional": _OPTIONALS,
    "OptionalGetElement": _OPTIONALS,
    "OptionalHasElement": _OPTIONALS,
    "Scatter": "mxnet has no scattering of single elements",
    "ScatterElements": "mxnet has no scattering of single elements",
    "SequenceAt": _SEQUENCES,
    "SequenceConstruct": _SEQUENCES,
    "SequenceEmpty": _SEQUENCES,
    "SequenceErase": _SEQUENCES,
    "SequenceInsert": _SEQUENCES,
    "SequenceLength": _SEQUENCES,
    "SequenceMap": _SEQUENCES,
    "SplitToSequence": _SEQUENCES,
    "TensorScatter": "mxnet has no writing into a cache",
}
