"""TensorFlow: pooling."""

import tensorflow as tf

from ..table import composed, unsupported
from .parts import dims, first, ints, is_same, last, lowest, opened, padded, paddings, rank


class _Window(object):
    """What a pooling node says of its window, for N, ..., C."""

    def __init__(self, node, x):
        count = rank(x) - 2
        if count not in (1, 2, 3):
            unsupported("pooling of %d axes" % count)
        self.kernel, self.sizes = node["kernel_shape"], dims(x)[1:-1]
        self.strides = node.get("strides") or [1] * count
        self.dilations = node.get("dilations") or [1] * count
        self.pads = paddings(node, self.sizes, self.kernel, self.strides, self.dilations)
        self.more = [(0, 0)] * count
        if node.get("ceil_mode", 0) and node.get("auto_pad", "NOTSET") == "NOTSET":
            self.more = [self._more(i) for i in range(count)]
        self.dilated = any(d != 1 for d in self.dilations)

    def _more(self, i):
        """Return what the last window, which has to begin inside, reaches beyond the padding."""
        reach, stride = (self.kernel[i] - 1) * self.dilations[i] + 1, self.strides[i]
        whole = self.sizes[i] + sum(self.pads[i])
        steps = -(-(whole - reach) // stride)
        if steps * stride >= self.sizes[i] + self.pads[i][0]:
            steps -= 1
        return 0, max(steps * stride + reach - whole, 0)

    def all_pads(self):
        """Return the padding with what rounding up adds."""
        return [(b, e + m) for (b, e), (_, m) in zip(self.pads, self.more)]

    def same(self):
        """Tell whether the padding is what TensorFlow calls SAME."""
        return is_same(self.all_pads(), self.sizes, self.kernel, self.strides, self.dilations)

    def pool(self, x, kind, padding):
        """Pool."""
        if self.dilated:
            if max(self.strides) > 1:
                unsupported("strides of a dilated window")
            return tf.nn.pool(x, self.kernel, kind, self.strides, padding, dilations=self.dilations)
        function = tf.nn.max_pool if kind == "MAX" else tf.nn.avg_pool
        return function(x, self.kernel, self.strides, padding)


def AveragePool(node, x):
    x = last(x)
    window = _Window(node, x)
    pads, include = window.all_pads(), node.get("count_include_pad", 0)
    if all(pad == (0, 0) for pad in pads):
        return first(window.pool(x, "AVG", "VALID"))
    if window.same() and not include and not window.dilated:
        return first(window.pool(x, "AVG", "SAME"))
    y = window.pool(padded(x, pads), "AVG", "VALID")
    if include and all(more == (0, 0) for more in window.more):
        return first(y)
    # TensorFlow counts what was padded: divide by the share that counts.
    ones = tf.ones([1] + window.sizes + [1], x.dtype)
    ones = padded(padded(ones, window.pads, 1 if include else 0), window.more)
    return first(y / window.pool(ones, "AVG", "VALID"))


def GlobalAveragePool(node, x):
    return tf.reduce_mean(x, list(range(2, rank(x))), keepdims=True)


@composed
def GlobalLpPool(node, x):
    power, axes = node.get("p", 2), list(range(2, rank(x)))
    return tf.reduce_sum(tf.abs(x) ** power, axes, keepdims=True) ** (1.0 / power)


def GlobalMaxPool(node, x):
    return tf.reduce_max(x, list(range(2, rank(x))), keepdims=True)


@composed
def LpPool(node, x):
    x, power, area = last(x), node.get("p", 2), 1
    window = _Window(node, x)
    for extent in window.kernel:
        area *= extent
    y = window.pool(padded(tf.abs(x) ** power, window.all_pads()), "AVG", "VALID")
    return first((y * area) ** (1.0 / power))


def MaxPool(node, x):
    x = last(x)
    window = _Window(node, x)
    if node.wants(1):
        return _with_places(node, x, window)
    pads = window.all_pads()
    if window.same() and not window.dilated:
        return first(window.pool(x, "MAX", "SAME"))
    return first(window.pool(padded(x, pads, lowest(x.dtype)), "MAX", "VALID"))


def _with_places(node, x, window):
    """Pool, and tell where in N, C, ... each maximum lies."""
    count = rank(x) - 2
    if window.dilated:
        unsupported("the places of a dilated window's maxima")
    if count > 2:
        unsupported("the places of maxima of %d axes" % count)
    kernel, strides, pads, sizes = window.kernel, window.strides, window.all_pads(), window.sizes
    if count == 1:
        x, kernel, strides = opened(x, 1), [1] + kernel, [1] + strides
        pads, sizes = [(0, 0)] + pads, [1] + sizes
    wide = padded(x, pads, lowest(x.dtype))
    y, place = tf.nn.max_pool_with_argmax(wide, kernel, strides, "VALID", output_dtype=tf.int64)
    batch, _, across, channels = dims(wide)
    row = place // (across * channels) - pads[0][0]
    column = (place // channels) % across - pads[1][0]
    inner = column * sizes[0] + row if node.get("storage_order", 0) else row * sizes[1] + column
    plane = tf.reshape(tf.range(batch * channels, dtype=tf.int64), [batch, 1, 1, channels])
    place = plane * (sizes[0] * sizes[1]) + inner
    if count == 1:
        y, place = tf.squeeze(y, [1]), tf.squeeze(place, [1])
    return first(y), first(place)


@composed
def MaxUnpool(node, x, places, shape=None):
    count = rank(x) - 2
    kernel, strides = node["kernel_shape"], node.get("strides") or [1] * count
    pads = node.get("pads") or [0] * (2 * count)
    sizes = [
        (n - 1) * s + k - b - e
        for n, s, k, b, e in zip(dims(x)[2:], strides, kernel, pads[:count], pads[count:])
    ]
    goal, total = dims(x)[:2] + sizes, 1
    for extent in goal:
        total *= extent
    flat = tf.scatter_nd(tf.reshape(places, [-1, 1]), tf.reshape(x, [-1]), [total])
    result = tf.reshape(flat, goal)
    if shape is None or ints(shape) == goal:
        return result
    return tf.pad(result, [(0, wanted - have) for wanted, have in zip(ints(shape), goal)])
