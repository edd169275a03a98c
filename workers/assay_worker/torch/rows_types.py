"""PyTorch: element types, and integers that stand for real numbers."""

import torch
from torch.nn import functional

from ..table import composed, since, unsupported
from .parts import RELEASE, interleaved, kind, number, padding

_EIGHTS = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
# Later releases have no other conversion to the type without infinity.
_SATURATES = "float8_e4m3fn" in vars(torch) and bool(
    torch.isfinite(torch.tensor(float("inf")).to(torch.float8_e4m3fn).to(torch.float32))
)
_FLOAT8 = [getattr(torch, name) for name in _EIGHTS if hasattr(torch, name)]


@since("1.7")
def BitCast(node, x):
    return x.view(kind(node["to"]))


def Cast(node, x):
    return _cast(node, x, kind(node["to"]))


def CastLike(node, x, like):
    return _cast(node, x, like.dtype)


@composed
def ConvInteger(node, x, w, x_zero=None, w_zero=None):
    rank = x.dim() - 2
    function = {3: functional.conv1d, 4: functional.conv2d, 5: functional.conv3d}[x.dim()]
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    begins, ends = padding(node, x, list(w.shape[2:]), strides, dilations)
    x = functional.pad(_centered(x, x_zero, 1), interleaved(begins, ends))
    w = _centered(w, w_zero, 0)
    return function(x, w, None, strides, 0, dilations, node.get("group", 1))


@composed
def DequantizeLinear(node, x, scale, zero=None):
    output = kind(node.get("output_dtype")) if node.get("output_dtype") else scale.dtype
    scale, zero = (_spread(node, x, part) for part in (scale, zero))
    y = x.to(scale.dtype)
    if zero is not None:
        y = y - zero.to(scale.dtype)
    return (y * scale).to(output)


@since("1.10")
def DynamicQuantizeLinear(node, x):
    y = torch.quantize_per_tensor_dynamic(x, torch.quint8, False)
    scale = torch.tensor(y.q_scale(), dtype=torch.float32)
    return y.int_repr(), scale, torch.tensor(y.q_zero_point(), dtype=torch.uint8)


@composed
def MatMulInteger(node, a, b, a_zero=None, b_zero=None):
    return torch.matmul(_centered(a, a_zero, -2), _centered(b, b_zero, -1))


def QuantizeLinear(node, x, scale, zero=None):
    if zero is not None:
        target = zero.dtype
    else:
        target = kind(node.get("output_dtype") or 2)
    own = {torch.uint8: torch.quint8, torch.int8: torch.qint8}.get(target)
    if own is None or x.dtype != torch.float32 or scale.dtype != x.dtype or node.get("block_size"):
        return _quantized(node, x, scale, zero, target)
    if scale.numel() == 1:
        return torch.quantize_per_tensor(x, number(scale), number(zero, 0), own).int_repr()
    zeros = torch.zeros(scale.shape, dtype=torch.int64) if zero is None else zero
    axis = node.get("axis", 1) % x.dim()
    return torch.quantize_per_channel(x, scale, zeros.to(torch.int64), axis, own).int_repr()


@composed
def QLinearConv(node, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b=None):
    unsupported("unsigned weights") if w.dtype == torch.uint8 else None
    if x.dim() != 4 or x.dtype != torch.uint8 or w_scale.numel() != 1:
        unsupported("such a quantized convolution")
    strides, dilations = node.get("strides", [1, 1]), node.get("dilations", [1, 1])
    begins, ends = padding(node, x, list(w.shape[2:]), strides, dilations)
    if begins != ends:
        unsupported("unequal padding")
    x = _as_quantized(x, x_scale, x_zero)
    w = _as_quantized(w, w_scale, w_zero)
    b = None if b is None else b.to(torch.float32) * (number(x_scale) * number(w_scale))
    y = torch.nn.quantized.functional.conv2d(
        x, w, b, strides, begins, dilations, node.get("group", 1),
        scale=number(y_scale), zero_point=number(y_zero),
    )  # fmt: skip
    return y.int_repr()


@since("1.10")
def QLinearMatMul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    if a_scale.numel() != 1 or b_scale.numel() != 1 or y_scale.numel() != 1:
        unsupported("scales of rows or columns")
    a, b = _as_quantized(a, a_scale, a_zero), _as_quantized(b, b_scale, b_zero)
    return torch.ops.quantized.matmul(a, b, number(y_scale), number(y_zero)).int_repr()


def _as_quantized(x, scale, zero):
    """Return integers as torch's quantized tensor of the numbers they stand for."""
    if scale.dtype != torch.float32:
        unsupported("%s scales" % scale.dtype)
    return torch._make_per_tensor_quantized_tensor(x, number(scale), number(zero))


def _cast(node, x, target):
    if target not in _FLOAT8:
        if hasattr(torch, "float8_e8m0fnu") and target == torch.float8_e8m0fnu:
            unsupported("rounding to float8_e8m0fnu")
        return x.to(target)
    if node.get("saturate", 1):  # torch's conversion goes to infinity, or to no number
        most = torch.finfo(target).max
        x = torch.clamp(x.to(torch.float32), -most, most)
    elif _SATURATES and target == torch.float8_e4m3fn:
        unsupported("saturate=0")
    return x.to(target)


def _centered(x, zero, axis):
    """Return integers less their zero point, wide enough to be multiplied."""
    x = x.to(torch.int32)
    if zero is None:
        return x
    zero = zero.to(torch.int32)
    if zero.numel() == 1:
        return x - zero.reshape(())
    if zero.dim() > 1:
        return x - zero
    shape = [1] * x.dim()
    shape[axis] = zero.numel()
    return x - zero.reshape(shape)


def _quantized(node, x, scale, zero, target):
    """Quantize to a type that torch's own call has not."""
    precision = node.get("precision", 0)
    precise = kind(precision) if precision else scale.dtype
    scale, zero = (_spread(node, x, part) for part in (scale, zero))
    y = x.to(precise) / scale.to(precise)
    if target in _FLOAT8:
        return _cast(node, y if zero is None else y + zero.to(precise), target)
    y = torch.round(y)
    y = y if zero is None else y + zero.to(precise)
    return torch.clamp(y, torch.iinfo(target).min, torch.iinfo(target).max).to(target)


def _spread(node, x, part):
    """Return a scale or a zero point in the shape that goes with a tensor's elements."""
    if part is None or part.numel() == 1:
        return part if part is None else part.reshape(())
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    if part.dim() == 1 and not block:
        shape = [1] * x.dim()
        shape[axis] = part.numel()
        return part.reshape(shape)
    if RELEASE < (1, 8):
        unsupported("blocks")
    return part.repeat_interleave(block, axis).narrow(axis, 0, x.shape[axis])
