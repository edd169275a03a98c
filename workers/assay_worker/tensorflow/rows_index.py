"""TensorFlow: reading and writing at indices."""

import tensorflow as tf

from ..table import composed, unsupported
from .parts import dims, ints, moved_last, rank, wrapped


def Compress(node, x, condition):
    axis = node.get("axis")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    length = condition.shape[0]
    x = x[tuple([slice(None)] * (axis % rank(x)) + [slice(0, length)])]
    return tf.boolean_mask(x, condition[: x.shape[axis]], axis=axis % rank(x))


def Gather(node, x, indices):
    axis = node.get("axis", 0)
    return tf.gather(x, wrapped(indices, x.shape[axis]), axis=axis)


def GatherElements(node, x, indices):
    axis = node.get("axis", 0) % rank(x)
    cut = [slice(0, n) for n in dims(indices)]
    cut[axis] = slice(None)
    moved, back = moved_last(x[tuple(cut)], axis)
    places, _ = moved_last(wrapped(indices, x.shape[axis]), axis)
    return tf.transpose(tf.gather(moved, places, axis=-1, batch_dims=rank(x) - 1), back)


def GatherND(node, x, indices):
    batch = node.get("batch_dims", 0)
    extents = tf.constant(dims(x)[batch : batch + indices.shape[-1]], indices.dtype)
    return tf.gather_nd(x, wrapped(indices, extents), batch_dims=batch)


def OneHot(node, indices, depth, values):
    count = ints(depth)[0]
    if not indices.dtype.is_integer:
        indices = tf.cast(indices, tf.int64)
    places = wrapped(indices, count)
    axis = node.get("axis", -1) % (rank(indices) + 1)
    return tf.one_hot(places, count, values[1], values[0], axis=axis, dtype=values.dtype)


_WAYS = {"none": "update", "add": "add", "max": "max", "min": "min"}


def _scatter(way, x, places, updates):
    if way not in _WAYS:
        unsupported("scattering by %s" % way)
    return getattr(tf, "tensor_scatter_nd_" + _WAYS[way])(x, places, updates)


def Scatter(node, x, indices, updates):
    return ScatterElements(node, x, indices, updates)


@composed
def ScatterElements(node, x, indices, updates):
    axis = node.get("axis", 0) % rank(x)
    grid = list(tf.meshgrid(*[tf.range(n, dtype=tf.int64) for n in dims(indices)], indexing="ij"))
    grid[axis] = tf.cast(wrapped(indices, x.shape[axis]), tf.int64)
    return _scatter(node.get("reduction", "none"), x, tf.stack(grid, -1), updates)


def ScatterND(node, x, indices, updates):
    extents = tf.constant(dims(x)[: indices.shape[-1]], indices.dtype)
    return _scatter(node.get("reduction", "none"), x, wrapped(indices, extents), updates)


@composed
def TensorScatter(node, cache, update, starts=None):
    axis, batch = node.get("axis", -2) % rank(cache), cache.shape[0]
    starts = tf.zeros([batch], tf.int64) if starts is None else tf.cast(starts, tf.int64)
    grid = list(tf.meshgrid(*[tf.range(n, dtype=tf.int64) for n in dims(update)], indexing="ij"))
    grid[axis] += tf.reshape(starts, [-1] + [1] * (rank(cache) - 1))
    if node.get("mode", "linear") == "circular":
        grid[axis] = tf.math.floormod(grid[axis], cache.shape[axis])
    return tf.tensor_scatter_nd_update(cache, tf.stack(grid, -1), update)
