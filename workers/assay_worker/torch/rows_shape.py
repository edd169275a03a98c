"""PyTorch: shapes, slices, padding, and how tensors are laid out."""

import torch
from torch.nn import functional

from ..table import composed, unsupported
from .parts import RELEASE, axes_of, interleaved, ints, kind, known


def AffineGrid(node, theta, size):
    return functional.affine_grid(theta, ints(size), bool(node.get("align_corners", 0)))


@composed
def CenterCropPad(node, x, shape):
    axes = node.get("axes", list(range(x.dim())))
    begins, ends = [0] * x.dim(), [0] * x.dim()
    for axis, wanted in zip(axes, ints(shape)):
        more = wanted - x.shape[axis]
        begins[axis] = more // 2 if more > 0 else -(-more // 2)
        ends[axis] = more - begins[axis]
    return functional.pad(x, interleaved(begins, ends))


def Col2Im(node, x, image_shape, block_shape):
    image, block = ints(image_shape), ints(block_shape)
    rank = len(image)
    if rank != 2:
        unsupported("%d-d images" % rank)
    pads = node.get("pads", [0] * (2 * rank))
    if pads[:rank] != pads[rank:]:
        unsupported("unequal padding")
    return functional.fold(
        x,
        image,
        block,
        dilation=node.get("dilations", [1] * rank),
        padding=pads[:rank],
        stride=node.get("strides", [1] * rank),
    )


def Concat(node, *inputs):
    return torch.cat(inputs, node.get("axis", 1))


def _first(array):
    """Return a tensor's first element as Python's number."""
    return array.numpy().reshape(-1)[0].item()


def ConstantOfShape(node, shape):
    value = node.get("value")
    if value is None:
        return torch.zeros(ints(shape))
    fill = known(_first, value)
    return torch.full(ints(shape), fill, dtype=kind(value.type))


@composed
def DepthToSpace(node, x):
    block = node["blocksize"]
    if node.get("mode", "DCR") == "CRD":
        return functional.pixel_shuffle(x, block)
    n, c, h, w = x.shape
    parts = x.reshape(n, block, block, c // (block * block), h, w)
    return parts.permute(0, 3, 4, 1, 5, 2).reshape(n, c // (block * block), h * block, w * block)


def Expand(node, x, shape):
    wanted = ints(shape)
    if RELEASE >= (1, 8):
        wanted = torch.broadcast_shapes(tuple(x.shape), tuple(wanted))
        return torch.broadcast_to(x, wanted)
    extents = [1] * (len(wanted) - x.dim()) + list(x.shape)
    wanted = [1] * (len(extents) - len(wanted)) + wanted
    return x.expand([have if want == 1 else want for have, want in zip(extents, wanted)])


@composed
def EyeLike(node, x):
    dtype = kind(node.get("dtype")) if node.get("dtype") else x.dtype
    shift, (rows, columns) = node.get("k", 0), x.shape
    if not shift:
        return torch.eye(rows, columns, dtype=dtype)
    whole = torch.ones(rows, columns)
    return torch.triu(torch.tril(whole, shift), shift).to(dtype)


def Flatten(node, x):
    axis = node.get("axis", 1)
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(x.shape[:axis].numel(), x.shape[axis:].numel())


def Pad(node, x, pads=None, value=None, axes=None):
    if node.opset >= 11:
        pads, value, axes = ints(pads), ints(value), ints(axes)
        value = value[0] if value else 0
    else:
        pads, value = node.get("pads", node.get("paddings")), node.get("value", 0.0)
    axes = list(range(x.dim())) if axes is None else axes
    begins, ends = [0] * x.dim(), [0] * x.dim()
    for axis, begin, end in zip(axes, pads[: len(axes)], pads[len(axes) :]):
        begins[axis], ends[axis] = begin, end
    mode = node.get("mode", "constant")
    if mode == "constant":
        return functional.pad(x, interleaved(begins, ends), "constant", value)
    return _pad_by_itself(x, begins, ends, mode)


def Reshape(node, x, shape=None):
    wanted = ints(shape) if node.opset >= 5 else list(node["shape"])
    if not node.get("allowzero", 0):
        wanted = [x.shape[n] if extent == 0 else extent for n, extent in enumerate(wanted)]
    return torch.reshape(x, wanted)


def Shape(node, x):
    extents = list(x.shape)[node.get("start", 0) : node.get("end")]
    return torch.tensor(extents, dtype=torch.int64)


def Size(node, x):
    return torch.tensor(x.numel(), dtype=torch.int64)


def Slice(node, x, starts=None, ends=None, axes=None, steps=None):
    if node.opset >= 10:
        starts, ends, axes, steps = ints(starts), ints(ends), ints(axes), ints(steps)
    else:
        starts, ends, axes = node["starts"], node["ends"], node.get("axes")
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    parts = [slice(None)] * x.dim()
    backward = []
    for start, end, axis, step in zip(starts, ends, axes, steps):
        if step < 0:  # torch has no steps backward: turn the axis around first
            last = x.shape[axis] - 1
            first, after, _ = slice(start, end, step).indices(last + 1)
            parts[axis] = slice(last - first, last - after, -step)
            backward.append(axis)
        else:
            parts[axis] = slice(start, end, step)
    return (torch.flip(x, backward) if backward else x)[tuple(parts)]


@composed
def SpaceToDepth(node, x):
    block, (n, c, h, w) = node["blocksize"], x.shape
    if node.get("mode", "DCR") == "CRD" and RELEASE >= (1, 8):
        return functional.pixel_unshuffle(x, block)
    parts = x.reshape(n, c, h // block, block, w // block, block)
    order = (0, 1, 3, 5, 2, 4) if node.get("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    return parts.permute(*order).reshape(n, c * block * block, h // block, w // block)


def Split(node, x, sizes=None):
    axis = node.get("axis", 0)
    sizes = ints(sizes) if node.opset >= 13 else node.get("split")
    if sizes is None:
        sizes = -(-x.shape[axis] // len(node.outputs))
    return tuple(torch.split(x, sizes, axis))


def Squeeze(node, x, axes=None):
    axes = axes_of(node, axes, 13)
    if axes is None:
        return torch.squeeze(x)
    if RELEASE >= (2, 0):
        return torch.squeeze(x, tuple(axes))
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = torch.squeeze(x, axis)
    return x


def Tile(node, x, repeats, axis=None):
    if axis is not None:
        unsupported("Tile before opset 6")
    return x.repeat(ints(repeats))


def Transpose(node, x):
    return x.permute(node.get("perm") or list(range(x.dim()))[::-1])


def Trilu(node, x, k=None):
    function = torch.triu if node.get("upper", 1) else torch.tril
    return function(x, (ints(k) or [0])[0])


def Unsqueeze(node, x, axes=None):
    axes = axes_of(node, axes, 13)
    rank = x.dim() + len(axes)
    for axis in sorted(a + rank if a < 0 else a for a in axes):
        x = torch.unsqueeze(x, axis)
    return x


def _pad_by_itself(x, begins, ends, mode):
    """Pad with the tensor's own elements: torch does so on at most three axes, the last ones."""
    modes = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    if mode not in modes:
        unsupported("mode=%s" % mode)
    first = 0
    while first < x.dim() - 1 and not begins[first] and not ends[first]:
        first += 1
    if x.dim() - first > 3:
        unsupported("padding of %d axes with mode=%s" % (x.dim() - first, mode))
    lead = x.shape[:first]
    y = x.reshape((1, lead.numel()) + tuple(x.shape[first:]))
    y = functional.pad(y, interleaved(begins[first:], ends[first:]), modes[mode])
    return y.reshape(tuple(lead) + tuple(y.shape[2:]))
