"""Polygraphy's `debug reduce` on planted defects, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from peer import prepared, shapes_of
from planted_cases import ROOT, Case, display_name
from real_models import RealModel, save

CHECK = str(ROOT / "bench" / "planted_check.py")


def golden_values(model: RealModel, other: str, folder: Path) -> dict[str, Path]:
    """Write every inner value, of another framework and of the planted one's own runtime."""
    inputs, theirs, own = folder / "inputs.npz", folder / "other.npz", folder / "own.npz"
    given = model.inputs()
    save(inputs, given)
    program = [str(ROOT / "build" / "assay"), "run", str(model.path), "--inputs", str(inputs)]
    home = os.environ.get("ASSAY_HOME", str(ROOT / "build" / "backends"))
    subprocess.run(
        [*program, "--backend", other, "--hidden", "--outputs", str(theirs)],
        check=True,
        capture_output=True,
        env={**os.environ, "ASSAY_HOME": home},
    )
    save(theirs, {**given, **dict(np.load(theirs))})
    python = str(prepared() / "python")
    subprocess.run([python, CHECK, str(model.path), str(inputs), str(own)], check=True)
    return {"reduce": theirs, "reduce_own": own}


def reduced(model: RealModel, case: Case, golden: Path, folder: Path) -> list[str]:
    """Return the nodes of the model that is left."""
    programs = prepared()
    (folder / "left.onnx").unlink(missing_ok=True)
    subprocess.run(
        [
            *(str(programs / "polygraphy"), "debug", "reduce", str(model.path)),
            *("-o", "left.onnx", "--mode", "bisect", "--model-input-shapes", *shapes_of(model)),
            *("--check", str(programs / "python"), CHECK, "polygraphy_debug.onnx", str(golden)),
        ],
        cwd=folder,
        env={**os.environ, "PLANTED": f"{case.defect}@{case.value}"},
        capture_output=True,
        check=False,
        timeout=600,
    )
    if not (folder / "left.onnx").exists():
        return []
    graph = onnx.load(str(folder / "left.onnx")).graph
    return [display_name(node) for node in graph.node if node.op_type != "Constant"]


def reduce_all(model: RealModel, cases: list[Case], count: int, other: str, seed: int) -> None:
    """Reduce a sample of a model's cases, and note what is left in their rows."""
    chosen = np.random.default_rng(seed).permutation(len(cases))[:count]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for rule, golden in golden_values(model, other, folder).items():
            for index in chosen:
                case, start = cases[index], time.monotonic()
                left = reduced(model, case, golden, folder)
                case.rows[rule] = {
                    **case.place_of(left),
                    "seconds": time.monotonic() - start,
                }
                print("r", end="", file=sys.stderr, flush=True)
