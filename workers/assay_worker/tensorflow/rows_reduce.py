"""TensorFlow: reduction, ordering and running sums."""

import tensorflow as tf

from ..table import composed, unsupported
from .parts import axes_of, dims, ints, moved_last, rank


def ArgMax(node, x):
    return _arg(tf.argmax, node, x)


def ArgMin(node, x):
    return _arg(tf.argmin, node, x)


def _arg(function, node, x):
    axis = node.get("axis", 0) % max(rank(x), 1)
    if node.get("select_last_index", 0):
        found = x.shape[axis] - 1 - function(tf.reverse(x, [axis]), axis)
    else:
        found = function(x, axis)
    return tf.expand_dims(found, axis) if node.get("keepdims", 1) else found


def CumProd(node, x, axis):
    return _running(tf.math.cumprod, node, x, axis)


def CumSum(node, x, axis):
    return _running(tf.math.cumsum, node, x, axis)


def _running(function, node, x, axis):
    exclusive, reverse = bool(node.get("exclusive", 0)), bool(node.get("reverse", 0))
    return function(x, ints(axis)[0], exclusive=exclusive, reverse=reverse)


def _reduce(function, node, x, axes):
    """Reduce the axes that are named, or all, or none, as the node says."""
    axes = axes_of(node, axes, x)
    if not axes:
        if node.get("noop_with_empty_axes", 0):
            return None
        axes = list(range(rank(x)))
    return function(x, axis=axes, keepdims=bool(node.get("keepdims", 1)))


def _square_sum(x, axis, keepdims):
    return tf.reduce_sum(tf.square(x), axis=axis, keepdims=keepdims)


@composed
def ReduceL1(node, x, axes=None):
    x = tf.abs(x)
    found = _reduce(tf.reduce_sum, node, x, axes)
    return x if found is None else found


def ReduceL2(node, x, axes=None):
    found = _reduce(tf.math.reduce_euclidean_norm, node, x, axes)
    return tf.abs(x) if found is None else found


@composed
def ReduceLogSum(node, x, axes=None):
    found = _reduce(tf.reduce_sum, node, x, axes)
    return tf.math.log(x if found is None else found)


def ReduceLogSumExp(node, x, axes=None):
    found = _reduce(tf.reduce_logsumexp, node, x, axes)
    return tf.identity(x) if found is None else found


def ReduceMax(node, x, axes=None):
    found = _reduce(tf.reduce_any if x.dtype == tf.bool else tf.reduce_max, node, x, axes)
    return tf.identity(x) if found is None else found


def ReduceMean(node, x, axes=None):
    found = _reduce(tf.reduce_mean, node, x, axes)
    return tf.identity(x) if found is None else found


def ReduceMin(node, x, axes=None):
    found = _reduce(tf.reduce_all if x.dtype == tf.bool else tf.reduce_min, node, x, axes)
    return tf.identity(x) if found is None else found


def ReduceProd(node, x, axes=None):
    found = _reduce(tf.reduce_prod, node, x, axes)
    return tf.identity(x) if found is None else found


def ReduceSum(node, x, axes=None):
    found = _reduce(tf.reduce_sum, node, x, axes)
    return tf.identity(x) if found is None else found


@composed
def ReduceSumSquare(node, x, axes=None):
    found = _reduce(_square_sum, node, x, axes)
    return tf.square(x) if found is None else found


def TopK(node, x, k=None):
    count = node["k"] if node.opset < 10 else ints(k)[0]
    turned, back = moved_last(x, node.get("axis", -1))
    largest = node.get("largest", 1) if node.opset >= 11 else 1
    if not largest and not (x.dtype.is_floating or x.dtype in (tf.int32, tf.int64)):
        unsupported("the least of %s" % x.dtype.name)
    values, indices = tf.math.top_k(turned if largest else -turned, count, sorted=True)
    values = values if largest else -values
    return tf.transpose(values, back), tf.transpose(tf.cast(indices, tf.int64), back)


def Unique(node, x):
    axis = node.get("axis")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
        values, inverse, counts = tf.unique_with_counts(x, tf.int64)
    else:
        axis %= rank(x)
        values, inverse, counts = tf.raw_ops.UniqueWithCountsV2(x=x, axis=[axis], out_idx=tf.int64)
    found = tf.shape(values, tf.int64)[axis]
    length = dims(x)[axis]
    where = tf.math.unsorted_segment_min(tf.range(length, dtype=tf.int64), inverse, found)
    if node.get("sorted", 1):
        order = _order(values, axis)
        place = tf.math.invert_permutation(order)
        values = tf.gather(values, order, axis=axis)
        where, counts = tf.gather(where, order), tf.gather(counts, order)
        inverse = tf.gather(tf.cast(place, tf.int64), inverse)
    return values, where, inverse, counts


def _order(values, axis):
    """Return how to sort slices: by their first element, then the next."""
    if rank(values) == 1:
        return tf.argsort(values, stable=True)
    turned, _ = moved_last(values, axis)
    columns = tf.reshape(turned, [-1, tf.shape(turned)[-1]])
    order = tf.range(tf.shape(columns)[1])
    for place in reversed(range(dims(columns)[0])):
        order = tf.gather(order, tf.argsort(tf.gather(columns[place], order), stable=True))
    return order
