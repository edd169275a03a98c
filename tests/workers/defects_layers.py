"""Defects of layers with weights: convolution, pooling, normalization, products, recurrence."""

import numpy as np
from planting import defect


@defect("Conv", "ConvTranspose")
def dropped_bias(site):
    """Forget the bias."""
    site.need(np.any(site.weight(2)))
    del site.node.input[2]


@defect("Conv")
def first_channel_only(site):
    """Read the first of the input's channels alone."""
    kernel = site.weight(1).copy()
    kernel[:, 1:] = 0
    site.put_weight(1, kernel)


@defect("Conv", "ConvTranspose")
def flipped_kernel(site):
    """Convolve in the mathematical sense."""
    kernel = site.weight(1)
    site.put_weight(1, kernel[(slice(None),) * 2 + (slice(None, None, -1),) * (kernel.ndim - 2)])


@defect("Conv")
def transposed_kernel(site):
    """Take height for width in the weights."""
    kernel = site.weight(1)
    site.need(kernel.ndim == 4)
    site.put_weight(1, kernel.swapaxes(2, 3))


@defect("Conv")
def transposed_weights(site):
    """Take input channels for output channels."""
    kernel = site.weight(1)
    site.put_weight(1, kernel.swapaxes(0, 1))


@defect("Conv", "MaxPool", "AveragePool")
def same_lower_for_upper(site):
    """Put the padding on the other side."""
    pads = list(site.get("pads", []))
    site.need(any(pads))
    half = len(pads) // 2
    moved = [1 if pads[i] > 0 and pads[i + half] < 2 * pads[i] else 0 for i in range(half)]
    site.need(any(moved))
    begins = [pads[i] - moved[i] for i in range(half)]
    site.set("pads", begins + [pads[i + half] + moved[i] for i in range(half)])


@defect("Conv")
def dilated_twice(site):
    """Take twice the dilation, with padding that keeps the shape."""
    pads, kernel = list(site.get("pads", [])), site.weight(1).shape[2:]
    site.need(any(pads) and min(kernel) > 1 and all(k % 2 for k in kernel))
    site.need(max(site.get("dilations", [1])) == 1)
    site.set("dilations", [2] * len(kernel))
    more = [k // 2 for k in kernel]
    site.set("pads", [p + m for p, m in zip(pads, more * 2, strict=True)])


@defect("Conv", "MatMul")
def half_accumulation(site):
    """Take the factors, and give the sums, in 16 bits."""
    site.node.input[:] = [site.in_half(name) for name in site.node.input]
    return site.in_half(site.result())


@defect("Conv")
def stride_before_padding(site):
    """Start the windows one element late."""
    pads = list(site.get("pads", []))
    site.need(any(pads) and max(site.get("strides", [1])) > 1)
    half = len(pads) // 2
    site.need(all(pads[:half]))
    site.set("pads", [p - 1 for p in pads[:half]] + [p + 1 for p in pads[half:]])


@defect("MaxPool")
def padding_takes_part(site):
    """Let the zeros of the padding be a maximum."""
    pads = list(site.get("pads", []))
    site.need(any(pads))
    half = len(pads) // 2
    around = [0, 0, *pads[:half], 0, 0, *pads[half:]]
    site.node.input[0] = site.emit("Pad", [site.node.input[0], site.put(np.array(around))])
    site.set("pads", [0] * len(pads))


@defect("AveragePool")
def padding_counted(site):
    """Count the padding, as if the windows reached one element farther."""
    site.set("count_include_pad", 1)
    kernel = site.get("kernel_shape")
    count = np.float32(np.prod(kernel) / (np.prod(kernel) + 1.0))
    return site.emit("Mul", [site.result(), site.put(count)])


@defect("GlobalAveragePool", "GlobalMaxPool")
def last_row_left_out(site):
    """Stop one element early."""
    ends = [site.put(np.array([value])) for value in (0, -1, 2)]
    site.node.input[0] = site.emit("Slice", [site.node.input[0], *ends])


@defect("BatchNormalization")
def epsilon_outside_the_root(site):
    """Add epsilon to the root of the variance."""
    variance, epsilon = site.weight(4), np.float32(site.get("epsilon", 1e-5))
    root = np.sqrt(variance) + epsilon
    site.put_weight(4, root * root - epsilon)


@defect("BatchNormalization")
def batch_statistics(site):
    """Mix the statistics of the batch into the trained ones."""
    x, axes, share = site.node.input[0], [0, 2, 3], np.float32(site.get("momentum", 0.9))
    mean = site.emit("ReduceMean", [x], axes=axes, keepdims=0)
    wide = site.emit("ReduceMean", [x], axes=axes, keepdims=1)
    away = site.emit("Sub", [x, wide])
    square = site.emit("Mul", [away, away])
    variance = site.emit("ReduceMean", [square], axes=axes, keepdims=0)
    for index, of_batch in ((3, mean), (4, variance)):
        old = site.put(share * site.weight(index))
        new = site.emit("Mul", [of_batch, site.put(np.float32(1 - share))])
        site.node.input[index] = site.emit("Add", [old, new])


@defect("BatchNormalization")
def default_epsilon(site):
    """Ignore epsilon, and take a default of another framework."""
    site.set("epsilon", 1e-3 if site.get("epsilon", 1e-5) < 1e-3 else 1e-5)


@defect("BatchNormalization")
def scale_before_mean(site):
    """Subtract the mean after the scale."""
    site.put_weight(3, site.weight(3) / np.where(site.weight(1) == 0, 1, site.weight(1)))


@defect("MatMul")
def weights_read_by_columns(site):
    """Take a square matrix of weights for its transpose."""
    weights = site.weight(1)
    site.need(weights.ndim == 2)
    site.put_weight(1, weights.T)


@defect("MatMul")
def last_product_left_out(site):
    """Stop the sums one product early."""
    weights = site.weight(1).copy()
    weights[..., -1, :] = 0
    site.put_weight(1, weights)


def _gates(array, order, axis):
    parts = np.split(array, 4, axis)
    return np.concatenate([parts[i] for i in order], axis)


@defect("LSTM")
def swapped_gates(site):
    """Take the weights in the order input, forget, output, cell."""
    for index in (1, 2):
        site.put_weight(index, _gates(site.weight(index), (0, 2, 1, 3), 1))


@defect("LSTM")
def recurrent_bias_dropped(site):
    """Forget the second half of the biases."""
    bias = site.weight(3).copy()
    bias[:, bias.shape[1] // 2 :] = 0
    site.put_weight(3, bias)


@defect("LSTM")
def state_ignored(site):
    """Start with a cell of zeros."""
    site.need(len(site.node.input) > 6 and site.node.input[6])
    site.node.input[6] = ""


@defect("LSTM")
def recurrent_weights_transposed(site):
    """Take the square blocks of the recurrent weights for their transposes."""
    weights = site.weight(2)
    blocks = weights.reshape(weights.shape[0], 4, -1, weights.shape[2])
    site.put_weight(2, blocks.swapaxes(2, 3).reshape(weights.shape))
