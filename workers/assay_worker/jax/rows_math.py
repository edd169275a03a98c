"""JAX: arithmetic, comparison and logic, element by element."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from ..table import call, composed, unsupported
from .parts import is_float, kind

Abs = call("numpy.abs")
Acos = call("numpy.arccos")
Acosh = call("numpy.arccosh")
Add = call("numpy.add")
And = call("numpy.logical_and")
Asin = call("numpy.arcsin")
Asinh = call("numpy.arcsinh")
Atan = call("numpy.arctan")
Atanh = call("numpy.arctanh")


def BitCast(node, x):
    to = kind(node["to"])
    if bool in (x.dtype, to):  # which bitcast_convert_type refuses, and names view for
        return x.view(to)
    return lax.bitcast_convert_type(x, to)


def BitShift(node, x, y):
    if node["direction"] == "LEFT":
        return jnp.left_shift(x, y)
    return jnp.right_shift(x, y)


BitwiseAnd = call("numpy.bitwise_and")
BitwiseNot = call("numpy.bitwise_not")
BitwiseOr = call("numpy.bitwise_or")
BitwiseXor = call("numpy.bitwise_xor")


def Cast(node, x):
    return _cast(node, x, kind(node["to"]))


def CastLike(node, x, like):
    return _cast(node, x, like.dtype)


def _cast(node, x, to):
    """Convert; JAX does not saturate narrow floats, so its users clip before."""
    name = str(to)
    if name == "float8_e8m0fnu":
        unsupported("rounding to float8e8m0")
    if name.startswith("float8") and node.get("saturate", 1) and is_float(x):
        limit = jnp.finfo(to)
        x = jnp.clip(x, jnp.asarray(limit.min, x.dtype), jnp.asarray(limit.max, x.dtype))
    return jnp.astype(x, to)


Ceil = call("numpy.ceil")


def Celu(node, x):
    return jax.nn.celu(x, node.get("alpha", 1.0))


def Clip(node, x, low=None, high=None):
    if node.opset < 11:
        low, high = node.get("min"), node.get("max")
    return jnp.clip(x, low, high)


Cos = call("numpy.cos")
Cosh = call("numpy.cosh")


def Div(node, a, b):
    if is_float(a):
        return jnp.true_divide(a, b)
    return lax.div(*jnp.broadcast_arrays(a, b))  # toward zero, as in C


def Elu(node, x):
    return jax.nn.elu(x, node.get("alpha", 1.0))


Equal = call("numpy.equal")
Erf = call("scipy.special.erf")
Exp = call("numpy.exp")
Floor = call("numpy.floor")


def Gelu(node, x):
    return jax.nn.gelu(x, approximate=node.get("approximate", "none") == "tanh")


Greater = call("numpy.greater")
GreaterOrEqual = call("numpy.greater_equal")


@composed
def HardSigmoid(node, x):
    alpha, beta = node.get("alpha", 0.2), node.get("beta", 0.5)
    if abs(alpha - 1 / 6.0) < 1e-8 and beta == 0.5:
        return jax.nn.hard_sigmoid(x)
    return jnp.clip(alpha * x + beta, 0, 1)


HardSwish = call("nn.hard_swish")


def Identity(node, x):
    if x is None or isinstance(x, list):
        unsupported("sequences and optional values")
    return jax.nn.identity(x)


def IsInf(node, x):
    positive, negative = node.get("detect_positive", 1), node.get("detect_negative", 1)
    if positive and negative:
        return jnp.isinf(x)
    if positive:
        return jnp.isposinf(x)
    return jnp.isneginf(x) if negative else jnp.zeros(x.shape, bool)


IsNaN = call("numpy.isnan")


def LeakyRelu(node, x):
    return jax.nn.leaky_relu(x, node.get("alpha", 0.01))


Less = call("numpy.less")
LessOrEqual = call("numpy.less_equal")
Log = call("numpy.log")


def Max(node, *inputs):
    return functools.reduce(jnp.maximum, inputs)


@composed
def Mean(node, *inputs):
    return functools.reduce(jnp.add, inputs) / len(inputs)


def Min(node, *inputs):
    return functools.reduce(jnp.minimum, inputs)


Mish = call("nn.mish")


def Mod(node, a, b):
    return jnp.fmod(a, b) if node.get("fmod", 0) else jnp.remainder(a, b)


Mul = call("numpy.multiply")
Neg = call("numpy.negative")
Not = call("numpy.logical_not")
Or = call("numpy.logical_or")


def Pow(node, x, y):
    return jnp.power(x, y).astype(x.dtype)


def PRelu(node, x, slope):
    return jax.nn.leaky_relu(x, slope)


Reciprocal = call("numpy.reciprocal")
Relu = call("nn.relu")
Round = call("numpy.round")

_SELU = (1.6732632423543772, 1.0507009873554805)


@composed
def Selu(node, x):
    alpha, gamma = node.get("alpha", _SELU[0]), node.get("gamma", _SELU[1])
    if abs(alpha - _SELU[0]) < 1e-6 and abs(gamma - _SELU[1]) < 1e-6:
        return jax.nn.selu(x)
    return gamma * jax.nn.elu(x, alpha)


@composed
def Shrink(node, x):
    edge, bias = node.get("lambd", 0.5), node.get("bias", 0.0)
    low, high = (x + bias).astype(x.dtype), (x - bias).astype(x.dtype)
    return jnp.where(x < -edge, low, jnp.where(x > edge, high, jnp.zeros_like(x)))


Sigmoid = call("nn.sigmoid")
Sign = call("numpy.sign")
Sin = call("numpy.sin")
Sinh = call("numpy.sinh")
Softplus = call("nn.softplus")
Softsign = call("nn.soft_sign")
Sqrt = call("numpy.sqrt")
Sub = call("numpy.subtract")


def Sum(node, *inputs):
    return functools.reduce(jnp.add, inputs)


@composed
def SwiGLU(node, a, b):
    return Swish(node, a) * b


@composed
def Swish(node, x):
    alpha = node.get("alpha", 1.0)
    return jax.nn.silu(x) if alpha == 1.0 else x * jax.nn.sigmoid(alpha * x)


Tan = call("numpy.tan")
Tanh = call("numpy.tanh")


@composed
def ThresholdedRelu(node, x):
    return jnp.where(x > node.get("alpha", 1.0), x, jnp.zeros_like(x))


Where = call("numpy.where")
Xor = call("numpy.logical_xor")
