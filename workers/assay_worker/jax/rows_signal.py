"""JAX: Fourier transforms and windows."""

import jax.numpy as jnp
from jax.scipy import signal as signals

from ..table import composed, unsupported
from .parts import kind, whole


def BlackmanWindow(node, size):
    return _window(node, size, jnp.blackman)


def DFT(node, x, length=None, axis=None):
    axis = node.get("axis", 1) if node.opset < 20 else (-2 if axis is None else whole(axis))
    axis = axis % x.ndim
    count = None if length is None else whole(length)
    inverse, half = node.get("inverse", 0), node.get("onesided", 0)
    number = x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]
    if half and inverse:
        return jnp.fft.irfft(number, count, axis)[..., None].astype(x.dtype)
    function = jnp.fft.rfft if half else (jnp.fft.ifft if inverse else jnp.fft.fft)
    return _pairs(function(number, count, axis), x)


def _pairs(y, x):
    return jnp.stack([jnp.real(y), jnp.imag(y)], -1).astype(x.dtype)


def HannWindow(node, size):
    return _window(node, size, jnp.hanning)


def _window(node, size, function):
    """Return a window; a periodic one is the beginning of a longer symmetric one."""
    count = whole(size)
    y = function(count + 1)[:count] if node.get("periodic", 1) else function(count)
    return y.astype(kind(node.get("output_datatype", 1)))


@composed
def STFT(node, x, step, window=None, length=None):
    if x.shape[-1] == 2:
        unsupported("a complex signal")
    if length is not None:
        count = whole(length)
    else:
        count = x.shape[1] if window is None else window.shape[0]
    window = jnp.ones(count, x.dtype) if window is None else window
    _, _, found = signals.stft(
        x[..., 0], window=window, nperseg=count, noverlap=count - whole(step), boundary=None,
        padded=False, return_onesided=bool(node.get("onesided", 1)),
    )  # fmt: skip
    # The spectrum is there divided by the window's sum.
    return _pairs(jnp.swapaxes(found, 1, 2) * jnp.sum(window), x)
