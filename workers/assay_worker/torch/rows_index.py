"""PyTorch: elements picked, put, and found by their places."""

import torch
from torch.nn import functional

from ..table import composed, unsupported
from .parts import RELEASE, number, wrapped

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def Compress(node, x, condition):
    axis = node.get("axis")
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    return x.index_select(axis, torch.nonzero(condition).reshape(-1))


def Gather(node, x, index):
    axis = node.get("axis", 0) % max(x.dim(), 1)
    return x[(slice(None),) * axis + (index.to(torch.int64),)]


def GatherElements(node, x, index):
    axis = node.get("axis", 0)
    return torch.gather(x, axis, wrapped(index, x.shape[axis]))


@composed
def GatherND(node, x, index):
    batch, index = node.get("batch_dims", 0), index.to(torch.int64)
    return x[_batch_places(x.shape[:batch], index.dim() - 1) + index.unbind(-1)]


def GridSample(node, x, grid):
    modes = {"bilinear": "bilinear", "linear": "bilinear", "nearest": "nearest"}
    modes.update({"cubic": "bicubic", "bicubic": "bicubic"})
    mode = modes.get(node.get("mode", "linear"), node.get("mode"))
    if mode == "bicubic" and (x.dim() != 4 or RELEASE < (1, 7)):
        unsupported("cubic sampling of %d-d tensors" % x.dim())
    return functional.grid_sample(
        x,
        grid,
        mode=mode,
        padding_mode=node.get("padding_mode", "zeros"),
        align_corners=bool(node.get("align_corners", 0)),
    )


@composed
def OneHot(node, index, depth, values):
    count, axis = int(number(depth)), node.get("axis", -1)
    hot = functional.one_hot(wrapped(index, count), count).to(torch.bool)
    hot = hot.permute(_axes_with_last_at(hot.dim(), axis % hot.dim()))
    off, on = values.unbind(0)
    return torch.where(hot, on, off)


@composed
def ReverseSequence(node, x, lengths):
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    places = torch.arange(x.shape[time]).unsqueeze(0)
    ends = lengths.to(torch.int64).unsqueeze(1)
    index = torch.where(places < ends, ends - 1 - places, places)  # by batch, then time
    index = index if batch < time else index.t()
    shape = [x.shape[n] if n in (batch, time) else 1 for n in range(x.dim())]
    return torch.gather(x, time, index.reshape(shape).expand(x.shape))


def Scatter(node, x, index, updates):
    return ScatterElements(node, x, index, updates)


def ScatterElements(node, x, index, updates):
    axis, reduction = node.get("axis", 0), node.get("reduction", "none")
    index = wrapped(index, x.shape[axis])
    if reduction == "none":
        return torch.scatter(x, axis, index, updates)
    if reduction == "add":
        return torch.scatter_add(x, axis, index, updates)
    if RELEASE < (1, 12):
        unsupported("reduction=%s" % reduction)
    return torch.scatter_reduce(x, axis, index, updates, _REDUCTIONS[reduction])


def ScatterND(node, x, index, updates):
    reduction, index = node.get("reduction", "none"), index.to(torch.int64)
    if reduction in ("none", "add"):
        return torch.index_put(x, index.unbind(-1), updates, accumulate=reduction == "add")
    if RELEASE < (1, 12):
        unsupported("reduction=%s" % reduction)
    depth = index.shape[-1]  # torch reduces along one axis: the indexed ones become one
    place = torch.zeros(index.shape[:-1], dtype=torch.int64)
    for extent, part in zip(x.shape[:depth], index.unbind(-1)):
        place = place * extent + wrapped(part, extent)
    flat = x.reshape((x.shape[:depth].numel(),) + tuple(x.shape[depth:]))
    rows = updates.reshape((place.numel(),) + tuple(x.shape[depth:]))
    mode = {"mul": "prod", "max": "amax", "min": "amin"}[reduction]
    return torch.index_reduce(flat, 0, place.reshape(-1), rows, mode).reshape(x.shape)


@composed
def TensorScatter(node, cache, update, starts=None):
    axis = node.get("axis", -2) % cache.dim()
    length, extent = update.shape[axis], cache.shape[axis]
    if starts is None:
        starts = torch.zeros(cache.shape[0], dtype=torch.int64)
    places = starts.to(torch.int64).unsqueeze(1) + torch.arange(length)
    if node.get("mode", "linear") == "circular":
        places = torch.remainder(places, extent)
    shape = [cache.shape[0]] + [1] * (cache.dim() - 1)
    shape[axis] = length
    return torch.scatter(cache, axis, places.reshape(shape).expand(update.shape), update)


def _axes_with_last_at(rank, place):
    """Return the order of axes that has the last one at a place."""
    order = list(range(rank - 1))
    order.insert(place, rank - 1)
    return order


def _batch_places(extents, rank):
    """Return, for each of the leading axes, its own places in the shape of indices."""
    places = []
    for axis, extent in enumerate(extents):
        shape = [1] * rank
        shape[axis] = extent
        places.append(torch.arange(extent).reshape(shape))
    return tuple(places)
