"""TensorFlow: arithmetic, comparison, logic and activations."""

import functools

import tensorflow as tf

from ..table import call, composed, unsupported
from .parts import along, dtype, rank

Abs = call("abs")
Acos = call("acos")
Acosh = call("acosh")
Add = call("add")
And = call("logical_and")
Asin = call("asin")
Asinh = call("asinh")
Atan = call("atan")
Atanh = call("atanh")


def BitCast(node, x):
    return tf.bitcast(x, dtype(node["to"]))


def BitShift(node, x, y):
    # TensorFlow leaves open what a shift by more than the width, or by less than nothing, gives.
    width, left = x.dtype.size * 8, node["direction"] == "LEFT"
    far = tf.logical_or(y < 0, y >= tf.cast(width, y.dtype))
    if x.dtype.min < 0 and not left:
        return tf.bitwise.right_shift(x, tf.where(far, tf.cast(width - 1, y.dtype), y))
    shift = tf.bitwise.left_shift if left else tf.bitwise.right_shift
    return tf.where(far, tf.zeros_like(x), shift(x, y))


BitwiseAnd = call("bitwise.bitwise_and")
BitwiseNot = call("bitwise.invert")
BitwiseOr = call("bitwise.bitwise_or")
BitwiseXor = call("bitwise.bitwise_xor")


def Cast(node, x):
    return _cast(x, dtype(node["to"]), node.get("saturate", 1))


def CastLike(node, x, like):
    return _cast(x, like.dtype, node.get("saturate", 1))


def _cast(x, kind, saturate):
    """Convert elements; the narrow real types are asked to saturate."""
    if x.dtype == kind:
        return tf.identity(x)
    if kind == tf.string:
        return tf.strings.as_string(x)
    if x.dtype == tf.string:
        if kind in (tf.float32, tf.float64, tf.int32, tf.int64):
            return tf.strings.to_number(x, kind)
        return tf.cast(tf.strings.to_number(x, tf.float64), kind)
    if saturate and (kind.name.startswith("float8") or kind.name.startswith("float4")):
        return tf.saturate_cast(x, kind)
    return tf.cast(x, kind)


Ceil = call("math.ceil")


@composed
def Celu(node, x):
    alpha = node.get("alpha", 1.0)
    return alpha * tf.nn.elu(x / alpha)


def Clip(node, x, low=None, high=None):
    if node.opset < 11:
        low, high = node.get("min"), node.get("max")
    if low is None and high is None:
        return tf.identity(x)
    if high is None:
        return tf.maximum(x, tf.cast(low, x.dtype))
    if low is None:
        return tf.minimum(x, tf.cast(high, x.dtype))
    low, high = tf.cast(low, x.dtype), tf.cast(high, x.dtype)
    # TensorFlow leaves open what a lower bound above the upper one gives.
    return tf.clip_by_value(x, tf.minimum(low, high), high)


Cos = call("cos")
Cosh = call("cosh")


def Div(node, x, y):
    if x.dtype.is_integer:
        return tf.truncatediv(x, y)
    return tf.divide(x, y)


def Elu(node, x):
    alpha = node.get("alpha", 1.0)
    if alpha == 1.0:
        return tf.nn.elu(x)
    return tf.where(x > 0, x, alpha * tf.nn.elu(x))


Equal = call("equal")
Erf = call("math.erf")
Exp = call("exp")
Floor = call("floor")


def Gelu(node, x):
    return tf.nn.gelu(x, approximate=node.get("approximate", "none") == "tanh")


Greater = call("greater")
GreaterOrEqual = call("greater_equal")


@composed
def HardSigmoid(node, x):
    alpha, beta = node.get("alpha", 0.2), node.get("beta", 0.5)
    return tf.clip_by_value(alpha * x + beta, 0, 1)


@composed
def HardSwish(node, x):
    return x * tf.nn.relu6(x + 3) / 6


@composed
def Hardmax(node, x):
    axis, shape = node.get("axis", 1 if node.opset < 13 else -1) % rank(x), tf.shape(x)
    if node.opset < 13:
        x, axis = _flat(x, axis), 1
    hot = tf.one_hot(tf.argmax(x, axis), x.shape[axis], axis=axis, dtype=x.dtype)
    return tf.reshape(hot, shape)


def _flat(x, axis):
    """Return the matrix of an old softmax: the axes before one, and it with those after."""
    rows = 1
    for extent in x.shape[:axis]:
        rows *= extent
    return tf.reshape(x, [rows, -1 if rows else 0])


def Identity(node, x):
    if x is None or isinstance(x, list):
        unsupported("sequences and optional values")
    return tf.identity(x)


def IsInf(node, x):
    up, down = node.get("detect_positive", 1), node.get("detect_negative", 1)
    found = tf.math.is_inf(x)
    if up and down:
        return found
    if not up and not down:
        return tf.zeros_like(found)
    return tf.logical_and(found, x > 0 if up else x < 0)


IsNaN = call("math.is_nan")


def LeakyRelu(node, x):
    return tf.nn.leaky_relu(x, node.get("alpha", 0.01))


Less = call("less")
LessOrEqual = call("less_equal")
Log = call("math.log")


def LogSoftmax(node, x):
    return _softmax(tf.nn.log_softmax, node, x)


def _softmax(function, node, x):
    if node.opset < 13:
        flat = _flat(x, node.get("axis", 1) % max(rank(x), 1))
        return tf.reshape(function(flat, 1), tf.shape(x))
    return function(x, node.get("axis", -1))


def Max(node, *inputs):
    return functools.reduce(tf.maximum, inputs) if len(inputs) > 1 else tf.identity(inputs[0])


@composed
def Mean(node, *inputs):
    return Sum(node, *inputs) / len(inputs)


def Min(node, *inputs):
    return functools.reduce(tf.minimum, inputs) if len(inputs) > 1 else tf.identity(inputs[0])


@composed
def Mish(node, x):
    return x * tf.tanh(tf.nn.softplus(x))


def Mod(node, x, y):
    return tf.truncatemod(x, y) if node.get("fmod", 0) else tf.math.floormod(x, y)


Mul = call("multiply")
Neg = call("negative")
Not = call("logical_not")
Or = call("logical_or")


@composed
def PRelu(node, x, slope):
    if node.opset < 7 and rank(slope) == 1 and rank(x) > 2:
        slope = along(slope, x)
    return tf.where(x < 0, slope * x, x)


def Pow(node, x, y):
    if x.dtype == y.dtype:
        return tf.pow(x, y)
    if x.dtype.is_integer and y.dtype.is_floating:  # only the result is of the base's type
        return tf.cast(tf.pow(tf.cast(x, y.dtype), y), x.dtype)
    return tf.pow(x, tf.cast(y, x.dtype))


Reciprocal = call("math.reciprocal")
Relu = call("nn.relu")
Round = call("round")


def Selu(node, x):
    alpha, gamma = node.get("alpha", 1.6732632), node.get("gamma", 1.0507010)
    if abs(alpha - 1.6732632) < 1e-6 and abs(gamma - 1.0507010) < 1e-6:
        return tf.nn.selu(x)
    return gamma * tf.where(x > 0, x, alpha * tf.nn.elu(x))


@composed
def Shrink(node, x):
    bias, limit = tf.cast(node.get("bias", 0.0), x.dtype), node.get("lambd", 0.5)
    if not x.dtype.is_floating and limit != int(limit):
        unsupported("a limit between integers")
    limit, none = tf.cast(limit, x.dtype), tf.zeros_like(x)
    return tf.where(x < -limit, x + bias, tf.where(x > limit, x - bias, none))


Sigmoid = call("sigmoid")
Sign = call("sign")
Sin = call("sin")
Sinh = call("sinh")


def Softmax(node, x):
    return _softmax(tf.nn.softmax, node, x)


Softplus = call("nn.softplus")
Softsign = call("nn.softsign")
Sqrt = call("sqrt")
Sub = call("subtract")


def Sum(node, *inputs):
    if all(one.shape == inputs[0].shape for one in inputs):
        return tf.add_n(inputs)
    return functools.reduce(tf.add, inputs)


@composed
def SwiGLU(node, x, y):
    return Swish(node, x) * y


def Swish(node, x):
    alpha = node.get("alpha", 1.0)
    if alpha == 1.0:
        return tf.nn.silu(x)
    try:
        return tf.nn.silu(x, beta=alpha)
    except TypeError:  # releases whose silu has no factor
        return x * tf.sigmoid(alpha * x)


Tan = call("tan")
Tanh = call("tanh")


@composed
def ThresholdedRelu(node, x):
    return tf.where(x > node.get("alpha", 1.0), x, tf.zeros_like(x))


Where = call("where")
Xor = call("math.logical_xor")
