"""PyTorch: Fourier transforms, windows, and chance."""

import torch

from ..table import composed, unsupported
from .parts import RELEASE, kind, number


def Bernoulli(node, x):
    y = torch.bernoulli(x, generator=_generator(node))
    return y.to(kind(node.get("dtype")) if node.get("dtype") else x.dtype)


def BlackmanWindow(node, size):
    return _window(torch.blackman_window, node, size)


def DFT(node, x, length=None, axis=None):
    length = number(length)
    axis = node.get("axis", 1) if node.opset < 20 else number(axis, -2)
    axis = axis + x.dim() if axis < 0 else axis
    inverse, half = node.get("inverse", 0), node.get("onesided", 0)
    if RELEASE < (1, 7):
        return _old_transform(x, length, axis, inverse, half)
    if x.shape[-1] == 1:
        signal = x.squeeze(-1)
    else:
        signal = torch.view_as_complex(x.contiguous())
    if half and inverse:
        return torch.fft.irfft(signal, length, axis).unsqueeze(-1)
    if half:
        return torch.view_as_real(torch.fft.rfft(signal, length, axis))
    transform = torch.fft.ifft if inverse else torch.fft.fft
    return torch.view_as_real(transform(signal, length, axis))


def HammingWindow(node, size):
    def window(size, periodic, dtype):
        return torch.hamming_window(size, periodic, 25 / 46.0, 21 / 46.0, dtype=dtype)

    return _window(window, node, size)


def HannWindow(node, size):
    return _window(torch.hann_window, node, size)


def Multinomial(node, x):
    count = node.get("sample_size", 1)
    y = torch.multinomial(torch.softmax(x, -1), count, True, generator=_generator(node))
    return y.to(kind(node.get("dtype", 6)))


def RandomNormal(node):
    return _normal(node, node["shape"], kind(node.get("dtype", 1)))


def RandomNormalLike(node, x):
    return _normal(node, x.shape, kind(node.get("dtype")) if node.get("dtype") else x.dtype)


def RandomUniform(node):
    return _uniform(node, node["shape"], kind(node.get("dtype", 1)))


def RandomUniformLike(node, x):
    return _uniform(node, x.shape, kind(node.get("dtype")) if node.get("dtype") else x.dtype)


def Range(node, start, limit, delta):
    return torch.arange(number(start), number(limit), number(delta), dtype=start.dtype)


@composed
def STFT(node, x, step, window=None, length=None):
    half, complex_signal = bool(node.get("onesided", 1)), x.dim() == 3 and x.shape[-1] == 2
    size = number(length)
    if size is None:
        size = x.shape[1] if window is None else window.shape[0]
    if complex_signal:
        if RELEASE < (1, 8):
            unsupported("complex signals")
        x = torch.view_as_complex(x.contiguous())
    else:
        x = x.reshape(x.shape[:2])
    options = {} if RELEASE < (1, 8) else {"return_complex": True}
    y = torch.stft(x, size, number(step), size, window, center=False, onesided=half, **options)
    y = y if RELEASE < (1, 8) else torch.view_as_real(y)
    return y.permute(0, 2, 1, 3)


def _generator(node):
    """Return a source of chance of its own if a node names a seed."""
    if node.get("seed") is None:
        return None
    return torch.Generator().manual_seed(int(node["seed"]))


def _normal(node, shape, dtype):
    mean, scale = node.get("mean", 0.0), node.get("scale", 1.0)
    return torch.empty(tuple(shape), dtype=dtype).normal_(mean, scale, generator=_generator(node))


def _old_transform(x, length, axis, inverse, half):
    """Transform with the functions that torch had before its module fft."""
    if length is not None and length != x.shape[axis]:
        unsupported("another length than the signal's")
    moved = x.transpose(axis, -2)
    if half and inverse:
        unsupported("onesided with inverse")
    if moved.shape[-1] == 1:
        y = torch.rfft(moved.squeeze(-1), 1, onesided=bool(half))
        if inverse:
            unsupported("the inverse of a real signal")
    else:
        y = torch.ifft(moved, 1) if inverse else torch.fft(moved, 1)
    return y.transpose(axis, -2)


def _uniform(node, shape, dtype):
    low, high = node.get("low", 0.0), node.get("high", 1.0)
    return torch.empty(tuple(shape), dtype=dtype).uniform_(low, high, generator=_generator(node))


def _window(function, node, size):
    dtype = kind(node.get("output_datatype", 1))
    return function(number(size), bool(node.get("periodic", 1)), dtype=dtype)


_NO_SEQUENCES = "torch has no sequences"
_NO_TEXTS = "torch has no texts"
_VISION = "torchvision has it, torch has not"
MISSING = {
    "ConcatFromSequence": _NO_SEQUENCES,
    "DeformConv": _VISION,
    "ImageDecoder": _VISION,
    "MaxRoiPool": _VISION,
    "MelWeightMatrix": "torchaudio has it, torch has not",
    "NonMaxSuppression": _VISION,
    "Optional": "torch has no optional values",
    "OptionalGetElement": "torch has no optional values",
    "OptionalHasElement": "torch has no optional values",
    "RegexFullMatch": _NO_TEXTS,
    "RoiAlign": _VISION,
    "SequenceAt": _NO_SEQUENCES,
    "SequenceConstruct": _NO_SEQUENCES,
    "SequenceEmpty": _NO_SEQUENCES,
    "SequenceErase": _NO_SEQUENCES,
    "SequenceInsert": _NO_SEQUENCES,
    "SequenceLength": _NO_SEQUENCES,
    "SequenceMap": _NO_SEQUENCES,
    "SplitToSequence": _NO_SEQUENCES,
    "StringConcat": _NO_TEXTS,
    "StringNormalizer": _NO_TEXTS,
    "StringSplit": _NO_TEXTS,
    "TfIdfVectorizer": "torch has no n-grams",
}
