"""What all the programs share: a program has one numerical bug, or it is the fixed twin.

The operation that fails is called `danger` in TensorFlow, and by the path of the module in PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Program:
    """A program, and what is to be found in it."""

    name: str
    build: Callable[..., Any]
    check: str
    at: str
    inputs: dict[str, list[float]]
    parameters: dict[str, list[float]] = field(default_factory=dict)


class Programs:
    """All programs of one framework."""

    def __init__(self) -> None:
        """Begin with none."""
        self.all: list[Program] = []

    def __call__(
        self,
        check: str,
        at: str = "danger",
        parameters: dict[str, list[float]] | None = None,
        **inputs: list[float],
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Note a program with the check that fails, where, and the ranges of its inputs."""

        def note(build: Callable[..., Any]) -> Callable[..., Any]:
            self.all.append(Program(build.__name__, build, check, at, inputs, parameters or {}))
            return build

        return note

    def describe(self, folder: Path, suffix: str) -> None:
        """Write what is expected of each program beside the models."""
        for program in self.all:
            expected = {
                "file": program.name + suffix,
                "fixed": f"{program.name}.fixed{suffix}",
                "check": program.check,
                "at": program.at,
                "ranges": {"inputs": program.inputs, "parameters": program.parameters},
            }
            (folder / f"{program.name}.json").write_text(json.dumps(expected))
