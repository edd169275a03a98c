"""PyTorch: convolution, pooling, normalization, dropout, losses."""

import torch
from torch.nn import functional

from ..table import composed, since, unsupported
from .parts import RELEASE, by_rank, interleaved, ints, lowest, number, padding


@composed
def AveragePool(node, x):
    kernel, strides, begins, ends, ceil = _window(node, x)
    if any(d != 1 for d in node.get("dilations", [])):
        unsupported("dilations")
    pool = by_rank(x, functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)
    counted = bool(node.get("count_include_pad", 0))
    if begins == ends:
        return pool(x, kernel, strides, begins, ceil, counted)
    pads = interleaved(begins, ends)
    sums = pool(functional.pad(x, pads), kernel, strides, 0, ceil)
    if counted:
        return sums
    return sums / pool(functional.pad(torch.ones_like(x), pads), kernel, strides, 0, ceil)


def BatchNormalization(node, x, scale, bias, mean, variance):
    epsilon, momentum = node.get("epsilon", 1e-5), node.get("momentum", 0.9)
    if not node.get("training_mode", 0):
        return functional.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)
    y = functional.batch_norm(x, None, None, scale, bias, True, 0.0, epsilon)
    axes = [n for n in range(x.dim()) if n != 1]  # torch's running variance is the unbiased one
    means, variances = torch.mean(x, axes), torch.var(x, axes, unbiased=False)
    return (
        y,
        mean * momentum + means.to(mean.dtype) * (1 - momentum),
        variance * momentum + variances.to(variance.dtype) * (1 - momentum),
    )


@composed
def CausalConvWithState(node, x, w, b=None, past=None):
    reach = w.shape[-1] - 1
    padded = functional.pad(x, [reach, 0]) if past is None else torch.cat([past, x], -1)
    y = functional.conv1d(padded, w, b, groups=x.shape[1])
    activation = node.get("activation", "none")
    if activation != "none":
        y = functional.silu(y) if RELEASE >= (1, 7) else y * torch.sigmoid(y)
    return y, padded.narrow(-1, padded.shape[-1] - reach, reach)


def Conv(node, x, w, b=None):
    function = by_rank(x, functional.conv1d, functional.conv2d, functional.conv3d)
    rank = x.dim() - 2
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    group = node.get("group", 1)
    if RELEASE >= (1, 9) and node.get("auto_pad") == "SAME_UPPER" and set(strides) == {1}:
        return function(x, w, b, strides, "same", dilations, group)
    begins, ends = padding(node, x, list(w.shape[2:]), strides, dilations)
    if begins != ends:
        x, begins = functional.pad(x, interleaved(begins, ends)), [0] * rank
    return function(x, w, b, strides, begins, dilations, group)


def ConvTranspose(node, x, w, b=None):
    function = by_rank(
        x, functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d
    )
    rank, shape = x.dim() - 2, node.get("output_shape")
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    more, group = node.get("output_padding", [0] * rank), node.get("group", 1)
    auto = node.get("auto_pad", "NOTSET")
    whole = [
        (extent - 1) * stride + (k - 1) * dilation + 1 + extra
        for extent, stride, k, dilation, extra in zip(
            x.shape[2:], strides, w.shape[2:], dilations, more
        )
    ]
    if shape or auto.startswith("SAME"):
        shape = shape or [extent * stride for extent, stride in zip(x.shape[2:], strides)]
        total = [have - want for have, want in zip(whole, shape[-rank:])]
        begins = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in total]
        ends = [t - begin for t, begin in zip(total, begins)]
    else:
        begins, ends = padding(node, x, list(w.shape[2:]), strides, dilations)
    if begins == ends:
        return function(x, w, b, strides, begins, more, group, dilations)
    y = function(x, w, b, strides, 0, more, group, dilations)
    return functional.pad(y, interleaved([-n for n in begins], [-n for n in ends]))


def Dropout(node, x, ratio=None, training=None):
    if node.opset < 12:
        training, share = False, node.get("ratio", 0.5)
    else:
        training, share = bool(number(training, False)), number(ratio, 0.5)
    if not training:
        mask_kind = torch.bool if node.opset >= 10 else x.dtype
        return functional.dropout(x, share, False), torch.ones_like(x, dtype=mask_kind)
    if not node.wants(1):
        return functional.dropout(x, share, True)
    if RELEASE < (1, 11):
        unsupported("the mask of a dropout")
    return tuple(torch.native_dropout(x, share, True))


def GlobalAveragePool(node, x):
    pools = (functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d)
    return by_rank(x, *(pools + (functional.adaptive_avg_pool3d,)))(x, 1)


@composed
def GlobalLpPool(node, x):
    order, axes = node.get("p", 2), list(range(2, x.dim()))
    if RELEASE >= (1, 9):
        return torch.linalg.vector_norm(x, order, axes, True)
    return torch.norm(x, order, axes, True)


def GlobalMaxPool(node, x):
    pools = (functional.adaptive_max_pool1d, functional.adaptive_max_pool2d)
    return by_rank(x, *(pools + (functional.adaptive_max_pool3d,)))(x, 1)


def GroupNormalization(node, x, scale, bias):
    groups = node["num_groups"]
    if node.opset < 21:  # one scale for a group
        repeats = x.shape[1] // scale.shape[0]
        scale, bias = (part.repeat_interleave(repeats) for part in (scale, bias))
    return functional.group_norm(x, groups, scale, bias, node.get("epsilon", 1e-5))


def InstanceNormalization(node, x, scale, bias):
    return functional.instance_norm(
        x, weight=scale, bias=bias, use_input_stats=True, eps=node.get("epsilon", 1e-5)
    )


def LayerNormalization(node, x, scale, bias=None):
    axis = node.get("axis", -1) % x.dim()
    shape, epsilon = list(x.shape[axis:]), node.get("epsilon", 1e-5)
    scale = scale.expand(shape)
    bias = bias if bias is None else bias.expand(shape)
    if not node.wants(1) and not node.wants(2):
        return functional.layer_norm(x, shape, scale, bias, epsilon)
    if RELEASE < (1, 8):
        unsupported("the mean of a layer's normalization")
    y, mean, deviation = torch.native_layer_norm(x, shape, scale, bias, epsilon)
    stash = torch.float64 if x.dtype == torch.float64 else torch.float32
    return y, mean.to(stash), deviation.to(stash)


@composed
def LpPool(node, x):
    kernel, strides, begins, ends, ceil = _window(node, x)
    if any(d != 1 for d in node.get("dilations", [])):
        unsupported("dilations")
    pool = by_rank(
        x, functional.lp_pool1d, functional.lp_pool2d, getattr(functional, "lp_pool3d", None)
    )
    order = node.get("p", 2)
    x = torch.abs(x) if order % 2 else x  # torch's root is of the sum with signs
    if any(begins) or any(ends):
        x = functional.pad(x, interleaved(begins, ends))
    if x.dim() == 3:
        kernel, strides = kernel[0], strides[0]
    return pool(x, float(order), kernel, strides, ceil)


def LRN(node, x):
    size = node["size"]
    options = (node.get("alpha", 1e-4), node.get("beta", 0.75), node.get("bias", 1.0))
    if size % 2:
        return functional.local_response_norm(x, size, *options)
    # An even window reaches further back in torch and further on in ONNX.
    return functional.local_response_norm(x.flip(1), size, *options).flip(1)


def MaxPool(node, x):
    kernel, strides, begins, ends, ceil = _window(node, x)
    dilations = node.get("dilations", [1] * len(kernel))
    pool = by_rank(x, functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)
    if begins != ends:
        if node.wants(1):
            unsupported("indices with unequal padding")
        x = functional.pad(x, interleaved(begins, ends), value=lowest(x.dtype))
        begins = [0] * len(begins)
    if not node.wants(1):
        return pool(x, kernel, strides, begins, dilations, ceil)
    y, index = pool(x, kernel, strides, begins, dilations, ceil, return_indices=True)
    if node.get("storage_order", 0):
        index = _by_columns(index, list(x.shape[2:]))
    return y, index + _plane_starts(x, index)


def MaxUnpool(node, x, index, output_shape=None):
    kernel, rank = node["kernel_shape"], len(node["kernel_shape"])
    strides, pads = node.get("strides", [1] * rank), node.get("pads", [0] * (2 * rank))
    function = by_rank(x, functional.max_unpool1d, functional.max_unpool2d, functional.max_unpool3d)
    extents = [
        (extent - 1) * stride - pads[n] - pads[n + rank] + k
        for n, (extent, stride, k) in enumerate(zip(x.shape[2:], strides, kernel))
    ]
    # Places are those in planes of the plain size, even where the result is larger.
    plain = torch.zeros(1).expand(list(x.shape[:2]) + extents)
    index = index - _plane_starts(plain, index)
    y = function(x, index, kernel, strides, pads[:rank], list(x.shape[:2]) + extents)
    wanted = ints(output_shape)
    if wanted is None or wanted[2:] == extents:
        return y
    more = [want - have for want, have in zip(wanted[2:], extents)]
    return functional.pad(y, interleaved([0] * rank, more))


def NegativeLogLikelihoodLoss(node, x, target, weight=None):
    return functional.nll_loss(
        x,
        target.to(torch.int64),
        weight,
        ignore_index=node.get("ignore_index", -100),
        reduction=node.get("reduction", "mean"),
    )


@since("2.4")
def RMSNormalization(node, x, scale):
    shape = list(x.shape[node.get("axis", -1) % x.dim() :])
    return functional.rms_norm(x, shape, scale.expand(shape), node.get("epsilon", 1e-5))


def SoftmaxCrossEntropyLoss(node, x, target, weight=None):
    loss = functional.cross_entropy(
        x,
        target.to(torch.int64),
        weight,
        ignore_index=node.get("ignore_index", -100),
        reduction=node.get("reduction", "mean"),
    )
    return (loss, torch.log_softmax(x, 1)) if node.wants(1) else loss


def _by_columns(index, extents):
    """Return places in planes whose first axis runs fastest."""
    moved, factor = torch.zeros_like(index), 1
    steps = [1]
    for extent in extents[:0:-1]:
        steps.insert(0, steps[0] * extent)
    for extent, step in zip(extents, steps):
        place = torch.remainder(torch.div(index, step, **_ROUNDED), extent)
        moved, factor = moved + place * factor, factor * extent
    return moved


_ROUNDED = {"rounding_mode": "floor"} if RELEASE >= (1, 8) else {}


def _plane_starts(x, index):
    """Return where in a tensor the plane of each index starts."""
    planes = torch.arange(x.shape[:2].numel()) * x.shape[2:].numel()
    return planes.reshape(list(index.shape[:2]) + [1] * (index.dim() - 2))


def _window(node, x):
    """Return kernel, strides, padding's begins and ends, and whether sizes are rounded up."""
    kernel = node["kernel_shape"]
    rank = len(kernel)
    strides = node.get("strides", [1] * rank)
    dilations = node.get("dilations", [1] * rank)
    begins, ends = padding(node, x, kernel, strides, dilations)
    return kernel, strides, begins, ends, bool(node.get("ceil_mode", 0))
