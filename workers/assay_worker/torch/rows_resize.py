"""PyTorch: images of another size."""

import math

from torch.nn import functional

from ..table import unsupported
from .parts import RELEASE, ints

_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def Resize(node, x, *inputs):
    inputs = list(inputs) + [None] * 3
    scales, sizes = ints(inputs[0] if node.opset < 11 else inputs[1]), ints(inputs[2])
    axes = node.get("axes") or list(range(x.dim()))
    if not scales:
        sizes, scales = _fitted(node, x, axes, sizes), None
    every = [1.0] * x.dim() if scales else list(x.shape)
    for axis, value in zip(axes, scales or sizes):
        every[axis] = value
    if node.opset < 11:  # that opset says no more than "upsample"
        transform, nearest = "asymmetric", "floor"
    else:
        transform = node.get("coordinate_transformation_mode", "half_pixel")
        nearest = node.get("nearest_mode", "round_prefer_floor")
    return _resized(node, x, every if scales else None, every, transform, nearest)


def Upsample(node, x, scales=None):
    if node.opset < 7:
        unsupported("Upsample before opset 7")
    scales = ints(scales) if node.opset >= 9 else node["scales"]
    return _resized(node, x, scales, scales, "asymmetric", "floor")


def _fitted(node, x, axes, sizes):
    """Return sizes that keep the image's proportions, if a node wants that."""
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes
    ratios = [size / float(x.shape[axis]) for axis, size in zip(axes, sizes)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [int(math.floor(ratio * x.shape[axis] + 0.5)) for axis in axes]


def _interpolated(node, image, scales, every, transform, nearest):
    """Call torch's interpolation if it has what a node wants."""
    extents, mode = list(image.shape[2:]), node.get("mode", "nearest")
    sizes = [int(math.floor(e * s)) for e, s in zip(extents, scales)] if scales else every
    factors = scales or [size / float(extent) for size, extent in zip(sizes, extents)]
    exact = all(size == e * f for size, e, f in zip(sizes, extents, factors))
    options = {"size": sizes}
    if scales and not exact:
        if RELEASE < (1, 5):
            unsupported("scales that give no whole size")
        options = {"scale_factor": scales}
    if mode == "nearest":
        options["mode"] = _nearest(extents, sizes, factors, transform, nearest, exact or not scales)
        return functional.interpolate(image, **options)
    if transform == "half_pixel_symmetric" and (exact or not scales):
        transform = "half_pixel"
    if transform == "pytorch_half_pixel" and all(s > 1 or e == 1 for s, e in zip(sizes, extents)):
        transform = "half_pixel"
    if transform == "align_corners" and scales and not exact:
        unsupported("align_corners with scales that give no whole size")
    if transform not in ("half_pixel", "align_corners"):
        unsupported("coordinate_transformation_mode=%s" % transform)
    options["mode"] = "bicubic" if mode == "cubic" else _LINEAR[len(extents)]
    if mode == "cubic" and len(extents) != 2:
        unsupported("cubic in %d-d" % len(extents))
    _check_weights(node, mode)
    if node.get("antialias", 0):
        options["antialias"] = True
    return functional.interpolate(image, align_corners=transform == "align_corners", **options)


def _check_weights(node, mode):
    """Refuse weights that are not torch's: smoothed ones leave out what lies outside."""
    smooth, outside = node.get("antialias", 0), node.get("exclude_outside", 0)
    if smooth and RELEASE < (1, 11):
        unsupported("antialias")
    if bool(smooth) != bool(outside):
        unsupported("exclude_outside=%d with antialias=%d" % (outside, smooth))
    coefficient = -0.5 if smooth else -0.75
    if mode == "cubic" and abs(node.get("cubic_coeff_a", -0.75) - coefficient) > 1e-6:
        unsupported("cubic_coeff_a=%g" % node.get("cubic_coeff_a", -0.75))


def _nearest(extents, sizes, factors, transform, nearest, exact):
    """Return which of torch's two ways takes the elements that ONNX takes."""
    wanted = [_places(*axis, transform=transform, nearest=nearest, exact=exact)
              for axis in zip(extents, sizes, factors)]  # fmt: skip
    for mode, shift in (("nearest", 0.0), ("nearest-exact", 0.5)):
        if mode == "nearest-exact" and RELEASE < (1, 11):
            continue
        taken = [
            [min(int((place + shift) / factor), extent - 1) for place in range(size)]
            for extent, size, factor in zip(extents, sizes, factors)
        ]
        if taken == wanted:
            return mode
    return unsupported("%s with %s" % (nearest, transform))


def _places(extent, size, factor, transform, nearest, exact):
    """Return which element each one of an axis is, by ONNX's formulas."""
    places = []
    for place in range(size):
        if transform == "asymmetric":
            at = place / float(factor)
        elif transform == "align_corners" and exact:
            at = place * (extent - 1) / float(size - 1) if size > 1 else 0.0
        elif transform == "half_pixel" or (transform == "half_pixel_symmetric" and exact):
            at = (place + 0.5) / factor - 0.5
        elif transform == "pytorch_half_pixel":
            at = (place + 0.5) / factor - 0.5 if size > 1 else 0.0
        else:
            unsupported("coordinate_transformation_mode=%s" % transform)
        whole = {
            "floor": math.floor,
            "ceil": math.ceil,
            "round_prefer_floor": lambda at: math.ceil(at - 0.5),
            "round_prefer_ceil": lambda at: math.floor(at + 0.5),
        }[nearest](at)
        places.append(min(max(int(whole), 0), extent - 1))
    return places


def _resized(node, x, scales, every, transform, nearest):
    """Resize by scales, or to sizes (`every` is either): torch does so on the last axes."""
    first, rank = 0, x.dim()
    while first < rank - 1 and every[first] == (1 if scales else x.shape[first]):
        first += 1
    if node.get("mode", "nearest") == "cubic":
        first = min(first, max(rank - 2, 0))
    elif first > 2 and rank <= 5:
        first = 2
    if not 1 <= rank - first <= 3:
        unsupported("resizing %d axes" % (rank - first))
    lead = x.shape[:first]
    image = x if first == 2 else x.reshape((1, lead.numel()) + tuple(x.shape[first:]))
    y = _interpolated(node, image, scales and every[first:], every[first:], transform, nearest)
    return y if first == 2 else y.reshape(tuple(lead) + tuple(y.shape[2:]))
