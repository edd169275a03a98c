"""MXNet: arithmetic, comparison and logic."""

import mxnet as mx

from ..table import call, composed, unsupported
from .parts import (
    cast,
    expand,
    float_call,
    floats_only,
    from_np,
    ints,
    kind,
    np_call,
    number,
    to_np,
    typed,
)

Abs = call("nd.abs")
Acos = float_call("nd.arccos")
Acosh = float_call("nd.arccosh")
Add = call("nd.broadcast_add")


def _logical(name):
    """Return a row of a logical operator: mxnet's has no booleans, only numbers that are 0 or 1."""

    def row(node, a, b):
        return typed(row.function, a, b)

    row.path = name
    return row


def _comparison(name):
    """Return a row of a comparison: mxnet.np's gives booleans."""
    return np_call("np." + name)


And = _logical("nd.broadcast_logical_and")
Asin = float_call("nd.arcsin")
Asinh = float_call("nd.arcsinh")
Atan = float_call("nd.arctan")
Atanh = float_call("nd.arctanh")
BitwiseAnd = np_call("np.bitwise_and")
BitwiseNot = np_call("np.bitwise_not")
BitwiseOr = np_call("np.bitwise_or")
BitwiseXor = np_call("np.bitwise_xor")


def Cast(node, x):
    from .parts import type_name

    return mx.nd.cast(x, dtype=type_name(node["to"]))


def CastLike(node, x, like):
    return mx.nd.cast(x, dtype=kind(like))


Ceil = float_call("nd.ceil")


@composed
def Celu(node, x):
    alpha = node.get("alpha", 1.0)
    return mx.nd.LeakyReLU(x / alpha, act_type="elu", slope=1.0) * alpha


def Clip(node, x, low=None, high=None):
    if node.opset < 11:
        low, high = node.get("min"), node.get("max")
    else:
        low, high = (None if v is None else number(v) for v in (low, high))
    if low is None and high is None:
        return mx.nd.identity(x)
    if high is None:
        return mx.nd.maximum(x, low)
    return mx.nd.minimum(x, high) if low is None else mx.nd.clip(x, low, high)


Cos = float_call("nd.cos")
Cosh = float_call("nd.cosh")


def CumSum(node, x, axis):
    if node.get("exclusive", 0):
        unsupported("exclusive sums")
    axis = number(axis)
    if not node.get("reverse", 0):
        return mx.nd.cumsum(x, axis=axis)
    return mx.nd.flip(mx.nd.cumsum(mx.nd.flip(x, axis=axis), axis=axis), axis=axis)


def Det(node, x):
    return mx.nd.linalg.det(x).reshape(x.shape[:-2])


Div = call("nd.broadcast_div")


def Einsum(node, *inputs):
    return from_np(mx.np.einsum(node["equation"], *[to_np(x) for x in inputs]))


def Elu(node, x):
    return mx.nd.LeakyReLU(x, act_type="elu", slope=node.get("alpha", 1.0))


Equal = _comparison("equal")
Erf = float_call("nd.erf")
Exp = float_call("nd.exp")
Floor = float_call("nd.floor")


def Gelu(node, x):
    if node.get("approximate", "none") != "none":
        unsupported("approximate %s" % node["approximate"])
    return mx.nd.LeakyReLU(x, act_type="gelu")


def Gemm(node, a, b, c=None):
    floats_only(a)
    flips = {"transpose_a": bool(node.get("transA", 0)), "transpose_b": bool(node.get("transB", 0))}
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if c is None:
        return mx.nd.linalg.gemm2(a, b, alpha=alpha, **flips)
    rows = a.shape[1 if flips["transpose_a"] else 0]
    columns = b.shape[0 if flips["transpose_b"] else 1]
    c = expand(c, (rows, columns))
    return mx.nd.linalg.gemm(a, b, c, alpha=alpha, beta=beta, **flips)


Greater = _comparison("greater")
GreaterOrEqual = _comparison("greater_equal")


def HardSigmoid(node, x):
    return mx.nd.hard_sigmoid(x, alpha=node.get("alpha", 0.2), beta=node.get("beta", 0.5))


@composed
def HardSwish(node, x):
    return x * mx.nd.hard_sigmoid(x, alpha=1.0 / 6.0, beta=0.5)


Identity = call("nd.identity")


def IsInf(node, x):
    below, above = node.get("detect_negative", 1), node.get("detect_positive", 1)
    if below and above:
        return cast(mx.nd.contrib.isinf(x), "bool")
    if not below and not above:
        unsupported("looking for neither infinity")
    name = "isneginf" if below else "isposinf"
    if not hasattr(mx.np, name):
        unsupported(name)
    return from_np(getattr(mx.np, name)(to_np(x)))


def IsNaN(node, x):
    return cast(mx.nd.contrib.isnan(x), "bool")


def LeakyRelu(node, x):
    return mx.nd.LeakyReLU(x, act_type="leaky", slope=node.get("alpha", 0.01))


Less = _comparison("less")
LessOrEqual = _comparison("less_equal")
Log = float_call("nd.log")


def MatMul(node, a, b):
    if kind(a) not in ("float32", "float64"):
        unsupported("%s products" % kind(a))
    if hasattr(mx.np, "matmul"):
        return from_np(mx.np.matmul(to_np(a), to_np(b)))
    if len(a.shape) <= 2 and len(b.shape) <= 2:
        return from_np(mx.np.dot(to_np(a), to_np(b)))
    if len(a.shape) < 3 or a.shape[:-2] != b.shape[:-2]:
        unsupported("matmul that broadcasts")
    return mx.nd.linalg.gemm2(a, b)


def Max(node, *inputs):
    result = mx.nd.identity(inputs[0])
    for x in inputs[1:]:
        result = mx.nd.broadcast_maximum(result, x)
    return result


@composed
def Mean(node, *inputs):
    return Sum(node, *inputs) / len(inputs)


def Min(node, *inputs):
    result = mx.nd.identity(inputs[0])
    for x in inputs[1:]:
        result = mx.nd.broadcast_minimum(result, x)
    return result


@composed
def Mish(node, x):
    return x * mx.nd.tanh(mx.nd.Activation(x, act_type="softrelu"))


def Mod(node, a, b):
    if node.get("fmod", 0):
        unsupported("fmod")
    return mx.nd.broadcast_mod(a, b)


Mul = call("nd.broadcast_mul")
Neg = call("nd.negative")
Not = np_call("np.logical_not")
Or = _logical("nd.broadcast_logical_or")


def PRelu(node, x, slope):
    channels = x.shape[1] if len(x.shape) > 1 else 1
    if len(slope.shape) == len(x.shape) - 1 and slope.shape[0] == channels:
        rest = slope.shape[1:]
    elif len(slope.shape) == len(x.shape) and slope.shape[0] == 1:
        rest = slope.shape[2:]
    else:
        rest = (2,) if slope.size != 1 else ()
    if any(extent != 1 for extent in rest):
        unsupported("slopes that are not one for each channel")
    return mx.nd.LeakyReLU(x, mx.nd.reshape(slope, shape=(-1,)), act_type="prelu")


def Pow(node, a, b):
    return mx.nd.broadcast_power(a, cast(b, kind(a)))


def Range(node, start, limit, delta):
    values = [number(x) for x in (start, limit, delta)]
    return from_np(mx.np.arange(*values, dtype=kind(start)))


Reciprocal = float_call("nd.reciprocal")
Relu = call("nd.relu")
Round = np_call("np.around")


def Selu(node, x):
    alpha, gamma = node.get("alpha", 1.67326319), node.get("gamma", 1.05070102)
    if abs(alpha - 1.67326319) > 1e-5 or abs(gamma - 1.05070102) > 1e-5:
        unsupported("selu's own alpha and gamma")
    return mx.nd.LeakyReLU(x, act_type="selu")


Sigmoid = float_call("nd.sigmoid")
Sign = call("nd.sign")
Sin = float_call("nd.sin")
Sinh = float_call("nd.sinh")


def Softplus(node, x):
    return mx.nd.Activation(x, act_type="softrelu")


Softsign = float_call("nd.softsign")
Sqrt = float_call("nd.sqrt")
Sub = call("nd.broadcast_sub")


def Sum(node, *inputs):
    if len({x.shape for x in inputs}) == 1:
        return mx.nd.add_n(*inputs)
    result = inputs[0]
    for x in inputs[1:]:
        result = mx.nd.broadcast_add(result, x)
    return result


@composed
def Swish(node, x):
    return x * mx.nd.sigmoid(x * node.get("alpha", 1.0))


Tan = float_call("nd.tan")
Tanh = float_call("nd.tanh")


@composed
def ThresholdedRelu(node, x):
    alpha = node.get("alpha", 1.0)
    return mx.nd.where(x > alpha, x, mx.nd.zeros_like(x))


Xor = _logical("nd.broadcast_logical_xor")


def _window(name):
    def row(node, size):
        size = ints(size)[0]
        # A periodic window is a symmetric one of one element more, without its last.
        extra = 1 if node.get("periodic", 1) else 0
        from .parts import type_name

        window = getattr(mx.np, name)(size + extra, dtype="float64").as_nd_ndarray()
        return cast(window[:size], type_name(node.get("output_datatype", 1)))

    return row


BlackmanWindow = _window("blackman")
HannWindow = _window("hanning")

_TEXTS = "mxnet has no texts"
MISSING = {
    "Bernoulli": "mxnet has no draw of booleans with probabilities of their own",
    "BitCast": "mxnet has no view as another type",
    "BitShift": "mxnet has no shift of bits",
    "CumProd": "mxnet has no cumulative product",
    "DFT": "mxnet has a Fourier transform on graphics cards only",
    "HammingWindow": "mxnet's has the coefficients 0.54 and 0.46, ONNX's 25/46 and 21/46",
    "MelWeightMatrix": "mxnet has no mel scale",
    "RegexFullMatch": _TEXTS,
    "STFT": "mxnet has a Fourier transform on graphics cards only",
    "Shrink": "mxnet has no shrinking activation",
    "StringConcat": _TEXTS,
    "StringNormalizer": _TEXTS,
    "StringSplit": _TEXTS,
    "TfIdfVectorizer": "mxnet has no counting of n-grams",
}
