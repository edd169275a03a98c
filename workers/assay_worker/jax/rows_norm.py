"""JAX: normalization, over jax.nn.standardize."""

import jax
import jax.numpy as jnp
from jax import lax

from ..table import composed, unsupported
from .parts import along, kind


@composed
def BatchNormalization(node, x, scale, bias, mean, variance):
    if node.opset < 9 and not node.get("spatial", 1):
        unsupported("statistics for each element")
    epsilon, results = node.get("epsilon", 1e-5), ()
    if node.get("training_mode", 0):
        axes = (0,) + tuple(range(2, x.ndim))
        keep = node.get("momentum", 0.9)
        now, spread = jnp.mean(x, axes), jnp.var(x, axes)
        results = (mean * keep + now * (1 - keep), variance * keep + spread * (1 - keep))
        mean, variance = now, spread
    y = jax.nn.standardize(
        x, 1, mean=along(x, mean, 1), variance=along(x, variance, 1), epsilon=epsilon
    )
    return ((y * along(x, scale, 1) + along(x, bias, 1)).astype(x.dtype),) + results


@composed
def GroupNormalization(node, x, scale, bias):
    groups, channels = node["num_groups"], x.shape[1]
    parts = x.reshape((x.shape[0], groups, -1))
    y = jax.nn.standardize(_wide(node, parts), 2, epsilon=node.get("epsilon", 1e-5))
    y = y.astype(x.dtype).reshape(x.shape)
    if node.opset < 21:  # one factor for each group
        scale, bias = (jnp.repeat(t, channels // groups) for t in (scale, bias))
    return y * along(x, scale, 1) + along(x, bias, 1)


def _wide(node, x):
    """Return a tensor in the precision in which a node wants its statistics."""
    return x.astype(kind(node.get("stash_type", 1))) if x.dtype.itemsize < 4 else x


@composed
def InstanceNormalization(node, x, scale, bias):
    axes = tuple(range(2, x.ndim))
    y = jax.nn.standardize(x, axes, epsilon=node.get("epsilon", 1e-5))
    return y * along(x, scale, 1) + along(x, bias, 1)


@composed
def LayerNormalization(node, x, scale, bias=None):
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    wide, epsilon = _wide(node, x), node.get("epsilon", 1e-5)
    y = jax.nn.standardize(wide, axes, epsilon=epsilon).astype(x.dtype) * scale
    y = y if bias is None else y + bias
    if not node.wants(1) and not node.wants(2):
        return y
    mean = jnp.mean(wide, axes, keepdims=True)
    return y, mean, lax.rsqrt(jnp.var(wide, axes, keepdims=True) + epsilon)


@composed
def LRN(node, x):
    size = node["size"]
    before = (size - 1) // 2
    lead = (1, size) + (1,) * (x.ndim - 2)
    pads = [(0, 0), (before, size - 1 - before)] + [(0, 0)] * (x.ndim - 2)
    sums = lax.reduce_window(jnp.square(x), x.dtype.type(0), lax.add, lead, (1,) * x.ndim, pads)
    base = node.get("bias", 1.0) + node.get("alpha", 1e-4) / size * sums
    return x / jnp.power(base, node.get("beta", 0.75))


def MeanVarianceNormalization(node, x):
    axes = node.get("axes") or [0, 2, 3]
    return jax.nn.standardize(x, tuple(axes), epsilon=1e-9)


@composed
def RMSNormalization(node, x, scale):
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    wide = _wide(node, x)
    mean = jnp.mean(jnp.square(wide), axes, keepdims=True)
    y = wide * lax.rsqrt(mean + node.get("epsilon", 1e-5))
    return y.astype(x.dtype) * scale
