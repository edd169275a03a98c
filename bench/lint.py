"""Lint over real architectures; prints a Markdown table for docs/lint-evaluation.md.

usage: bench/lint.py [FOLDER]

The networks of keras.applications are written to FOLDER (build/lint-graphs) first, unless they are
there; beside them the trained ONNX models of the tests and the standard's light models are looked
at. Seconds are of processor time, of the whole command, reading and translating the file included.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from real_models import MODELS  # noqa: E402

ASSAY = str(ROOT / "build" / "assay")
# Pixels; weights as after an initialiser; what is a mean of squares is not negative.
RANGES = {
    "inputs": {"images": [0, 255], "labels": [0, 999]},
    "parameters": {
        "*variance*": [0, 100],
        "*Adam_1": [0, 100],
        "beta1_power": [0, 0.9],
        "beta2_power": [0, 0.999],
        "*": [-1, 1],
    },
}


@dataclass
class Looked:
    """What lint said of a model in one setting."""

    checked: int
    warnings: int
    unknown: int
    seconds: float


def look(path: Path, ranges: Path | None, *setting: str) -> Looked:
    """Lint a model, and take the time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = ["--ranges", str(ranges)] if ranges else []
    done = subprocess.run(
        [ASSAY, "lint", str(path), *given, "--search", "0", "--json", *setting],
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    document: dict[str, Any] = json.loads(done.stdout)
    if "error" in document:
        raise RuntimeError(document["error"]["message"])
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Looked(document["checked"], document["warnings"], len(document["unknown"]), used)


def row(name: str, path: Path, ranges: Path | None) -> list[Looked]:
    """Print a line of the table; return what it says."""
    best = look(path, ranges)
    smashed = look(path, ranges, "--tensors", "smash")
    interval = look(path, ranges, "--tensors", "smash", "--numbers", "interval")
    print(
        f"| {name} | {best.checked} | {best.warnings} | {best.seconds:.2f} | {best.unknown} "
        f"| {smashed.warnings} | {smashed.seconds:.2f} | {interval.warnings} "
        f"| {interval.seconds:.2f} |",
        flush=True,
    )
    return [best, smashed, interval]


def write_graphs(folder: Path) -> None:
    """Let TensorFlow write what is missing of the networks."""
    home = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
    python = home / "environments" / "tensorflow" / "bin" / "python"
    subprocess.run(
        [str(python), str(ROOT / "bench" / "keras_graphs.py"), str(folder)],
        check=True,
        stdout=sys.stderr,
    )


def light_models() -> list[tuple[str, Path]]:
    """Return the standard's light models."""
    folder = ROOT / "build" / "onnx-tests" / "light"
    return [(path.parent.name, path) for path in sorted(folder.glob("*/model.onnx"))]


def main() -> None:
    """Print the table and what it sums up to."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "lint-graphs"
    if len(sys.argv) == 1:
        write_graphs(folder)
    print("| model | checked | warnings | s | unknown | smash | s | smash + interval | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as ranges:
        json.dump(RANGES, ranges)
        ranges.flush()
        for path in sorted(folder.glob("*.pb")):
            rows.append(row(path.stem, path, Path(ranges.name)))
    for model in MODELS:
        rows.append(row(model.name, model.path, None))
    for name, path in light_models():
        rows.append(row(name, path, None))
    for i, setting in enumerate(["partition + affine", "smash + affine", "smash + interval"]):
        all_of = [one[i] for one in rows]
        seconds = [one.seconds for one in all_of]
        print(
            f"\n{setting}: {sum(one.checked for one in all_of)} checked, "
            f"{sum(one.warnings for one in all_of)} warnings, mean "
            f"{sum(seconds) / len(seconds):.2f} s, longest {max(seconds):.2f} s"
        )
    slower = max(one[0].seconds / max(one[1].seconds, 0.01) for one in rows)
    print(f"\npartitions take at most {slower:.1f} times the time of smashing")


if __name__ == "__main__":
    main()
