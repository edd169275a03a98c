"""PyTorch: elementwise arithmetic, comparison, logic, and activations."""

import functools
import math
import operator

import torch
from torch.nn import functional

from ..table import call, composed, since, unsupported
from .parts import RELEASE, binary, number

Abs = call("abs")
Acos = call("acos")
Acosh = call("acosh")
Add = binary("add")


def And(node, a, b):
    return torch.logical_and(a, b) if RELEASE >= (1, 5) else a & b


Asin = call("asin")
Asinh = call("asinh")
Atan = call("atan")
Atanh = call("atanh")


@since("1.10")
def BitShift(node, x, by):
    if node["direction"] == "LEFT":
        return torch.bitwise_left_shift(x, by)
    return torch.bitwise_right_shift(x, by)


def BitwiseAnd(node, a, b):
    return torch.bitwise_and(a, b) if RELEASE >= (1, 5) else a & b


BitwiseNot = call("bitwise_not")


def BitwiseOr(node, a, b):
    return torch.bitwise_or(a, b) if RELEASE >= (1, 5) else a | b


def BitwiseXor(node, a, b):
    return torch.bitwise_xor(a, b) if RELEASE >= (1, 5) else a ^ b


Ceil = call("ceil")


def Celu(node, x):
    return torch.celu(x, node.get("alpha", 1.0))


def Clip(node, x, low=None, high=None):
    if node.opset < 11:
        low, high = node.get("min"), node.get("max")
    elif RELEASE < (1, 9):
        low, high = number(low), number(high)
    if low is None and high is None:
        return x.clone()
    return torch.clamp(x, min=low, max=high)


Cos = call("cos")
Cosh = call("cosh")


def Div(node, a, b):
    if a.is_floating_point() or RELEASE < (1, 5):
        return torch.div(a, b)
    return torch.div(a, b, rounding_mode="trunc")


def Elu(node, x):
    return functional.elu(x, node.get("alpha", 1.0))


Equal = binary("eq")
Erf = call("erf")
Exp = call("exp")
Floor = call("floor")


def Gelu(node, x):
    approximate = node.get("approximate", "none")
    if RELEASE >= (1, 12):
        return functional.gelu(x, approximate=approximate)
    if approximate != "none":
        unsupported("approximate=%s" % approximate)
    return functional.gelu(x)


Greater = binary("gt")
GreaterOrEqual = binary("ge")


@composed
def HardSigmoid(node, x):
    alpha, beta = node.get("alpha", 0.2), node.get("beta", 0.5)
    if RELEASE >= (1, 6) and beta == 0.5 and abs(alpha - 1 / 6.0) < 1e-8:
        return functional.hardsigmoid(x)
    return torch.clamp(x * alpha + beta, 0, 1)


HardSwish = call("nn.functional.hardswish")


def Identity(node, x):
    if not torch.is_tensor(x):
        unsupported("sequences")
    return x.clone()


def IsInf(node, x):
    negative, positive = node.get("detect_negative", 1), node.get("detect_positive", 1)
    if negative and positive:
        return torch.isinf(x)
    if not negative and not positive:
        return torch.zeros_like(x, dtype=torch.bool)
    if RELEASE < (1, 7):
        return torch.eq(x, math.inf if positive else -math.inf)
    return torch.isposinf(x) if positive else torch.isneginf(x)


IsNaN = call("isnan")


def LeakyRelu(node, x):
    return functional.leaky_relu(x, node.get("alpha", 0.01))


Less = binary("lt")
LessOrEqual = binary("le")
Log = call("log")


def Max(node, *inputs):
    return functools.reduce(torch.max, inputs) if len(inputs) > 1 else inputs[0].clone()


@composed
def Mean(node, *inputs):
    return torch.div(functools.reduce(torch.add, inputs), len(inputs))


def Min(node, *inputs):
    return functools.reduce(torch.min, inputs) if len(inputs) > 1 else inputs[0].clone()


Mish = call("nn.functional.mish")


def Mod(node, a, b):
    return torch.fmod(a, b) if node.get("fmod", 0) else torch.remainder(a, b)


Mul = binary("mul")
Neg = call("neg")
Not = call("logical_not")


def Or(node, a, b):
    return torch.logical_or(a, b) if RELEASE >= (1, 5) else a | b


def Pow(node, a, b):
    base = a if RELEASE >= (1, 5) else a.to(torch.result_type(a, b))
    return torch.pow(base, b).to(a.dtype)


def PRelu(node, x, slope):
    along = [n for n in range(slope.dim()) if slope.shape[n] != 1]
    channels = x.dim() - slope.dim() + along[0] if along else 1
    if x.is_floating_point() and x.dim() > 1 and len(along) <= 1 and channels == 1:
        return functional.prelu(x, slope.reshape(-1))
    return torch.where(x < 0, x * slope, x)


Reciprocal = call("reciprocal")
Relu = call("relu")
Round = call("round")


@composed
def Selu(node, x):
    alpha = node.get("alpha", 1.67326319217681884765625)
    gamma = node.get("gamma", 1.05070102214813232421875)
    if abs(alpha - 1.6732632) < 1e-6 and abs(gamma - 1.050701) < 1e-6:
        return torch.selu(x)
    return functional.elu(x, alpha) * gamma


@composed
def Shrink(node, x):
    bias, lambd = node.get("bias", 0.0), node.get("lambd", 0.5)
    if bias == 0:
        return functional.hardshrink(x, lambd)
    if bias == lambd:
        return functional.softshrink(x, lambd)
    low, high = (x < -lambd).to(x.dtype), (x > lambd).to(x.dtype)
    return (x + bias) * low + (x - bias) * high


Sigmoid = call("sigmoid")
Sign = call("sign")
Sin = call("sin")
Sinh = call("sinh")
Softplus = call("nn.functional.softplus")
Softsign = call("nn.functional.softsign")
Sqrt = call("sqrt")
Sub = binary("sub")


def Sum(node, *inputs):
    return functools.reduce(torch.add, inputs) if len(inputs) > 1 else inputs[0].clone()


@composed
def SwiGLU(node, a, b):
    return operator.mul(Swish(node, a), b)


@composed
def Swish(node, x):
    alpha = node.get("alpha", 1.0)
    if alpha == 1 and RELEASE >= (1, 7):
        return functional.silu(x)
    return x * torch.sigmoid(x * alpha)


Tan = call("tan")
Tanh = call("tanh")


def ThresholdedRelu(node, x):
    return functional.threshold(x, node.get("alpha", 1.0), 0.0)


Where = call("where")


def Xor(node, a, b):
    return torch.logical_xor(a, b)
