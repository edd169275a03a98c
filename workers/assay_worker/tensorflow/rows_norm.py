"""TensorFlow: normalization."""

import tensorflow as tf

from ..table import composed, unsupported
from .parts import along, dims, dtype, first, last, rank


def BatchNormalization(node, x, scale, bias, mean, variance):
    small = node.get("epsilon", 1e-5)
    if node.opset < 7 and not node.get("is_test", 0):
        unsupported("BatchNormalization before opset 7")
    if rank(x) < 2:
        scale, bias, mean, variance = _scalars(scale, bias, mean, variance)
        return tf.nn.batch_normalization(x, mean, variance, bias, scale, small)
    if node.get("training_mode", 0):
        keep = node.get("momentum", 0.9)
        now, spread = tf.nn.moments(x, [i for i in range(rank(x)) if i != 1])
        y = _normalized(x, now, spread, bias, scale, small)
        mean = mean * keep + tf.cast(now, mean.dtype) * (1 - keep)
        variance = variance * keep + tf.cast(spread, variance.dtype) * (1 - keep)
        return y, mean, variance
    if rank(x) == 4 and x.dtype == scale.dtype == mean.dtype == tf.float32:
        y = tf.compat.v1.nn.fused_batch_norm(
            last(x), scale, bias, mean, variance, small, is_training=False
        )[0]
        return first(y)
    return _normalized(x, mean, variance, bias, scale, small)


def _scalars(*vectors):
    return [tf.reshape(vector, []) for vector in vectors]


def _normalized(x, mean, variance, bias, scale, small):
    """Normalize along axis 1."""
    mean, variance, bias, scale = [
        along(tf.cast(v, x.dtype), x) for v in (mean, variance, bias, scale)
    ]
    return tf.nn.batch_normalization(x, mean, variance, bias, scale, small)


def _standard(x, axes, small):
    """Return the tensor less its mean, over its deviation, along axes."""
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, None, None, small)


@composed
def GroupNormalization(node, x, scale, bias):
    groups, shape, kind = node["num_groups"], dims(x), x.dtype
    work = dtype(node.get("stash_type", 1)) if node.opset >= 21 else kind
    parts = tf.reshape(tf.cast(x, work), [shape[0], groups, -1])
    y = _standard(parts, [2], node.get("epsilon", 1e-5))
    if node.opset < 21:  # one scale for each group
        y = y * along(scale, y) + along(bias, y)
        return tf.reshape(y, shape)
    y = tf.cast(tf.reshape(y, shape), kind)
    return y * along(scale, x) + along(bias, x)


@composed
def InstanceNormalization(node, x, scale, bias):
    mean, variance = tf.nn.moments(x, list(range(2, rank(x))), keepdims=True)
    scale, bias = along(scale, x), along(bias, x)
    return tf.nn.batch_normalization(x, mean, variance, bias, scale, node.get("epsilon", 1e-5))


def LRN(node, x):
    size = node["size"]
    if rank(x) != 4 or size % 2 == 0:
        unsupported("response over %d channels of %d axes" % (size, rank(x)))
    bias, alpha, beta = node.get("bias", 1.0), node.get("alpha", 1e-4), node.get("beta", 0.75)
    y = tf.nn.local_response_normalization(last(x), size // 2, bias, alpha / size, beta)
    return first(y)


@composed
def LayerNormalization(node, x, scale, bias=None):
    axes = list(range(node.get("axis", -1) % rank(x), rank(x)))
    wide, small = tf.cast(x, dtype(node.get("stash_type", 1))), node.get("epsilon", 1e-5)
    mean, variance = tf.nn.moments(wide, axes, keepdims=True)
    y = tf.cast(tf.nn.batch_normalization(wide, mean, variance, None, None, small), x.dtype)
    y = y * scale if bias is None else y * scale + bias
    return y, mean, tf.math.rsqrt(variance + small)


@composed
def LpNormalization(node, x):
    axis = node.get("axis", -1)
    if node.get("p", 2) == 2:
        return tf.math.l2_normalize(x, axis)
    return tf.math.divide_no_nan(x, tf.norm(x, 1, axis, keepdims=True))


@composed
def MeanVarianceNormalization(node, x):
    return _standard(x, node.get("axes", [0, 2, 3]), 1e-9)


@composed
def RMSNormalization(node, x, scale):
    axes = list(range(node.get("axis", -1) % rank(x), rank(x)))
    wide = tf.cast(x, dtype(node.get("stash_type", 1)))
    square = tf.reduce_mean(tf.square(wide), axes, keepdims=True)
    y = wide * tf.math.rsqrt(square + node.get("epsilon", 1e-5))
    return tf.cast(y, x.dtype) * scale
