"""TensorFlow: convolution, matrices, quantization, losses and chance."""

import tensorflow as tf

from ..table import call, composed, unsupported
from .parts import along, dims, dtype, first, floats, last, opened, padded, paddings, rank


@composed
def Bernoulli(node, x):
    kind = dtype(node["dtype"]) if node.get("dtype") else x.dtype
    return tf.cast(tf.random.uniform(tf.shape(x), dtype=x.dtype, seed=_seed(node)) < x, kind)


def _seed(node):
    return int(node.get("seed")) if node.get("seed") is not None else None


def Conv(node, x, w, b=None):
    y = first(_conv(node, last(x), w))
    return y if b is None else y + along(b, y)


def _conv(node, x, w):
    """Convolve N, ..., C with a kernel in ONNX's order."""
    count = rank(x) - 2
    strides, dilations = node.get("strides") or [1] * count, node.get("dilations") or [1] * count
    groups, sizes, kernel = node.get("group", 1), dims(x)[1:-1], dims(w)[2:]
    pads = paddings(node, sizes, kernel, strides, dilations)
    w = tf.transpose(w, list(range(2, rank(w))) + [1, 0])
    if count > 3 or count < 1:
        unsupported("convolution of %d axes" % count)
    if groups > 1 and groups == x.shape[-1] and count <= 2:
        return _depthwise(x, w, strides, pads, dilations)
    if count == 2 and min(min(pair) for pair in pads) >= 0:
        wide = [(0, 0)] + pads + [(0, 0)]
    else:
        x, wide = padded(x, pads), "VALID"
    if groups == 1:
        return _plain_conv(x, w, strides, wide, dilations)
    # Kernels on the CPU know no groups.
    parts = zip(tf.split(x, groups, axis=-1), tf.split(w, groups, axis=-1))
    return tf.concat([_plain_conv(a, b, strides, wide, dilations) for a, b in parts], -1)


def _plain_conv(x, w, strides, pads, dilations):
    if len(strides) == 1:
        return tf.nn.conv1d(x, w, strides, pads, dilations=dilations)
    if len(strides) == 2:
        return tf.nn.conv2d(x, w, strides, pads, dilations=dilations)
    return tf.nn.conv3d(x, w, [1] + strides + [1], pads, dilations=[1] + dilations + [1])


def _depthwise(x, w, strides, pads, dilations):
    """Convolve each channel alone; a single axis gets a second one of length one."""
    single = len(strides) == 1
    if single:
        x, w, pads = opened(x, 1), opened(w, 0), [(0, 0)] + pads
        strides, dilations = strides * 2, [1] + dilations
    if strides[0] != strides[1]:
        unsupported("depthwise strides that differ")
    channels = x.shape[-1]
    high, wide, _, out = dims(w)
    w = tf.reshape(w, [high, wide, channels, out // channels])
    y = tf.nn.depthwise_conv2d(padded(x, pads), w, [1] + strides + [1], "VALID", None, dilations)
    return tf.squeeze(y, [1]) if single else y


@composed
def ConvInteger(node, x, w, x_zero=None, w_zero=None):
    x, w = _less(x, x_zero), _less(w, w_zero)
    return first(_conv(node, last(x), w))


def _less(x, zero):
    """Return 8-bit integers, less their zero point, as wide ones."""
    x = tf.cast(x, tf.int32)
    if zero is None:
        return x
    zero = tf.cast(zero, tf.int32)
    return x - (zero if rank(zero) == 0 or zero.shape[0] == 1 else along(zero, x, 0))


def ConvTranspose(node, x, w, b=None):
    count = rank(x) - 2
    strides, dilations = node.get("strides") or [1] * count, node.get("dilations") or [1] * count
    groups, sizes, kernel = node.get("group", 1), dims(x)[2:], dims(w)[2:]
    more = node.get("output_padding") or [0] * count
    if count > 3:
        unsupported("convolution of %d axes" % count)
    if any(m >= s for m, s in zip(more, strides)):
        unsupported("output_padding of a stride or more")
    full = [
        (n - 1) * s + (k - 1) * d + 1 + m
        for n, s, k, d, m in zip(sizes, strides, kernel, dilations, more)
    ]
    pads = _transposed_pads(node, sizes, full, strides)
    w = tf.transpose(w, list(range(2, rank(w))) + [1, 0])
    parts = zip(tf.split(last(x), groups, axis=-1), tf.split(w, groups, axis=-1))
    done = [
        tf.nn.conv_transpose(
            a, k, [a.shape[0]] + full + [k.shape[-2]], strides, "VALID", dilations=dilations
        )
        for a, k in parts
    ]
    y = done[0] if groups == 1 else tf.concat(done, -1)
    y = first(padded(y, [(-before, -after) for before, after in pads]))
    return y if b is None else y + along(b, y)


def _transposed_pads(node, sizes, full, strides):
    """Return what to cut away of the full result."""
    mode, count, shape = node.get("auto_pad", "NOTSET"), len(sizes), node.get("output_shape")
    if shape is None and mode in ("NOTSET", "VALID", ""):
        pads = node.get("pads") or [0] * (2 * count)
        return list(zip(pads[:count], pads[count:])) if mode != "VALID" else [(0, 0)] * count
    goal = shape[-count:] if shape else [n * s for n, s in zip(sizes, strides)]
    found = []
    for whole, wanted in zip(full, goal):
        total = whole - wanted
        less, more = total // 2, total - total // 2
        if total < 0:  # what no input reaches stands at the end
            less, more = 0, total
        found.append(
            (less, more) if mode == "SAME_UPPER" else (more, less) if total > 0 else (less, more)
        )
    return found


@composed
def DequantizeLinear(node, x, scale, zero=None):
    shape = _blocks(node, x, scale)
    number = _real(x)
    if zero is not None:
        number -= _spread(_real(zero), x, shape)
    kind = dtype(node["output_dtype"]) if node.get("output_dtype") else scale.dtype
    return tf.cast(number * _spread(tf.cast(scale, tf.float32), x, shape), kind)


def _real(x):
    """Return numbers as reals; TensorFlow converts 4-bit integers to integers only."""
    return tf.cast(tf.cast(x, tf.int8) if x.dtype.name in ("int4", "uint4") else x, tf.float32)


def _blocks(node, x, scale):
    """Return (axis, block) of a scale: nothing, an axis, or blocks of one."""
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    if rank(scale) == 0 or (rank(scale) == 1 and scale.shape[0] == 1 and not block):
        return None, 0
    return axis % rank(x), block


def _spread(number, x, shape):
    """Return a scale or zero point as long as what it belongs to."""
    axis, block = shape
    if axis is None:
        return tf.reshape(number, [])
    if not block:
        return along(number, x, axis)
    return tf.repeat(number, block, axis)[tuple([slice(None)] * axis + [slice(0, x.shape[axis])])]


Det = call("linalg.det")


@composed
def DynamicQuantizeLinear(node, x):
    low = tf.minimum(tf.reduce_min(x), 0)
    scale = (tf.maximum(tf.reduce_max(x), 0) - low) / 255
    zero = tf.saturate_cast(tf.round(-low / scale), tf.uint8)
    y = tf.saturate_cast(tf.round(x / scale) + tf.cast(zero, tf.float32), tf.uint8)
    return y, scale, zero


def Einsum(node, *inputs):
    return tf.einsum(node["equation"].replace(" ", ""), *inputs)


@composed
def Gemm(node, a, b, c=None):
    y = tf.matmul(
        a, b, transpose_a=bool(node.get("transA", 0)), transpose_b=bool(node.get("transB", 0))
    )
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if alpha != 1.0:
        y *= tf.cast(alpha, y.dtype)
    if c is None:
        return y
    return y + (c if beta == 1.0 else tf.cast(beta, y.dtype) * c)


def MatMul(node, a, b):
    if rank(a) > 1 and rank(b) > 1:
        return tf.matmul(a, b)
    if rank(a) == 1 and rank(b) == 1:
        return tf.tensordot(a, b, 1)
    if rank(b) == 1:
        return tf.linalg.matvec(a, b)
    return tf.linalg.matvec(b, a, transpose_a=True)


@composed
def MatMulInteger(node, a, b, a_zero=None, b_zero=None):
    a = tf.cast(a, tf.int32) - _side(a_zero, 1)
    return tf.matmul(a, tf.cast(b, tf.int32) - _side(b_zero, 0))


def _side(zero, column):
    """Return a zero point of rows (a column) or of columns (a row)."""
    if zero is None:
        return 0
    zero = tf.cast(zero, tf.int32) if zero.dtype.is_integer else zero
    if rank(zero) != 1:
        return zero
    return tf.expand_dims(zero, 1) if column and zero.shape[0] != 1 else zero


def Multinomial(node, x):
    kind = dtype(node.get("dtype", 6))
    return tf.cast(tf.random.categorical(x, node.get("sample_size", 1), seed=_seed(node)), kind)


@composed
def NegativeLogLikelihoodLoss(node, x, target, weight=None):
    return _loss(node, -x, target, weight)


def _loss(node, cost, target, weight):
    """Weigh and gather the costs of the classes, which lie along axis 1."""
    ignored = node.get("ignore_index")
    picked = tf.identity(target)
    if ignored is not None:
        picked = tf.where(target == ignored, tf.zeros_like(target), target)
    found = tf.gather(last(cost), picked, axis=-1, batch_dims=rank(target))
    weights = tf.ones_like(found) if weight is None else tf.gather(weight, picked)
    if ignored is not None:
        weights = tf.where(target == ignored, tf.zeros_like(weights), weights)
    found, how = found * weights, node.get("reduction", "mean")
    if how == "none":
        return found
    total = tf.reduce_sum(found)
    return total / tf.reduce_sum(weights) if how == "mean" else total


@composed
def QLinearConv(node, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b=None):
    y = first(_conv(node, last(_less(x, x_zero)), _less(w, w_zero)))
    if b is not None:
        y += along(b, y)
    scale = x_scale * w_scale / y_scale
    if rank(scale) == 1 and scale.shape[0] > 1:
        scale = along(scale, y)
    return _rounded(tf.cast(y, tf.float32) * scale, y_zero)


def _rounded(number, zero):
    return tf.saturate_cast(tf.round(number) + tf.cast(zero, tf.float32), zero.dtype)


@composed
def QLinearMatMul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    y = tf.cast(MatMulInteger(node, a, b, a_zero, b_zero), tf.float32)
    scale = tf.cast(_side(a_scale, 1) * _side(b_scale, 0) / y_scale, tf.float32)
    return _rounded(y * scale, y_zero)


_FOUR_BITS = {"int4": (-8, 7), "uint4": (0, 15)}


@composed
def QuantizeLinear(node, x, scale, zero=None):
    shape = _blocks(node, x, scale)
    kind = zero.dtype if zero is not None else dtype(node.get("output_dtype") or 2)
    y = tf.cast(x, tf.float32) / _spread(tf.cast(scale, tf.float32), x, shape)
    if kind.is_integer or kind.name in _FOUR_BITS:
        y = tf.round(y)
    if zero is not None:
        y += _spread(_real(zero), x, shape)
    if kind.name in _FOUR_BITS:
        return tf.cast(tf.cast(tf.clip_by_value(y, *_FOUR_BITS[kind.name]), tf.int8), kind)
    return tf.saturate_cast(y, kind)


def RandomNormal(node):
    kind = dtype(node.get("dtype", 1))
    mean, spread = node.get("mean", 0.0), node.get("scale", 1.0)
    return tf.random.normal(node["shape"], mean, spread, kind, _seed(node))


def RandomNormalLike(node, x):
    kind = dtype(node["dtype"]) if node.get("dtype") else x.dtype
    mean, spread = node.get("mean", 0.0), node.get("scale", 1.0)
    return tf.random.normal(tf.shape(x), mean, spread, kind, _seed(node))


def RandomUniform(node):
    kind = dtype(node.get("dtype", 1))
    low, high = node.get("low", 0.0), node.get("high", 1.0)
    return tf.random.uniform(node["shape"], low, high, kind, _seed(node))


def RandomUniformLike(node, x):
    kind = dtype(node["dtype"]) if node.get("dtype") else x.dtype
    low, high = node.get("low", 0.0), node.get("high", 1.0)
    return tf.random.uniform(tf.shape(x), low, high, kind, _seed(node))


def SoftmaxCrossEntropyLoss(node, x, target, weight=None):
    logits = last(x)
    if node.get("ignore_index") is None and weight is None:
        found = tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits)
        how = node.get("reduction", "mean")
        if how != "none":
            found = tf.reduce_mean(found) if how == "mean" else tf.reduce_sum(found)
    else:
        found = _loss(node, -tf.nn.log_softmax(x, 1), target, weight)
    return (found, tf.nn.log_softmax(x, 1)) if node.wants(1) else found


def Dropout(node, x, ratio=None, training=None):
    if node.opset < 12 or training is None:
        return tf.identity(x), tf.ones(tf.shape(x), x.dtype if node.opset < 10 else tf.bool)
    share = 0.5 if ratio is None else floats(ratio)[0]
    if share and floats(training)[0]:
        if node.wants(1):
            unsupported("the mask of a dropout")
        return tf.nn.dropout(x, share, seed=_seed(node))
    return tf.identity(x), tf.ones(tf.shape(x), tf.bool)
