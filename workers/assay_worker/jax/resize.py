"""JAX: how ONNX's Resize is asked of jax.image, of map_coordinates, or of take."""

import math

import jax
import jax.image
import jax.numpy as jnp
from jax.scipy import ndimage

from ..table import unsupported
from .parts import ints, known

_EPSILON = 1e-6


class Axis(object):
    """How an axis is resized: its extents, its scale, and where an output's element lies."""

    def __init__(self, node, before, after, scale, region):
        """Take the extents, the scale (after / before where sizes are told), and start, end."""
        self.before, self.after, self.scale = before, after, scale
        self.region, mode = region, node.get("coordinate_transformation_mode")
        if mode is None:  # Upsample, and Resize before opset 11, know one way only
            mode = "asymmetric" if node.opset < 11 else "half_pixel"
        self.mode = mode

    def place(self, i):
        """Return the coordinate in the input of an element of the output."""
        if self.mode == "half_pixel" or (self.mode == "pytorch_half_pixel" and self.after > 1):
            return (i + 0.5) / self.scale - 0.5
        if self.mode == "pytorch_half_pixel":
            return 0.0
        if self.mode == "tf_half_pixel_for_nn":
            return (i + 0.5) / self.scale
        if self.mode == "asymmetric":
            return i / self.scale
        if self.mode == "align_corners":
            return (
                0.0 if self.after == 1 else i * (self.before - 1) / (self.scale * self.before - 1)
            )
        if self.mode == "half_pixel_symmetric":
            shift = self.before / 2.0 * (1 - self.after / (self.scale * self.before))
            return shift + (i + 0.5) / self.scale - 0.5
        if self.mode == "tf_crop_and_resize":
            start, end = self.region
            if self.after == 1:
                return 0.5 * (start + end) * (self.before - 1)
            step = (end - start) * (self.before - 1) / (self.scale * self.before - 1)
            return start * (self.before - 1) + i * step
        return unsupported("coordinates %s" % self.mode)

    def places(self):
        """Return all coordinates."""
        return [self.place(i) for i in range(self.after)]

    def plain(self):
        """Tell whether the positions are those of jax.image.resize."""
        return self.mode in ("half_pixel", "half_pixel_symmetric") and (
            abs(self.scale * self.before - self.after) < _EPSILON
        )


def resize(node, x, region, scales, sizes):
    """Return a tensor resized."""
    axes = _axes(node, x, region, scales, sizes)
    mode = node.get("mode", "nearest")
    if mode == "nearest":
        return _nearest(node, x, axes)
    if mode == "cubic":
        return _cubic(node, x, axes)
    small = any(one.scale < 1 for one in axes.values())
    if node.get("antialias", 0) and small and not node.get("exclude_outside", 0):
        unsupported("antialiased samples beyond the edge")
    plain = all(one.plain() for one in axes.values())
    if node.get("antialias", 0) and not plain:
        return _scaled(node, x, axes, "linear")
    if plain:
        shape = [axes[i].after if i in axes else n for i, n in enumerate(x.shape)]
        return jax.image.resize(x, shape, "linear", antialias=bool(node.get("antialias", 0)))
    return _linear(node, x, axes)


def _axes(node, x, region, scales, sizes):
    """Return the axes that change, by number."""
    chosen = [axis % x.ndim for axis in node.get("axes") or range(x.ndim)]
    sizes = ints(sizes) if sizes is not None and sizes.size else None
    if sizes is None:
        factors = scales if isinstance(scales, list) else known(scales)
        extents = [int(math.floor(x.shape[a] * f)) for a, f in zip(chosen, factors)]
    else:
        factors, extents = _policy(node, [x.shape[a] for a in chosen], sizes)
    regions = [(0.0, 1.0)] * len(chosen)
    if node.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        numbers = known(region)
        regions = list(zip(numbers[: len(chosen)], numbers[len(chosen) :]))
    found = {}
    for axis, factor, extent, part in zip(chosen, factors, extents, regions):
        if extent != x.shape[axis] or factor != 1.0 or part != (0.0, 1.0):
            found[axis] = Axis(node, x.shape[axis], extent, factor, part)
    return found


def _policy(node, before, sizes):
    ratios = [size / float(extent) for size, extent in zip(sizes, before)]
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return ratios, sizes
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [ratio] * len(sizes), [int(math.floor(ratio * n + 0.5)) for n in before]


_ROUND = {
    "round_prefer_floor": lambda at: math.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: math.floor(at + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def _nearest(node, x, axes):
    how = node.get("nearest_mode", "floor" if node.opset < 11 else "round_prefer_floor")
    crop = any(one.mode == "tf_crop_and_resize" for one in axes.values())
    chosen, ours = {}, True
    for axis, one in axes.items():
        chosen[axis] = [int(min(max(_ROUND[how](at), 0), one.before - 1)) for at in one.places()]
        theirs = [int((i + 0.5) * one.before / one.after) for i in range(one.after)]
        ours = ours and chosen[axis] == theirs
    if ours and not crop:
        shape = [axes[i].after if i in axes else n for i, n in enumerate(x.shape)]
        return jax.image.resize(x, shape, "nearest")
    if crop and any(not 0 <= at <= o.before - 1 for o in axes.values() for at in o.places()):
        unsupported("extrapolation")
    for axis, places in chosen.items():
        x = jnp.take(x, jnp.array(places, "int64"), axis)
    return x


def _linear(node, x, axes):
    """Sample where jax.image.resize does not; outside counts the edge."""
    order = sorted(axes)
    lines = [jnp.array(axes[axis].places(), x.dtype) for axis in order]
    grid = jnp.meshgrid(*lines, indexing="ij")

    def sample(part):
        return ndimage.map_coordinates(part, grid, 1, "nearest")

    rest = [axis for axis in range(x.ndim) if axis not in axes]
    back = sorted(range(x.ndim), key=(rest + order).__getitem__)
    moved = jnp.transpose(x, rest + order)
    for _ in rest:
        sample = jax.vmap(sample)
    y = jnp.transpose(sample(moved), back)
    return _extrapolated(node, y, axes)


def _extrapolated(node, y, axes):
    for axis, one in axes.items():
        outside = [not 0 <= at <= one.before - 1 for at in one.places()]
        if one.mode == "tf_crop_and_resize" and any(outside):
            shape = [-1 if i == axis else 1 for i in range(y.ndim)]
            value = node.get("extrapolation_value", 0.0)
            y = jnp.where(jnp.array(outside).reshape(shape), value, y).astype(y.dtype)
    return y


def _cubic(node, x, axes):
    if abs(node.get("cubic_coeff_a", -0.75) + 0.5) > _EPSILON:
        unsupported("a cubic coefficient other than -0.5")
    if not node.get("exclude_outside", 0):
        unsupported("cubic samples beyond the edge")
    return _scaled(node, x, axes, "cubic")


def _scaled(node, x, axes, method):
    """Ask scale_and_translate, whose positions are (i + 0.5 - shift) / scale - 0.5."""
    order, scales, shifts = sorted(axes), [], []
    for axis in order:
        one = axes[axis]
        first, second = one.place(0), one.place(1)
        if (
            min(first, one.place(one.after - 1)) < -0.5
            or max(first, one.place(one.after - 1)) > one.before - 0.5
        ):
            unsupported("samples beyond the edge")
        scale = 1.0 / (second - first) if second != first else one.scale
        scales.append(scale)
        shifts.append(0.5 - (first + 0.5) * scale)
    shape = [axes[i].after if i in axes else n for i, n in enumerate(x.shape)]
    return jax.image.scale_and_translate(
        x, shape, order, jnp.array(scales, "float32"), jnp.array(shifts, "float32"), method,
        antialias=bool(node.get("antialias", 0)),
    )  # fmt: skip
