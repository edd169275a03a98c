"""PyTorch: arithmetic, comparison and reduction."""

import torch

from ..table import call, composed

Abs = call("abs")
Acos = call("acos")


def Add(node, a, b):
    return torch.add(a, b)


def Softmax(node, x):
    if node.opset < 13:  # the trailing axes together are one
        axis = node.get("axis", 1) % max(x.dim(), 1)
        flat = x.reshape(x.shape[:axis].numel(), -1)
        return torch.softmax(flat, 1).reshape(x.shape)
    return torch.softmax(x, node.get("axis", -1))


@composed
def Celu(node, x):
    return torch.celu(x, node.get("alpha", 1.0))


MISSING = {
    "StringConcat": "torch has no texts",
}
