"""Programs with a numerical bug, and their fixed twins, as PyTorch exports them to ONNX.

usage: torch_programs.py FOLDER PACKAGES

Runs in the environment of the backend torch, which lacks the package onnx: PACKAGES has it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(sys.argv[2])

import torch
from programs import Programs
from torch import nn
from torch.nn import functional

program = Programs()


class Written(nn.Module):
    """A module that is one function of its inputs."""

    def __init__(self, compute: Callable[..., Any]) -> None:
        """Keep the function."""
        super().__init__()
        self.compute = compute

    def forward(self, *inputs: Any) -> Any:
        """Compute it."""
        return self.compute(*inputs)


@program("lint.softmax", "/Log", logits=[-200, 200])
def entropy_of_a_policy(fixed: bool) -> Any:
    """Entropy of probabilities that may be 0."""

    def compute(logits: Any) -> Any:
        p = torch.softmax(logits, -1)
        logs = torch.log_softmax(logits, -1) if fixed else torch.log(p)
        return -(p * logs).sum(-1)

    return Written(compute), {"logits": (4, 6)}


@program("lint.nan", "/Softmax", scores=[-30, 30], mask=[0, 1])
def masked_attention(fixed: bool) -> Any:
    """Softmax over a row that is minus infinity throughout."""

    def compute(scores: Any, mask: Any) -> Any:
        hidden = -1e9 if fixed else float("-inf")
        return torch.softmax(scores.masked_fill(mask < 0.5, hidden), -1)

    return Written(compute), {"scores": (2, 5, 5), "mask": (2, 5, 5)}


@program("lint.divide", "/Div", x=[-4, 4])
def standardised_rows(fixed: bool) -> Any:
    """Rows are divided by their deviation, which is 0 where all elements are equal."""

    def compute(x: Any) -> Any:
        away = x - x.mean(-1, keepdim=True)
        deviation = (away * away).mean(-1, keepdim=True).sqrt()
        return away / (deviation + 1e-5 if fixed else deviation)

    return Written(compute), {"x": (3, 7)}


@program("lint.exp", "/Exp", x=[-1, 1], parameters={"*": [-50, 50]})
def gaussian_policy(fixed: bool) -> Any:
    """The deviation of a policy is the exponential of what a layer gives."""
    layer = nn.Linear(8, 2)

    class Policy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: Any) -> Any:
            log_deviation = self.layer(x)
            if fixed:
                log_deviation = log_deviation.clamp(-20, 2)
            return torch.exp(log_deviation)

    return Policy(), {"x": (3, 8)}


@program("lint.softmax", "/Log", x=[-60, 60], y=[-60, 60])
def relative_entropy(fixed: bool) -> Any:
    """A divergence with probabilities that may be 0 below the line."""

    def compute(x: Any, y: Any) -> Any:
        p, q = torch.softmax(x, -1), torch.softmax(y, -1)
        if fixed:
            return (p * (torch.log_softmax(x, -1) - torch.log_softmax(y, -1))).sum()
        return (p * (torch.log(p) - torch.log(q))).sum()

    return Written(compute), {"x": (2, 4), "y": (2, 4)}


@program("lint.log", "/Log", rate=[-10, 10], count=[0, 100])
def poisson_likelihood(fixed: bool) -> Any:
    """The logarithm of a rate that was cut off at 0."""

    def compute(rate: Any, count: Any) -> Any:
        positive = functional.softplus(rate) + 1e-6 if fixed else torch.relu(rate)
        return positive - count * torch.log(positive)

    return Written(compute), {"rate": (9,), "count": (9,)}


@program("lint.divide", "/Div", mean=[-3, 3], scale=[-200, 200], y=[-3, 3])
def softplus_deviation(fixed: bool) -> Any:
    """Softplus of a large negative number is 0."""

    def compute(mean: Any, scale: Any, y: Any) -> Any:
        deviation = functional.softplus(scale)
        if fixed:
            deviation = deviation + 1e-3
        return (y - mean) / deviation

    return Written(compute), {"mean": (5,), "scale": (5,), "y": (5,)}


@program("lint.divide", "/Div", x=[-1, 1], y=[-1, 1])
def cosine_of_vectors(fixed: bool) -> Any:
    """The product of two lengths, each of which may be 0."""

    def compute(x: Any, y: Any) -> Any:
        lengths = torch.sqrt((x * x).sum(-1)) * torch.sqrt((y * y).sum(-1))
        return (x * y).sum(-1) / (lengths.clamp(min=1e-8) if fixed else lengths)

    return Written(compute), {"x": (3, 6), "y": (3, 6)}


@program("lint.log_sum_exp", "/Log", x=[-100, 100])
def log_sum_exp(fixed: bool) -> Any:
    """The logarithm of a sum of exponentials, without the largest one taken out."""

    def compute(x: Any) -> Any:
        return torch.logsumexp(x, -1) if fixed else torch.log(torch.exp(x - 200.0).sum(-1))

    return Written(compute), {"x": (3, 6)}


@program("lint.divide", "/Div", x=[0, 1])
def between_the_extremes(fixed: bool) -> Any:
    """Scaling to [0, 1] divides by the distance of the extremes."""

    def compute(x: Any) -> Any:
        low, high = x.amin(), x.amax()
        return (x - low) / (torch.relu(high - low) + 1e-6 if fixed else high - low)

    return Written(compute), {"x": (12,)}


@program("lint.asin", "/Asin", x=[-2, 2])
def haversine(fixed: bool) -> Any:
    """The half of a great circle, from a number that rounding puts above 1."""

    def compute(x: Any) -> Any:
        part = torch.sin(x) ** 2 + torch.cos(x) ** 2
        return torch.asin(part.clamp(0, 1) if fixed else part)

    return Written(compute), {"x": (8,)}


def export(build: Any, fixed: bool, path: Path) -> None:
    """Export a program."""
    module, shapes = build(fixed)
    torch.onnx.export(
        module.eval(),
        tuple(torch.full(shape, 0.5) for shape in shapes.values()),
        str(path),
        dynamo=False,
        do_constant_folding=False,
        input_names=list(shapes),
    )


def main() -> None:
    """Export all programs."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    folder = Path(sys.argv[1])
    for one in program.all:
        export(one.build, False, folder / f"{one.name}.onnx")
        export(one.build, True, folder / f"{one.name}.fixed.onnx")
    program.describe(folder, ".onnx")


if __name__ == "__main__":
    main()
