"""JAX: quantized arithmetic, as its users write it: JAX has no types that carry a scale."""

import jax.numpy as jnp

from ..table import composed, unsupported
from .parts import along, is_float, kind
from .rows_neural import ConvInteger as _convolve


def _spread(node, x, t):
    """Return a scale or zero point in a shape that broadcasts to a tensor."""
    if t is None or t.size == 1 and t.ndim < 2:
        return None if t is None else t.reshape(())
    axis = node.get("axis", 1) % x.ndim
    block = node.get("block_size", 0)
    if block:
        return jnp.repeat(t, block, axis)[tuple(slice(n) for n in x.shape)]
    return along(x, t, axis)


def _narrow(node, x, zero, to):
    """Round, shift and saturate."""
    if jnp.issubdtype(to, jnp.floating):
        if str(to) == "float8_e8m0fnu":
            unsupported("rounding to float8e8m0")
        x = x if zero is None else x + zero.astype(x.dtype)
        if node.get("saturate", 1):
            limit = jnp.finfo(to)
            x = jnp.clip(x, jnp.asarray(limit.min, x.dtype), jnp.asarray(limit.max, x.dtype))
        return x.astype(to)
    limit, x = jnp.iinfo(to), jnp.round(x)
    x = x if zero is None else x + zero.astype(x.dtype)
    return jnp.clip(x, int(limit.min), int(limit.max)).astype(to)


@composed
def DequantizeLinear(node, x, scale, zero=None):
    to = kind(node["output_dtype"]) if node.get("output_dtype") else scale.dtype
    factor, offset = _spread(node, x, scale), _spread(node, x, zero)
    if is_float(x):
        wide = x.astype(to)
        wide = wide if zero is None else wide - offset.astype(to)
        return wide * factor.astype(to)
    wide = x.astype("int32")
    wide = wide if zero is None else wide - offset.astype("int32")
    return wide.astype(to) * factor.astype(to)


@composed
def DynamicQuantizeLinear(node, x):
    high, low = jnp.maximum(jnp.max(x), 0), jnp.minimum(jnp.min(x), 0)
    scale = jnp.where(high == low, jnp.ones_like(high), high - low) / 255
    zero = jnp.round(jnp.clip(-low / scale, 0, 255))
    y = jnp.clip(jnp.round(x / scale) + zero, 0, 255)
    return y.astype("uint8"), scale.astype(x.dtype), zero.astype("uint8")


@composed
def MatMulInteger(node, a, b, a_zero=None, b_zero=None):
    return _product(a, b, a_zero, b_zero)


def _product(a, b, a_zero, b_zero):
    if a_zero is None and b_zero is None:
        return jnp.matmul(a, b, preferred_element_type="int32")
    a, b = a.astype("int32"), b.astype("int32")
    if a_zero is not None:
        a_zero = a_zero.astype("int32")
        a = a - (a_zero[..., None] if a_zero.ndim == 1 and a_zero.size > 1 else a_zero)
    return jnp.matmul(a, b if b_zero is None else b - b_zero.astype("int32"))


@composed
def QLinearConv(node, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b=None):
    total = _convolve(node, x, w, x_zero, w_zero)
    total = total if b is None else total + along(total, b, 1)
    factor = x_scale * w_scale / y_scale
    factor = along(total, factor, 1) if factor.size > 1 else factor
    return _narrow(node, total.astype("float32") * factor, y_zero, y_zero.dtype)


@composed
def QLinearMatMul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    total = _product(a, b, a_zero, b_zero).astype("float32")
    factor = a_scale.astype("float32") * b_scale.astype("float32") / y_scale.astype("float32")
    return _narrow(node, total * factor, y_zero, y_zero.dtype)


@composed
def QuantizeLinear(node, x, scale, zero=None):
    if zero is not None:
        to = zero.dtype
    else:
        to = kind(node.get("output_dtype") or 2)
    precise = kind(node["precision"]) if node.get("precision") else scale.dtype
    wide = x.astype(precise) / _spread(node, x, scale).astype(precise)
    return _narrow(node, wide, _spread(node, x, zero), to)
