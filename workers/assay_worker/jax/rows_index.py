"""JAX: gathering, scattering, random numbers and images."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import ndimage

from ..table import composed, unsupported
from .parts import ints, key, kind, values_known, whole
from .resize import resize


@composed
def AffineGrid(node, theta, size):
    extents = ints(size)[2:]
    lines = []
    for extent in extents:
        edge = 1.0 if node.get("align_corners", 0) else 1.0 - 1.0 / extent
        lines.append(jnp.linspace(-edge, edge, extent, dtype=theta.dtype))
    places = list(jnp.meshgrid(*lines, indexing="ij"))[::-1]  # x varies fastest
    places.append(jnp.ones(extents, theta.dtype))
    return jnp.einsum("nij,...j->n...i", theta, jnp.stack(places, -1))


def Bernoulli(node, x):
    to = kind(node["dtype"]) if node.get("dtype") else x.dtype
    return jax.random.bernoulli(key(node), x).astype(to)


def Compress(node, x, condition):
    values_known(condition)
    return jnp.compress(condition, x, node.get("axis"))


def Dropout(node, x, ratio=None, training=None):
    if node.opset < 12:
        return x, jnp.ones(x.shape, x.dtype if node.opset < 10 else bool)
    rate = 0.5 if ratio is None else ratio
    if training is None or not whole(training):
        return x, jnp.ones(x.shape, bool)
    mask = jax.random.bernoulli(key(node), 1.0 - rate, x.shape)
    return jnp.where(mask, x / (1 - rate), 0).astype(x.dtype), mask


def Gather(node, x, indices):
    return jnp.take(x, indices, node.get("axis", 0))


def GatherElements(node, x, indices):
    return jnp.take_along_axis(x, indices, node.get("axis", 0))


def GatherND(node, x, indices):
    def pick(one, places):
        return one[tuple(jnp.moveaxis(places, -1, 0))]

    for _ in range(node.get("batch_dims", 0)):
        pick = jax.vmap(pick)
    return pick(x, indices)


_OUTSIDE = {("zeros", 0): "constant", ("zeros", 1): "constant", ("border", 0): "nearest",
            ("border", 1): "nearest", ("reflection", 0): "reflect", ("reflection", 1): "mirror",
            }  # fmt: skip


@composed
def GridSample(node, x, grid):
    mode, corners = node.get("mode", "linear"), node.get("align_corners", 0)
    order = {"nearest": 0, "linear": 1, "bilinear": 1}.get(mode)
    if order is None:
        unsupported("cubic sampling")
    places = []
    for axis, extent in enumerate(x.shape[2:]):
        at = grid[..., x.ndim - 3 - axis]  # x comes first
        places.append((at + 1) * (extent - 1) / 2 if corners else ((at + 1) * extent - 1) / 2)
    if order == 0:  # halves go to the even neighbor in ONNX, away from zero in SciPy and JAX
        places = [jnp.round(at) for at in places]
    outside = _OUTSIDE[node.get("padding_mode", "zeros"), corners]

    def sample(image, at):
        return ndimage.map_coordinates(image, at, order, outside)

    return jax.vmap(jax.vmap(sample, (0, None)))(x, places)


def Multinomial(node, x):
    draws = node.get("sample_size", 1)
    found = jax.random.categorical(key(node), x[:, None, :], -1, (x.shape[0], draws))
    return found.astype(kind(node.get("dtype", 6)))


@composed
def NonZero(node, x):
    values_known(x)
    return jnp.stack(jnp.nonzero(x)).astype("int64")


@composed
def OneHot(node, indices, depth, values):
    count, places = whole(depth), indices.astype("int64")
    places = jnp.where(places < 0, places + count, places)
    hot = jax.nn.one_hot(places, count, dtype=bool, axis=node.get("axis", -1))
    return jnp.where(hot, values[1], values[0])


def RandomNormal(node):
    return _normal(node, node["shape"], kind(node.get("dtype", 1)))


def RandomNormalLike(node, x):
    return _normal(node, x.shape, kind(node["dtype"]) if node.get("dtype") else x.dtype)


def _normal(node, shape, to):
    drawn = jax.random.normal(key(node), shape, to)
    return drawn * node.get("scale", 1.0) + node.get("mean", 0.0)


def RandomUniform(node):
    return _uniform(node, node["shape"], kind(node.get("dtype", 1)))


def RandomUniformLike(node, x):
    return _uniform(node, x.shape, kind(node["dtype"]) if node.get("dtype") else x.dtype)


def _uniform(node, shape, to):
    return jax.random.uniform(key(node), shape, to, node.get("low", 0.0), node.get("high", 1.0))


@composed
def Resize(node, x, roi=None, scales=None, sizes=None):
    if node.opset < 11:  # then the second input is the scales
        roi, scales = None, roi
    return resize(node, x, roi, scales, sizes)


@composed
def ReverseSequence(node, x, lengths):
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)

    def turn(one, length):
        steps = jnp.arange(one.shape[0])
        return jnp.take(one, jnp.where(steps < length, length - 1 - steps, steps), 0)

    y = jax.vmap(turn)(jnp.moveaxis(x, (batch, time), (0, 1)), lengths)
    return jnp.moveaxis(y, (0, 1), (batch, time))


def Scatter(node, x, indices, updates):
    return ScatterElements(node, x, indices, updates)


def ScatterElements(node, x, indices, updates):
    axis = node.get("axis", 0) % x.ndim
    places = list(jnp.meshgrid(*[jnp.arange(n) for n in indices.shape], indexing="ij"))
    places[axis] = indices
    return _scatter(node, x, tuple(places), updates)


def ScatterND(node, x, indices, updates):
    return _scatter(node, x, tuple(jnp.moveaxis(indices, -1, 0)), updates)


def _scatter(node, x, places, updates):
    how = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}
    return getattr(x.at[places], how[node.get("reduction", "none")])(updates)


@composed
def TensorScatter(node, cache, update, starts=None):
    axis, count = node.get("axis", -2) % cache.ndim - 1, update.shape[node.get("axis", -2)]
    starts = jnp.zeros(cache.shape[0], "int64") if starts is None else starts

    def write(one, new, start):
        if node.get("mode", "linear") == "linear":
            return lax.dynamic_update_slice_in_dim(one, new, start, axis)
        places = (start + jnp.arange(count)) % one.shape[axis]
        return one.at[(slice(None),) * axis + (places,)].set(new)

    return jax.vmap(write)(cache, update, starts)


@composed
def Upsample(node, x, scales=None):
    return resize(node, x, None, node["scales"] if scales is None else scales, None)
