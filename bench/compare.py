"""Every tensor of real models compared on two backends, beside Polygraphy; prints a table.

usage: bench/compare.py [MODEL …]
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from peer import prepared, shapes_of  # noqa: E402
from real_models import MODELS, RealModel, save  # noqa: E402

ASSAY = str(ROOT / "build" / "assay")
BACKENDS = ("onnxruntime", "onnxruntime-noopt")
REPEAT = 5


def processor_seconds() -> float:
    """Return what processes that have ended took of the processors, and those that they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command: list[str]) -> tuple[tuple[float, float], str]:
    """Run a command; return its seconds, those of the processors, and what it printed."""
    start, before = time.perf_counter(), processor_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (time.perf_counter() - start, processor_seconds() - before), done.stdout


def row(model: RealModel) -> str:
    """Compare every tensor of a model by both, in turns, each with all cores."""
    ours, theirs = (float("inf"),) * 2, (float("inf"),) * 2
    document: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "inputs.npz")
        save(Path(data), model.inputs())
        assay = [ASSAY, "compare", str(model.path), "--data", data, "--json"]
        assay += ["--backends", ",".join(BACKENDS)]
        peer = [str(prepared() / "polygraphy"), "run", str(model.path), "--onnxrt", "--onnxrt"]
        peer += ["--onnx-outputs", "mark", "all", "--input-shapes", *shapes_of(model)]
        for _ in range(REPEAT):
            seconds, text = timed(assay)
            ours, document = min(ours, seconds), json.loads(text)
            theirs = min(theirs, timed(peer)[0])
    judged = [one["judged"] for one in document["backends"]]
    return (
        f"| {model.name} | {judged[0]} | {ours[0]:.2f} | {theirs[0]:.2f} "
        f"| {theirs[0] / ours[0]:.1f} | {ours[1]:.2f} | {theirs[1]:.2f} |"
    )


def main() -> int:
    """Measure the named models, or nudenet."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else nobody's imports are fast
    os.environ.setdefault("ASSAY_HOME", str(ROOT / "build" / "backends"))
    names = sys.argv[1:] or ["nudenet"]
    subprocess.run([ASSAY, "backends", "install", *BACKENDS], capture_output=True, check=True)
    columns = ["model", "values judged", "assay s", "polygraphy s", "times faster"]
    columns += ["assay processor s", "polygraphy processor s"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for model in MODELS:
        if model.name in names:
            print(row(model), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
