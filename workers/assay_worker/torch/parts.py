"""PyTorch: what several rows share."""

import torch

from ..table import numbers, unsupported

RELEASE = numbers(torch.__version__)

# ONNX's element types by their names in torch; a release may lack the later ones.
_TYPE_NAMES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64",
    15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz",
    19: "float8_e5m2", 20: "float8_e5m2fnuz", 24: "float8_e8m0fnu",
}  # fmt: skip


class Answers(object):
    """What rows have asked of tensors as Python values, to be given again while a mode compiles.

    A compiler knows no values. So a model is first evaluated plainly, and the answers are kept in
    order; the same evaluation under the compiler gets them from here.
    """

    def __init__(self):
        """Start without keeping anything."""
        self.kept, self.replaying, self.place = None, False, 0

    def record(self):
        """Keep the answers from here on."""
        self.kept, self.replaying, self.place = [], False, 0

    def replay(self, kept):
        """Give kept answers from here on."""
        self.kept, self.replaying, self.place = kept, True, 0

    def stop(self):
        """Ask the tensors themselves again."""
        self.kept, self.replaying, self.place = None, False, 0

    def following(self):
        """Return the next of the kept answers."""
        self.place += 1
        return self.kept[self.place - 1]

    def keep(self, answer):
        """Return an answer, kept if that is wanted."""
        if self.kept is not None:
            self.kept.append(answer)
        return answer


ANSWERS = Answers()


def ints(tensor):
    """Return a tensor's elements as a list of Python's numbers, or None for no tensor."""
    if tensor is None:
        return None
    if ANSWERS.replaying:
        return list(ANSWERS.following())
    return list(ANSWERS.keep(tensor.reshape(-1).tolist()))


def known(find, array):
    """Return what `find` does of a file's own tensor, which a compiler cannot look into."""
    return ANSWERS.following() if ANSWERS.replaying else ANSWERS.keep(find(array))


def number(tensor, default=None):
    """Return a tensor's only element as Python's number."""
    return default if tensor is None else ints(tensor)[0]


def kind(onnx_type):
    """Return torch's type of a number of ONNX."""
    name = _TYPE_NAMES.get(onnx_type)
    if name is None or not hasattr(torch, name) or (onnx_type == 16 and RELEASE < (1, 7)):
        unsupported("elements of type %s" % (name or onnx_type))
    return getattr(torch, name)


def binary(path):
    """Return a row that calls a function of torch with two inputs that broadcast."""

    def row(node, a, b):
        if node.opset < 7 and a.shape != b.shape and node.get("axis") is not None:
            unsupported("broadcasting along an axis")
        return row.function(a, b)

    row.path = path
    return row


def axes_of(node, axes, since):
    """Return a node's axes as a list or None: an input from an opset on, before an attribute."""
    return ints(axes) if node.opset >= since else node.get("axes")


def by_rank(x, one, two, three):
    """Return which of three functions is for a tensor with a batch and channels."""
    functions = {3: one, 4: two, 5: three}
    if x.dim() not in functions or functions[x.dim()] is None:
        unsupported("%d-d tensors" % x.dim())
    return functions[x.dim()]


def wrapped(index, extent):
    """Return indices of which the negative ones count from the end as torch wants them."""
    index = index.to(torch.int64)
    return torch.where(index < 0, index + extent, index)


def flattened(x, axis):
    """Return a tensor as a matrix whose columns are the axes from one on."""
    return x.reshape(x.shape[:axis].numel(), x.shape[axis:].numel())


def padding(node, x, kernel, strides, dilations):
    """Return the begins and the ends of the spatial padding that a node's attributes mean."""
    auto, rank = node.get("auto_pad", "NOTSET"), len(kernel)
    if auto in ("", "NOTSET"):
        pads = node.get("pads") or [0] * (2 * rank)
        return list(pads[:rank]), list(pads[rank:])
    if auto == "VALID":
        return [0] * rank, [0] * rank
    begins, ends = [], []
    for extent, k, stride, dilation in zip(x.shape[2:], kernel, strides, dilations):
        out = -(-extent // (stride or 1))  # torch is to refuse strides of nothing, not this
        total = max(0, (out - 1) * stride + (k - 1) * dilation + 1 - extent)
        less, more = total // 2, total - total // 2
        begins.append(less if auto == "SAME_UPPER" else more)
        ends.append(more if auto == "SAME_UPPER" else less)
    return begins, ends


def interleaved(begins, ends):
    """Return padding in the order of torch's pad: the last axis first, begin and end in turn."""
    pads = []
    for begin, end in reversed(list(zip(begins, ends))):
        pads += [begin, end]
    return pads


def lowest(dtype):
    """Return the least number of a type."""
    return -float("inf") if dtype.is_floating_point else torch.iinfo(dtype).min
