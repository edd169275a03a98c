"""MXNet: reductions, and what depends on a whole axis."""

import mxnet as mx

from ..table import composed, unsupported
from .parts import axes_of, cast, floats_only, from_np, ints, kind, to_np

_AXES_INPUT = 18  # the opset from which reductions take axes as an input


def _axes(node, x, given, opset=_AXES_INPUT):
    """Return (axes or None for all, whether nothing is reduced)."""
    axes = axes_of(node, given, opset)
    if not axes:
        if node.get("noop_with_empty_axes", 0):
            return (), True
        return None, False
    return tuple(axis % max(len(x.shape), 1) for axis in axes), False


def _reduced(name, node, x, given, opset=_AXES_INPUT):
    """Call a reduction of mxnet.np, whose results have the right rank."""
    axes, nothing = _axes(node, x, given, opset)
    if nothing or not x.shape:
        return mx.nd.identity(x)
    keep = bool(node.get("keepdims", 1))
    if name in ("max", "min") and 0 in [x.shape[a] for a in axes or range(len(x.shape))]:
        unsupported("the %s of nothing" % name)
    result = from_np(getattr(mx.np, name)(to_np(x), axis=axes, keepdims=keep))
    return cast(result, kind(x))


def _place(name, node, x):
    if node.get("select_last_index", 0):
        unsupported("the last of equal elements")
    axis, keep = node.get("axis", 0), node.get("keepdims", 1)
    result = from_np(getattr(mx.np, name)(to_np(x), axis=axis))
    result = cast(result, "int64")
    return mx.nd.expand_dims(result, axis=axis % len(x.shape)) if keep else result


def ArgMax(node, x):
    return _place("argmax", node, x)


def ArgMin(node, x):
    return _place("argmin", node, x)


@composed
def Hardmax(node, x):
    axis = node.get("axis", 1 if node.opset < 13 else -1) % max(len(x.shape), 1)
    flat = x if node.opset >= 13 else mx.nd.reshape(x, shape=_halves(x.shape, axis))
    axis = axis if node.opset >= 13 else 1
    places = from_np(mx.np.argmax(to_np(flat), axis=axis))
    ones = mx.nd.one_hot(places, depth=flat.shape[axis], dtype=kind(x))
    return mx.nd.moveaxis(ones, len(flat.shape) - 1, axis).reshape(x.shape)


def _halves(shape, axis):
    first = last = 1
    for extent in shape[:axis]:
        first *= extent
    for extent in shape[axis:]:
        last *= extent
    return first, last


def _along_axis(function, node, x):
    """Call softmax and its like: before opset 13 the axes from one on are one axis together."""
    floats_only(x)
    if node.opset >= 13:
        return function(x, axis=node.get("axis", -1))
    halves = _halves(x.shape, node.get("axis", 1) % max(len(x.shape), 1))
    return function(mx.nd.reshape(x, shape=halves), axis=1).reshape(x.shape)


def LogSoftmax(node, x):
    return _along_axis(mx.nd.log_softmax, node, x)


@composed
def LpNormalization(node, x):
    axis, order = node.get("axis", -1), node.get("p", 2)
    norm = mx.nd.norm(x, ord=order, axis=axis, keepdims=True)
    return mx.nd.broadcast_div(x, mx.nd.where(norm == 0, mx.nd.ones_like(norm), norm))


def _norm(order, node, x, given):
    floats_only(x)
    axes, nothing = _axes(node, x, given)
    if nothing or not x.shape:
        return mx.nd.abs(x)
    if axes is not None and len(axes) > 2 or axes is None and len(x.shape) > 2:
        keep = bool(node.get("keepdims", 1))
        axes = tuple(range(len(x.shape))) if axes is None else axes
        flat = mx.nd.norm(_joined(x, axes), ord=order, axis=-1)
        shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
        return flat.reshape(tuple(shape))
    axes = tuple(range(len(x.shape))) if axes is None else axes
    if not node.get("keepdims", 1) and len(axes) == len(x.shape):
        return mx.nd.norm(x, ord=order, axis=axes, keepdims=True).reshape(())
    return mx.nd.norm(x, ord=order, axis=axes, keepdims=bool(node.get("keepdims", 1)))


def _joined(x, axes):
    """Return an array whose reduced axes are the last one: a norm takes two axes at most."""
    kept = [i for i in range(len(x.shape)) if i not in axes]
    turned = mx.nd.transpose(x, axes=tuple(kept + list(axes)))
    size = 1
    for axis in axes:
        size *= x.shape[axis]
    return turned.reshape(tuple([x.shape[i] for i in kept] + [size]))


def ReduceL1(node, x, axes=None):
    return _norm(1, node, x, axes)


def ReduceL2(node, x, axes=None):
    return _norm(2, node, x, axes)


@composed
def ReduceLogSum(node, x, axes=None):
    return mx.nd.log(_reduced("sum", node, x, axes))


@composed
def ReduceLogSumExp(node, x, axes=None):
    floats_only(x)
    return mx.nd.log(_reduced("sum", node, mx.nd.exp(x), axes))


def ReduceMax(node, x, axes=None):
    return _reduced("max", node, x, axes)


def ReduceMean(node, x, axes=None):
    return _reduced("mean", node, x, axes)


def ReduceMin(node, x, axes=None):
    return _reduced("min", node, x, axes)


def ReduceProd(node, x, axes=None):
    return _reduced("prod", node, x, axes)


def ReduceSum(node, x, axes=None):
    return _reduced("sum", node, x, axes, 13)


@composed
def ReduceSumSquare(node, x, axes=None):
    return _reduced("sum", node, mx.nd.square(x), axes)


def Softmax(node, x):
    return _along_axis(mx.nd.softmax, node, x)


def TopK(node, x, k=None):
    count = node["k"] if node.opset < 10 else ints(k)[0]
    axis, rising = node.get("axis", -1), not node.get("largest", 1)
    values, places = mx.nd.topk(
        x, axis=axis, k=count, ret_typ="both", is_ascend=rising, dtype="int64"
    )
    return values, places


def Unique(node, x):
    if not node.get("sorted", 1):
        unsupported("elements in the order of their first place")
    axis = node.get("axis")
    wants = [node.wants(place) for place in (1, 2, 3)]
    results = mx.np.unique(
        to_np(x), return_index=wants[0], return_inverse=wants[1], return_counts=wants[2], axis=axis
    )
    if not any(wants):
        return from_np(results)
    results = list(from_np(results))
    out = [results.pop(0)]
    for wanted in wants:
        out.append(cast(results.pop(0), "int64") if wanted else None)
    return tuple(out)
