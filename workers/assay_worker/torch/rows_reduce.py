"""PyTorch: reductions, cumulative sums, sorting, softmax, products of matrices."""

import torch
from torch.nn import functional

from ..table import call, composed, unsupported
from .parts import RELEASE, axes_of, flattened, number


def ArgMax(node, x):
    return _best(torch.argmax, node, x)


def ArgMin(node, x):
    return _best(torch.argmin, node, x)


def CumProd(node, x, axis):
    return _running(torch.cumprod, torch.ones_like, node, x, number(axis))


def CumSum(node, x, axis):
    return _running(torch.cumsum, torch.zeros_like, node, x, number(axis))


Det = call("det")


def Einsum(node, *inputs):
    return torch.einsum(node["equation"], *inputs)


def Gemm(node, a, b, c=None):
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    a = a.t() if node.get("transA", 0) else a
    b = b.t() if node.get("transB", 0) else b
    if not a.is_floating_point():
        alpha, beta = _whole(alpha), _whole(beta)
    if c is None:
        product = torch.mm(a, b)
        return product if alpha == 1 else product * alpha
    return torch.addmm(c, a, b, beta=beta, alpha=alpha)


@composed
def Hardmax(node, x):
    if node.opset < 13:
        axis = node.get("axis", 1) % max(x.dim(), 1)
        flat = flattened(x, axis)
        return _first_best(flat, 1).reshape(x.shape)
    return _first_best(x, node.get("axis", -1))


def LogSoftmax(node, x):
    return _soft(torch.log_softmax, node, x)


@composed
def LpNormalization(node, x):
    return functional.normalize(x, p=node.get("p", 2), dim=node.get("axis", -1))


MatMul = call("matmul")


@composed
def MeanVarianceNormalization(node, x):
    axes = node.get("axes", [0, 2, 3])
    mean = torch.mean(x, axes, keepdim=True)
    return (x - mean) / (torch.std(x, axes, unbiased=False, keepdim=True) + 1e-9)


@composed
def NonZero(node, x):
    return torch.nonzero(x).t()


def ReduceL1(node, x, axes=None):
    return _reduced(_norm(1), node, x, axes)


def ReduceL2(node, x, axes=None):
    return _reduced(_norm(2), node, x, axes)


@composed
def ReduceLogSum(node, x, axes=None):
    return _reduced(lambda x, dims, keep: torch.log(torch.sum(x, dims, keep)), node, x, axes)


def ReduceLogSumExp(node, x, axes=None):
    return _reduced(torch.logsumexp, node, x, axes)


def ReduceMax(node, x, axes=None):
    one = torch.amax if RELEASE >= (1, 7) else _one_by_one(lambda *a: torch.max(*a)[0])
    return _reduced(one, node, x, axes, whole=False)


def ReduceMean(node, x, axes=None):
    if not x.is_floating_point():
        unsupported("a mean of integers")
    return _reduced(torch.mean, node, x, axes)


def ReduceMin(node, x, axes=None):
    one = torch.amin if RELEASE >= (1, 7) else _one_by_one(lambda *a: torch.min(*a)[0])
    return _reduced(one, node, x, axes, whole=False)


def ReduceProd(node, x, axes=None):
    return _reduced(_one_by_one(lambda *a: torch.prod(*a, dtype=x.dtype)), node, x, axes)


def ReduceSum(node, x, axes=None):
    def total(x, dims, keep):
        return torch.sum(x, dims, keep, dtype=x.dtype)

    return _reduced(total, node, x, axes, opset=13)


@composed
def ReduceSumSquare(node, x, axes=None):
    return _reduced(lambda x, d, k: torch.sum(x * x, d, k, dtype=x.dtype), node, x, axes)


def Softmax(node, x):
    return _soft(torch.softmax, node, x)


def TopK(node, x, k=None):
    count = number(k) if node.opset >= 10 else node["k"]
    largest, in_order = bool(node.get("largest", 1)), bool(node.get("sorted", 1))
    return tuple(torch.topk(x, count, node.get("axis", -1), largest, in_order))


@composed
def Unique(node, x):
    axis = node.get("axis")
    values, inverse, counts = torch.unique(
        x, sorted=True, return_inverse=True, return_counts=True, dim=axis
    )
    if not (node.wants(1) or not node.get("sorted", 1)):
        return values, None, inverse.reshape(-1), counts
    if RELEASE < (1, 12):
        unsupported("the places of unique elements")
    places = torch.arange(inverse.numel())
    first = torch.full_like(counts, inverse.numel())
    first = first.scatter_reduce(0, inverse.reshape(-1), places, "amin")
    inverse = inverse.reshape(-1)
    if not node.get("sorted", 1):  # as they come
        order = torch.argsort(first)
        values = values.index_select(axis or 0, order)
        first, counts, inverse = first[order], counts[order], torch.argsort(order)[inverse]
    return values, first, inverse, counts


def _best(function, node, x):
    axis, keep = node.get("axis", 0), bool(node.get("keepdims", 1))
    if not node.get("select_last_index", 0):
        return function(x, axis, keep)
    return x.shape[axis] - 1 - function(torch.flip(x, [axis]), axis, keep)


def _first_best(x, axis):
    best = torch.argmax(x, axis, True)
    return torch.zeros_like(x).scatter(axis, best, torch.ones_like(best).to(x.dtype))


def _norm(order):
    """Return the norm of an order; of integers, which torch's does not take, in parts."""

    def norm(x, dims, keep):
        if x.is_floating_point():
            if RELEASE >= (1, 9):
                return torch.linalg.vector_norm(x, order, dims, keep)
            return torch.norm(x, order, dims, keep)
        if order == 1:
            return torch.sum(torch.abs(x), dims, keep, dtype=x.dtype)
        return torch.sqrt(torch.sum(x * x, dims, keep).to(torch.float64)).to(x.dtype)

    return norm


def _one_by_one(function):
    """Return a reduction of many axes made of one that takes a single axis."""

    def reduction(x, dims, keep):
        for axis in sorted((d % max(x.dim(), 1) for d in dims), reverse=True):
            x = function(x, axis, keep)
        return x

    return reduction


def _reduced(function, node, x, axes, whole=True, opset=18):
    """Reduce along a node's axes; `whole` tells that nothing reduces to something."""
    dims = axes_of(node, axes, opset)
    if not dims:
        if node.get("noop_with_empty_axes", 0):
            return x.clone()
        dims = list(range(x.dim()))
    if not whole and any(x.shape[d] == 0 for d in dims):
        unsupported("a reduction of nothing")
    return function(x, dims, bool(node.get("keepdims", 1)))


def _running(function, neutral, node, x, axis):
    """Accumulate along an axis, from either end, with or without the element itself."""
    back = node.get("reverse", 0)
    x = torch.flip(x, [axis]) if back else x
    if node.get("exclusive", 0):
        start = neutral(x.narrow(axis, 0, 1))
        x = torch.cat([start, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
    y = function(x, axis, dtype=x.dtype)
    return torch.flip(y, [axis]) if back else y


def _soft(function, node, x):
    if node.opset < 13:  # the trailing axes together are one
        axis = node.get("axis", 1) % max(x.dim(), 1)
        return function(flattened(x, axis), 1).reshape(x.shape)
    return function(x, node.get("axis", -1))


def _whole(factor):
    if factor != int(factor):
        unsupported("a fraction of integers")
    return int(factor)
