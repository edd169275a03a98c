"""Chooses where defects are planted: a node of a real model for each defect."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "workers")]

from defects import DEFECTS  # noqa: E402
from planting import Fusion, Graph, planted  # noqa: E402
from real_models import MODELS, Arrays, RealModel, session  # noqa: E402

# Models whose nodes are in the main graph, where a runtime shows what it computes.
NAMES = (
    "silero_vad_16k_sequence",
    "silero_vad_openvino_16k",
    "magika",
    "ppocr_cls",
    "basic_pitch",
    "nudenet",
    "ppocr_rec",
)
TRIES = 6


@dataclass
class Case:
    """A defect at a node."""

    model: str
    defect: str
    value: str  # the node's first output
    nodes: list[str]  # the node, or both of a fused pair
    op: str
    fused: bool
    change: float  # the largest of an output
    rows: dict[str, Any] = field(default_factory=dict)  # by rule

    def place_of(self, candidates: list[str]) -> dict[str, Any]:
        """Tell what a rule's candidates, best first, are worth."""
        places = [place for place, name in enumerate(candidates) if name in self.nodes]
        return {
            "candidates": len(candidates),
            "first": candidates[:3],
            "place": places[0] + 1 if places else 0,
        }


def model_of(name: str) -> RealModel:
    """Return the real model of a name."""
    return next(model for model in MODELS if model.name == name)


def display_name(node: Any) -> str:
    """Return what Assay calls a node."""
    return str(node.name or next(name for name in node.output if name))


def _change(before: list[Any], after: list[Any]) -> float:
    """Return the largest difference of an output; infinity where shapes differ."""
    largest = 0.0
    for old, new in zip(before, after, strict=True):
        if old.shape != new.shape or np.isnan(old).any() != np.isnan(new).any():
            return float("inf")
        if old.size:
            largest = max(largest, float(np.max(np.abs(np.nan_to_num(old - new)))))
    return largest


def _outputs(data: bytes, inputs: Arrays) -> list[Any] | None:
    """Run without the runtime's own optimisations; None if the model does not run."""
    try:
        return list(session(data, optimise=False).run(None, inputs))
    except Exception:
        return None


def _names(graph: Any, value: str, defect: str) -> list[str]:
    """Return the planted node, or both of a fused pair."""
    node = graph.makers[value]
    names = [display_name(node)]
    if isinstance(DEFECTS[defect], Fusion):
        makers = [graph.makers[name] for name in node.input if name in graph.makers]
        names += [display_name(m) for m in makers if m.op_type == DEFECTS[defect].first]
    return names


def cases_of(model: RealModel, each: int, seed: int, only: str = "") -> Iterator[Case]:
    """Draw up to `each` nodes a defect. A defect that no output shows at all is drawn again."""
    data, inputs = model.path.read_bytes(), model.inputs()
    graph, random = Graph(data), np.random.default_rng(seed)
    healthy = _outputs(data, inputs)
    assert healthy is not None
    for defect in sorted(DEFECTS):
        sites = graph.sites(defect) if only in defect else []
        found = 0
        for value in random.permutation(sites)[:TRIES]:
            outputs = _outputs(planted(data, defect, str(value)), inputs)
            change = 0.0 if outputs is None else _change(healthy, outputs)
            if change == 0:
                continue
            op, fused = graph.makers[value].op_type, isinstance(DEFECTS[defect], Fusion)
            names = _names(graph, str(value), defect)
            yield Case(model.name, defect, str(value), names, op, fused, change)
            found += 1
            if found == each:
                break
