"""TensorFlow: pictures and signals."""

import math

import tensorflow as tf

from ..table import composed, unsupported
from .parts import dims, dtype, floats, ints, moved_last, rank


def DFT(node, x, length=None, axis=None):
    place = node.get("axis", 1) if node.opset < 20 else (-2 if axis is None else ints(axis)[0])
    place %= rank(x)
    inverse, onesided = node.get("inverse", 0), node.get("onesided", 0)
    whole = x.shape[-1] == 2
    signal = tf.complex(x[..., 0], x[..., 1]) if whole else x[..., 0]
    signal, back = moved_last(signal, place)
    count = signal.shape[-1] if length is None else ints(length)[0]
    if onesided and inverse:
        if length is None:
            count = 2 * (count - 1)
        result = tf.signal.irfft(signal, [count])
        return tf.expand_dims(tf.transpose(result, back), -1)
    if onesided and whole:
        unsupported("half of a complex signal's transform")
    if onesided:
        result = tf.signal.rfft(signal, [count])
    else:
        have = signal.shape[-1]
        signal = signal if have <= count else signal[..., :count]
        signal = tf.pad(signal, [(0, 0)] * (rank(x) - 2) + [(0, max(count - have, 0))])
        if not whole:
            signal = tf.complex(signal, tf.zeros_like(signal))
        result = tf.signal.ifft(signal) if inverse else tf.signal.fft(signal)
    result = tf.transpose(result, back)
    return tf.stack([tf.math.real(result), tf.math.imag(result)], -1)


def HannWindow(node, size):
    return _window(tf.signal.hann_window, node, size)


def _window(function, node, size):
    kind = dtype(node.get("output_datatype", 1))
    if not kind.is_floating:
        unsupported("a window of %s" % kind.name)
    return function(ints(size)[0], bool(node.get("periodic", 1)), kind)


@composed
def ImageDecoder(node, data):
    # TensorFlow reads pictures from texts: one letter for each byte.
    letters = tf.constant([bytes(bytearray([n])) for n in range(256)])
    text = tf.strings.reduce_join(tf.gather(letters, tf.cast(data, tf.int32)))
    form = node.get("pixel_format", "RGB")
    if ints(data[:2]) == [255, 216]:  # the default is a faster, less exact, transform
        channels = 1 if form == "Grayscale" else 3
        picture = tf.io.decode_jpeg(text, channels, dct_method="INTEGER_ACCURATE")
        return tf.reverse(picture, [2]) if form == "BGR" else picture
    picture = tf.io.decode_image(text, 1 if form == "Grayscale" else 3, expand_animations=False)
    return tf.reverse(picture, [2]) if form == "BGR" else picture


@composed
def NonMaxSuppression(node, boxes, scores, limit=None, overlap=None, least=None):
    count = 0 if limit is None else ints(limit)[0]
    overlap = 0.0 if overlap is None else floats(overlap)[0]
    least = float("-inf") if least is None else floats(least)[0]
    if node.get("center_point_box", 0):
        x, y, wide, high = tf.split(boxes, 4, axis=2)
        boxes = tf.concat([y - high / 2, x - wide / 2, y + high / 2, x + wide / 2], 2)
    found = [tf.zeros([0, 3], tf.int64)]
    for batch in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            kept = tf.image.non_max_suppression(
                boxes[batch], scores[batch, kind], count, overlap, least
            )
            kept = tf.cast(kept, tf.int64)
            row = [tf.fill(tf.shape(kept), tf.cast(n, tf.int64)) for n in (batch, kind)]
            found.append(tf.stack(row + [kept], 1))
    return tf.concat(found, 0)


def Resize(node, x, roi=None, scales=None, sizes=None):
    if node.opset < 11:
        scales, roi = roi, None
    factors, wanted, roi = _sizes(node, x, roi, scales, sizes)
    how = node.get("coordinate_transformation_mode", "half_pixel")
    if node.opset < 11:
        how = "asymmetric"
    return _resize(node, x, factors, wanted, how, roi)


def Upsample(node, x, scales=None):
    factors = node.get("scales") if scales is None else floats(scales)
    wanted = [int(math.floor(n * f)) for n, f in zip(dims(x), factors)]
    return _resize(node, x, factors, wanted, "asymmetric", None)


def _sizes(node, x, roi, scales, sizes):
    """Return the factor, the new length and the region's (start, end) of each axis."""
    have, count = dims(x), rank(x)
    axes = [axis % count for axis in node.get("axes", list(range(count)))]
    region = [(0.0, 1.0)] * count
    if roi is not None and roi.shape[0] != 0:
        numbers = floats(roi)
        for place, axis in enumerate(axes):
            region[axis] = (numbers[place], numbers[place + len(axes)])
    factors, wanted = [1.0] * count, list(have)
    if scales is not None and scales.shape[0] != 0:
        cropped = node.get("coordinate_transformation_mode", "") == "tf_crop_and_resize"
        for axis, factor in zip(axes, floats(scales)):
            part = region[axis][1] - region[axis][0] if cropped else 1.0
            factors[axis], wanted[axis] = factor, int(math.floor(have[axis] * part * factor))
        return factors, wanted, region
    asked, policy = ints(sizes), node.get("keep_aspect_ratio_policy", "stretch")
    ratios = [float(n) / have[axis] for axis, n in zip(axes, asked)]
    for axis, n, ratio in zip(axes, asked, ratios):
        wanted[axis], factors[axis] = n, ratio
        if policy != "stretch":
            factors[axis] = min(ratios) if policy == "not_larger" else max(ratios)
            wanted[axis] = int(math.floor(factors[axis] * have[axis] + 0.5))
    return factors, wanted, region


def _resize(node, x, factors, wanted, how, region):
    """Resize at most two axes, which TensorFlow calls height and width."""
    have = dims(x)
    crop = how == "tf_crop_and_resize"
    chosen = [i for i in range(rank(x)) if wanted[i] != have[i] or factors[i] != 1.0]
    if crop:
        chosen = sorted(set(chosen) | {i for i in range(rank(x)) if region[i] != (0.0, 1.0)})
    if len(chosen) > 2:
        unsupported("resizing more than two axes")
    if not chosen:
        return tf.identity(x)
    rest = [i for i in range(rank(x)) if i not in chosen]
    order = rest[:1] + chosen + rest[1:]
    lengths = [have[i] for i in chosen] + [1] * (2 - len(chosen))
    goal = [wanted[i] for i in chosen] + [1] * (2 - len(chosen))
    channels = 1
    for axis in rest[1:]:
        channels *= have[axis]
    picture = tf.reshape(
        tf.transpose(x, order), [have[rest[0]] if rest else 1] + lengths + [channels]
    )
    if crop:
        picture = _crop(node, picture, [region[i] for i in chosen], goal)
    else:
        scale = [factors[i] for i in chosen] + [1.0] * (2 - len(chosen))
        picture = _picture(node, picture, scale, goal, how)
    picture = tf.reshape(picture, [wanted[i] for i in order])
    return tf.cast(tf.transpose(picture, [order.index(i) for i in range(rank(x))]), x.dtype)


def _crop(node, picture, region, goal):
    region = region + [(0.0, 1.0)] * (2 - len(region))
    mode = {"linear": "bilinear", "nearest": "nearest"}.get(node.get("mode", "nearest"))
    if mode is None:
        unsupported("cropping by %s" % node["mode"])
    count = picture.shape[0]
    box = [region[0][0], region[1][0], region[0][1], region[1][1]]
    outside = node.get("extrapolation_value", 0.0)
    return tf.image.crop_and_resize(picture, [box] * count, list(range(count)), goal, mode, outside)


def _picture(node, picture, scale, goal, how):
    """Resize N, H, W, C where TensorFlow samples at the places that ONNX names."""
    mode, lengths = node.get("mode", "nearest"), dims(picture)[1:3]
    exclude, near = node.get("exclude_outside", 0), node.get("nearest_mode", "round_prefer_floor")
    if node.opset < 11:
        near = "floor"
    wanted = [[_place(how, i, f, n, m) for i in range(m)] for f, n, m in zip(scale, lengths, goal)]
    if mode == "nearest":
        wanted = [_clipped([_ROUND[near](p) for p in w], n) for w, n in zip(wanted, lengths)]
    elif picture.dtype not in (tf.float32, tf.float16, tf.bfloat16):
        unsupported("interpolation of %s" % picture.dtype.name)
    if node.get("antialias", 0) and mode != "nearest" and min(scale) < 1:
        return _smooth(node, picture, goal, how, exclude)
    for align, half in ((False, True), (True, False), (False, False)):
        places = [_there(mode, align, half, n, m) for n, m in zip(lengths, goal)]
        if all(abs(a - b) < 1e-5 for w, p in zip(wanted, places) for a, b in zip(w, p)):
            break
    else:
        return unsupported("sampling places by %s" % how)
    options = {"align_corners": align, "half_pixel_centers": half}
    if mode == "nearest":
        return tf.raw_ops.ResizeNearestNeighbor(images=picture, size=goal, **options)
    if mode != "cubic":
        return tf.raw_ops.ResizeBilinear(images=picture, size=goal, **options)
    # TensorFlow has Keys' kernel without what is outside, or the older one with the edge repeated.
    kernel = (-0.5, 1) if half else (-0.75, 0)
    if (round(node.get("cubic_coeff_a", -0.75), 6), exclude) != kernel:
        unsupported("a cubic kernel of %g" % node.get("cubic_coeff_a", -0.75))
    return tf.raw_ops.ResizeBicubic(images=picture, size=goal, **options)


def _smooth(node, picture, goal, how, exclude):
    if how != "half_pixel" or not exclude:
        unsupported("smoothing with the edge repeated")
    mode = node.get("mode")
    if mode == "cubic" and node.get("cubic_coeff_a", -0.75) != -0.5:
        unsupported("a cubic kernel of %g" % node.get("cubic_coeff_a", -0.75))
    return tf.image.resize(picture, goal, "bi" + mode, antialias=True)


_ROUND = {
    "round_prefer_floor": lambda p: math.ceil(p - 0.5),
    "round_prefer_ceil": lambda p: math.floor(p + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def _clipped(places, length):
    return [max(0, min(length - 1, int(place))) for place in places]


def _place(how, i, factor, length, goal):
    """Return where ONNX samples element i of an axis."""
    if how == "align_corners":
        return i * (length - 1.0) / (length * factor - 1) if length * factor != 1 else 0.0
    if how == "asymmetric":
        return i / factor
    if how == "pytorch_half_pixel" and goal <= 1:
        return 0.0
    if how == "half_pixel_symmetric":
        return length / 2.0 * (1 - goal / (length * factor)) + (i + 0.5) / factor - 0.5
    if how not in ("half_pixel", "pytorch_half_pixel"):
        unsupported("coordinates by %s" % how)
    return (i + 0.5) / factor - 0.5


def _there(mode, align, half, length, goal):
    """Return where TensorFlow samples an axis."""
    scale = (length - 1.0) / (goal - 1) if align and goal > 1 else float(length) / goal
    places = [(i + 0.5) * scale - 0.5 if half else i * scale for i in range(goal)]
    if mode != "nearest":
        return places
    shift = 0.5 if half or align else 0.0
    return _clipped([math.floor(place + shift) for place in places], length)


def STFT(node, signal, step, window=None, length=None):
    if signal.shape[-1] == 2:
        unsupported("frames of a complex signal")
    if not node.get("onesided", 1):
        unsupported("both sides of a spectrum")
    count = window.shape[0] if length is None else ints(length)[0]
    shape = None if window is None else (lambda n, dtype: window)
    found = tf.signal.stft(signal[..., 0], count, ints(step)[0], count, shape)
    return tf.stack([tf.math.real(found), tf.math.imag(found)], -1)
