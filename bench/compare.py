"""Every tensor of real models compared on two backends, beside Polygraphy; prints a table.

usage: bench/compare.py [MODEL …]
"""

from __future__ import annotations

import json
import os
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
REPEAT = 3


def timed(command: list[str]) -> tuple[float, str]:
    """Run a command; return its seconds and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return time.perf_counter() - start, done.stdout


def row(model: RealModel) -> str:
    """Compare every tensor of a model by both, in turns, each with all cores."""
    ours, theirs = float("inf"), float("inf")
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
    return f"| {model.name} | {judged[0]} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.1f} |"


def main() -> int:
    """Measure the named models, or nudenet."""
    os.environ.setdefault("ASSAY_HOME", str(ROOT / "build" / "backends"))
    names = sys.argv[1:] or ["nudenet"]
    subprocess.run([ASSAY, "backends", "install", *BACKENDS], capture_output=True, check=True)
    print(
        "| model | values judged | assay s | polygraphy s | times faster |\n|---|---|---|---|---|"
    )
    for model in MODELS:
        if model.name in names:
            print(row(model), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
