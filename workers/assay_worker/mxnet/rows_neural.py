"""MXNet: convolution, pooling, normalization, recurrence and losses."""

import mxnet as mx

from ..table import composed, unsupported
from .parts import cast, expand, floats_only, ints, kind, number, padded, window_pads

_LOWEST = -3.4028234663852886e38


def _pool(node, x, kind_, **more):
    """Pool; pads that differ are added before, where that gives the same."""
    floats_only(x)
    kernel = node["kernel_shape"]
    rank = len(kernel)
    if rank > 3:
        unsupported("pooling of rank %d" % rank)
    strides = node.get("strides", [1] * rank)
    if any(d != 1 for d in node.get("dilations", [1] * rank)):
        unsupported("dilated pooling")
    begin, end = window_pads(node, x.shape[2:], kernel, strides, [1] * rank)
    if begin != end:
        if kind_ == "avg" and not more["count_include_pad"]:
            unsupported("averages with pads that differ")
        x = padded(x, begin, end, _LOWEST if kind_ == "max" else 0.0)
        begin = [0] * rank
    convention = "full" if node.get("ceil_mode", 0) else "valid"
    if convention == "full" and _starts_late(x.shape[2:], kernel, strides, begin):
        unsupported("a last window that lies in the pad")
    return mx.nd.Pooling(
        x, kernel=tuple(kernel), stride=tuple(strides), pad=tuple(begin), pool_type=kind_,
        pooling_convention=convention, **more
    )  # fmt: skip


def _starts_late(extents, kernel, strides, pads):
    """Tell whether rounding up adds a window behind the elements, which ONNX leaves out."""
    for extent, size, stride, pad in zip(extents, kernel, strides, pads):
        last = -(-(extent + 2 * pad - size) // stride)
        if last * stride >= extent + pad:
            return True
    return False


def AveragePool(node, x):
    return _pool(node, x, "avg", count_include_pad=bool(node.get("count_include_pad", 0)))


def BatchNormalization(node, x, scale, bias, mean, variance):
    if node.get("training_mode", 0) or node.wants(1):
        unsupported("training")
    return mx.nd.BatchNorm(
        x, scale, bias, mean.copy(), variance.copy(), eps=node.get("epsilon", 1e-5),
        momentum=node.get("momentum", 0.9), fix_gamma=False, use_global_stats=True,
    )  # fmt: skip


def Conv(node, x, w, b=None):
    floats_only(x)
    kernel = w.shape[2:]
    rank = len(kernel)
    if rank > 3:
        unsupported("convolution of rank %d" % rank)
    strides = node.get("strides", [1] * rank)
    dilations = node.get("dilations", [1] * rank)
    begin, end = window_pads(node, x.shape[2:], kernel, strides, dilations)
    if begin != end:
        x, begin = padded(x, begin, end), [0] * rank
    return mx.nd.Convolution(
        *([x, w] if b is None else [x, w, b]),
        kernel=kernel, stride=tuple(strides), pad=tuple(begin), dilate=tuple(dilations),
        num_filter=w.shape[0], num_group=node.get("group", 1), no_bias=b is None
    )  # fmt: skip


def ConvTranspose(node, x, w, b=None):
    floats_only(x)
    kernel = w.shape[2:]
    rank, group = len(kernel), node.get("group", 1)
    if rank > 3:
        unsupported("convolution of rank %d" % rank)
    strides = node.get("strides", [1] * rank)
    dilations = node.get("dilations", [1] * rank)
    more = list(node.get("output_padding", [0] * rank))
    shape = node.get("output_shape")
    auto = node.get("auto_pad", "NOTSET")
    if auto.startswith("SAME") and not shape:
        shape = [n * s for n, s in zip(x.shape[2:], strides)]
    begin, end = window_pads(node, x.shape[2:], kernel, strides, dilations)
    if shape:
        begin, end = [], []
        for i in range(rank):
            full = strides[i] * (x.shape[2 + i] - 1) + more[i]
            total = full + (kernel[i] - 1) * dilations[i] + 1 - shape[i]
            if total < 0:  # more than there would be without pads
                more[i], total = more[i] - total, 0
            half = total // 2
            begin.append(half if auto == "SAME_UPPER" else total - half)
            end.append(total - begin[-1])
    # What differs at the end is cut off afterwards.
    low = [min(pair) for pair in zip(begin, end)]
    y = mx.nd.Deconvolution(
        *([x, w] if b is None else [x, w, b]),
        kernel=kernel, stride=tuple(strides), pad=tuple(low), dilate=tuple(dilations),
        adj=tuple(more), num_filter=w.shape[1] * group, num_group=group, no_bias=b is None
    )  # fmt: skip
    if begin == end:
        return y
    picked = [
        slice(first - least, extent - (last - least))
        for first, last, least, extent in zip(begin, end, low, y.shape[2:])
    ]
    return y[tuple([slice(None), slice(None)] + picked)]


def Dropout(node, x, ratio=None, training=None):
    if training is not None and number(training):
        unsupported("training")
    p = node.get("ratio", 0.5) if ratio is None else number(ratio)
    y = mx.nd.Dropout(x, p=p)
    if not node.wants(1):
        return y
    return y, cast(mx.nd.ones_like(x), "bool" if node.opset >= 10 else kind(x))


def _global(node, x, kind_, **more):
    floats_only(x)
    if len(x.shape) > 5:
        unsupported("pooling of rank %d" % (len(x.shape) - 2))
    kernel = (1,) * (len(x.shape) - 2)
    return mx.nd.Pooling(x, kernel=kernel, global_pool=True, pool_type=kind_, **more)


def GlobalAveragePool(node, x):
    return _global(node, x, "avg")


def GlobalLpPool(node, x):
    return _global(node, mx.nd.abs(x), "lp", p_value=node.get("p", 2))


def GlobalMaxPool(node, x):
    return _global(node, x, "max")


def GRU(node, x, w, r, b=None, lengths=None, h=None):
    if not node.get("linear_before_reset", 0):
        unsupported("a reset before the product")
    return _recurrent(node, "gru", (1, 0, 2), x, w, r, b, lengths, h)


def GroupNormalization(node, x, scale, bias):
    floats_only(x)
    groups, eps = node["num_groups"], node.get("epsilon", 1e-5)
    if node.opset < 21:
        return mx.nd.GroupNorm(x, scale, bias, num_groups=groups, eps=eps)
    # Since opset 21 each channel has a scale of its own; mxnet's are those of the groups.
    plain = [full((max(groups, 0),), dtype=kind(x)) for full in (mx.nd.ones, mx.nd.zeros)]
    y = mx.nd.GroupNorm(x, *plain, num_groups=groups, eps=eps)
    across = (1, -1) + (1,) * (len(x.shape) - 2)
    scaled = mx.nd.broadcast_mul(y, scale.reshape(across))
    return mx.nd.broadcast_add(scaled, bias.reshape(across))


def InstanceNormalization(node, x, scale, bias):
    return mx.nd.InstanceNorm(x, scale, bias, eps=node.get("epsilon", 1e-5))


def LRN(node, x):
    return mx.nd.LRN(
        x, alpha=node.get("alpha", 1e-4), beta=node.get("beta", 0.75),
        knorm=node.get("bias", 1.0), nsize=node["size"],
    )  # fmt: skip


def LSTM(node, x, w, r, b=None, lengths=None, h=None, c=None, p=None):
    if p is not None:
        unsupported("peepholes")
    if node.get("input_forget", 0):
        unsupported("coupled gates")
    return _recurrent(node, "lstm", (0, 2, 3, 1), x, w, r, b, lengths, h, c)


def LayerNormalization(node, x, scale, bias=None):
    floats_only(x)
    axis, rank = node.get("axis", -1) % len(x.shape), len(x.shape)
    if axis != rank - 1:  # several axes: as one
        flat = x.reshape(x.shape[:axis] + (-1,))
    else:
        flat = x
    size = flat.shape[-1:]
    scale = expand(scale, x.shape[axis:]).reshape(size)
    bias = mx.nd.zeros_like(scale) if bias is None else expand(bias, x.shape[axis:]).reshape(size)
    wants = node.wants(1) or node.wants(2)
    results = mx.nd.LayerNorm(
        flat, scale, bias, axis=-1, eps=node.get("epsilon", 1e-5), output_mean_var=wants
    )
    if not wants:
        return results.reshape(x.shape)
    y, mean, deviation = results
    one = x.shape[:axis] + (1,) * (rank - axis)
    return y.reshape(x.shape), mean.reshape(one), mx.nd.reciprocal(deviation).reshape(one)


def LpPool(node, x):
    # mxnet's sum of powers has no absolute values.
    return _pool(node, mx.nd.abs(x), "lp", p_value=node.get("p", 2))


def MaxPool(node, x):
    if node.wants(1):
        unsupported("places of the maxima")
    if node.get("storage_order", 0):
        unsupported("storage_order")
    return _pool(node, x, "max")


@composed
def MeanVarianceNormalization(node, x):
    axes = tuple(node.get("axes", [0, 2, 3]))
    mean, variance = mx.nd.moments(x, axes=axes, keepdims=True)
    return mx.nd.broadcast_div(mx.nd.broadcast_sub(x, mean), mx.nd.sqrt(variance) + 1e-9)


@composed
def NegativeLogLikelihoodLoss(node, x, target, weight=None):
    return _loss(node, x, target, weight)


@composed
def SoftmaxCrossEntropyLoss(node, x, target, weight=None):
    logs = mx.nd.log_softmax(x, axis=1)
    loss = _loss(node, logs, target, weight)
    return (loss, logs) if node.wants(1) else loss


def _loss(node, x, target, weight):
    """Pick what the targets name, as gluon's losses do; ignored targets have no weight."""
    loss = -mx.nd.pick(x, target, axis=1)
    ignored, reduction = node.get("ignore_index"), node.get("reduction", "mean")
    if ignored is not None or weight is not None:
        if weight is None:
            weight = mx.nd.ones((x.shape[1],), dtype=kind(x))
        weights = mx.nd.take(weight, target)
        if ignored is not None:
            weights = weights * cast(target != ignored, kind(x))
        loss = loss * weights
        if reduction == "mean":
            return (mx.nd.sum(loss) / mx.nd.sum(weights)).reshape(())
    if reduction == "none":
        return loss
    return (mx.nd.mean(loss) if reduction == "mean" else mx.nd.sum(loss)).reshape(())


def RNN(node, x, w, r, b=None, lengths=None, h=None):
    names = {name.lower() for name in node.get("activations", ["Tanh"])}
    if names not in ({"tanh"}, {"relu"}):
        unsupported("activations %s" % ", ".join(sorted(names)))
    return _recurrent(node, "rnn_" + names.pop(), (0,), x, w, r, b, lengths, h)


_USUAL = {"gru": ["sigmoid", "tanh"], "lstm": ["sigmoid", "tanh", "tanh"]}


def _recurrent(node, mode, order, x, w, r, b, lengths, h, c=None):
    """Run mxnet's fused layer: `order` is where its gates are in ONNX's."""
    floats_only(x)
    direction, layout = node.get("direction", "forward"), node.get("layout", 0)
    names = [name.lower() for name in node.get("activations", [])]
    ways, size = w.shape[0], r.shape[2]
    if mode in _USUAL and names and names != _USUAL[mode] * ways:
        unsupported("activations %s" % ", ".join(names))
    if node.get("clip"):
        unsupported("clip")
    if layout:
        x, h, c = (v if v is None else mx.nd.swapaxes(v, 0, 1) for v in (x, h, c))
    steps, batch = x.shape[:2]
    if lengths is not None and any(n != steps for n in ints(lengths)):
        unsupported("lengths of sequences")
    if direction == "reverse":
        x = mx.nd.flip(x, axis=0)
    start = [v if v is not None else mx.nd.zeros((ways, batch, size)) for v in (h, c)]
    states = start if mode == "lstm" else start[:1]
    results = mx.nd.RNN(
        x, _parameters(order, w, r, b), *states, state_size=size, num_layers=1, mode=mode,
        bidirectional=ways == 2, state_outputs=True
    )  # fmt: skip
    y = results[0].reshape((steps, batch, ways, size))
    if direction == "reverse":
        y = mx.nd.flip(y, axis=0)
    if layout:
        turned = [mx.nd.swapaxes(v, 0, 1) for v in results[1:]]
        return tuple([mx.nd.transpose(y, axes=(1, 0, 2, 3))] + turned)
    return tuple([mx.nd.transpose(y, axes=(0, 2, 1, 3))] + list(results[1:]))


def _parameters(order, w, r, b):
    """Return weights and biases in one row, as mxnet wants them: first all weights."""
    ways, gates, size = w.shape[0], len(order), r.shape[2]
    if b is None:
        b = mx.nd.zeros((ways, 2 * gates * size))
    parts = [_gates(v[way], order, size) for way in range(ways) for v in (w, r)]
    for way in range(ways):
        parts += [_gates(half, order, size) for half in mx.nd.split(b[way], 2, axis=0)]
    return mx.nd.concat(*parts, dim=0)


def _gates(v, order, size):
    rows = [v[place * size : (place + 1) * size] for place in order]
    return mx.nd.concat(*rows, dim=0).reshape((-1,))


_INTEGERS = "mxnet's quantized operators have other scales"
MISSING = {
    "Attention": "mxnet has no attention but for interleaved projections",
    "CausalConvWithState": "mxnet has no convolution with a state",
    "ConvInteger": _INTEGERS,
    "DequantizeLinear": _INTEGERS,
    "DynamicQuantizeLinear": _INTEGERS,
    "LinearAttention": "mxnet has no attention but for interleaved projections",
    "MatMulInteger": _INTEGERS,
    "MaxUnpool": "mxnet has no unpooling",
    "QLinearConv": _INTEGERS,
    "QLinearMatMul": _INTEGERS,
    "QuantizeLinear": _INTEGERS,
    "RMSNormalization": "mxnet has no normalization by the root of squares",
    "RotaryEmbedding": "mxnet has no rotary embedding",
    "SwiGLU": "mxnet has no gated unit",
}
