"""JAX: reductions, sorting, products of matrices."""

import jax
import jax.numpy as jnp
from jax import lax

from ..table import call, composed
from .parts import axes_of, highest, kind, lowest, values_known, whole


def _axes(node, x, given):
    """Return the axes to reduce, all if none are told, and whether they stay."""
    axes = axes_of(node, given, 13 if node.op == "ReduceSum" else 18)
    if not axes:
        axes = [] if node.get("noop_with_empty_axes", 0) else range(x.ndim)
    return tuple(axis % x.ndim for axis in axes), bool(node.get("keepdims", 1))


def _empty(x, axes):
    return any(x.shape[axis] == 0 for axis in axes)


def ArgMax(node, x):
    return _extreme(node, x, jnp.argmax)


def ArgMin(node, x):
    return _extreme(node, x, jnp.argmin)


def _extreme(node, x, function):
    axis, keep = node.get("axis", 0), bool(node.get("keepdims", 1))
    if node.get("select_last_index", 0):
        places = function(jnp.flip(x, axis), axis=axis, keepdims=keep)
        return (x.shape[axis] - 1 - places).astype("int64")
    return function(x, axis=axis, keepdims=keep).astype("int64")


def CumProd(node, x, axis):
    return _running(node, x, whole(axis), lax.cumprod, 1)


def CumSum(node, x, axis):
    return _running(node, x, whole(axis), lax.cumsum, 0)


def _running(node, x, axis, function, first):
    axis, reverse = axis % x.ndim, bool(node.get("reverse", 0))
    if node.get("exclusive", 0):
        edge = jnp.full([1 if i == axis else n for i, n in enumerate(x.shape)], first, x.dtype)
        end = x.shape[axis]
        if reverse:
            x = jnp.concatenate([lax.slice_in_dim(x, 1, end, axis=axis), edge], axis)
        else:
            x = jnp.concatenate([edge, lax.slice_in_dim(x, 0, end - 1, axis=axis)], axis)
    return function(x, axis=axis, reverse=reverse)


Det = call("numpy.linalg.det")


def Einsum(node, *inputs):
    return jnp.einsum(node["equation"], *inputs)


@composed
def Gemm(node, a, b, c=None):
    a = a.T if node.get("transA", 0) else a
    b = b.T if node.get("transB", 0) else b
    y = jnp.matmul(a, b)
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if alpha != 1.0:
        y = (alpha * y).astype(a.dtype)
    if c is None:
        return y
    return y + (c if beta == 1.0 else (beta * c).astype(a.dtype))


def Hardmax(node, x):
    return _flattened(node, x, _hardmax)


def _hardmax(x, axis):
    return jax.nn.one_hot(jnp.argmax(x, axis), x.shape[axis], dtype=x.dtype, axis=axis)


def LogSoftmax(node, x):
    return _flattened(node, x, jax.nn.log_softmax)


def _flattened(node, x, function):
    """Apply a function along an axis; before opset 13 the axes behind it are one with it."""
    if node.opset >= 13:
        return function(x, axis=node.get("axis", -1) % max(x.ndim, 1))
    axis, rows = node.get("axis", 1) % max(x.ndim, 1), 1
    for extent in x.shape[:axis]:
        rows *= extent
    return function(x.reshape(rows, -1), axis=1).reshape(x.shape)


@composed
def LpNormalization(node, x):
    axis = node.get("axis", -1)
    norm = jnp.linalg.vector_norm(x, ord=node.get("p", 2), axis=axis, keepdims=True)
    return jnp.where(norm == 0, jnp.zeros_like(x), x / norm)


MatMul = call("numpy.matmul")


def ReduceL1(node, x, axes=None):
    return _norm(node, x, axes, 1)


def ReduceL2(node, x, axes=None):
    return _norm(node, x, axes, 2)


def _norm(node, x, given, order):
    axes, keep = _axes(node, x, given)
    if not axes:
        return jnp.abs(x)
    return jnp.linalg.vector_norm(x, ord=order, axis=axes, keepdims=keep).astype(x.dtype)


@composed
def ReduceLogSum(node, x, axes=None):
    return jnp.log(ReduceSum(node, x, axes)).astype(x.dtype)


def ReduceLogSumExp(node, x, axes=None):
    axes, keep = _axes(node, x, axes)
    if not axes:
        return x
    return jax.nn.logsumexp(x, axis=axes, keepdims=keep).astype(x.dtype)


def ReduceMax(node, x, axes=None):
    axes, keep = _axes(node, x, axes)
    return jnp.max(x, axis=axes, keepdims=keep, initial=lowest(x) if _empty(x, axes) else None)


def ReduceMean(node, x, axes=None):
    axes, keep = _axes(node, x, axes)
    return jnp.mean(x, axis=axes, keepdims=keep).astype(x.dtype)


def ReduceMin(node, x, axes=None):
    axes, keep = _axes(node, x, axes)
    return jnp.min(x, axis=axes, keepdims=keep, initial=highest(x) if _empty(x, axes) else None)


def ReduceProd(node, x, axes=None):
    axes, keep = _axes(node, x, axes)
    return jnp.prod(x, axis=axes, keepdims=keep, dtype=x.dtype)


def ReduceSum(node, x, axes=None):
    axes, keep = _axes(node, x, axes)
    return jnp.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


@composed
def ReduceSumSquare(node, x, axes=None):
    return ReduceSum(node, jnp.square(x), axes)


def Softmax(node, x):
    return _flattened(node, x, jax.nn.softmax)


def TopK(node, x, k=None):
    count = node["k"] if k is None else whole(k)
    axis = node.get("axis", -1) % x.ndim
    if node.get("largest", 1):
        values, places = lax.top_k(jnp.moveaxis(x, axis, -1), count)
        return jnp.moveaxis(values, -1, axis), jnp.moveaxis(places, -1, axis).astype("int64")
    places = lax.slice_in_dim(jnp.argsort(x, axis=axis), 0, count, axis=axis)
    return jnp.take_along_axis(x, places, axis), places.astype("int64")


def Unique(node, x):
    values_known(x)
    axis = node.get("axis")
    values, first, back, counts = jnp.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    back = back.reshape(-1)
    if not node.get("sorted", 1):
        order = jnp.argsort(first)
        values = jnp.take(values, order, 0 if axis is None else axis)
        first, counts, back = first[order], counts[order], jnp.argsort(order)[back]
    wide = kind(7)
    return values, first.astype(wide), back.astype(wide), counts.astype(wide)
