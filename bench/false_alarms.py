"""False alarms: what `assay compare` says of healthy backends, and what is known of each alarm.

usage: false_alarms.py [--suites node,light,real] [--results FOLDER] BACKEND…

Compares each backend with the reference on the standard's node tests, the light models and the
real trained models, and prints a table: how many models were compared, how many values were judged,
how many models raised an alarm, and for how many of these tests/backends/known.json has the reason.
What remains is listed by name: each is a defect that nobody knows of yet, or an error of Assay.
With --results what was found is kept there, part by part of a suite, and not measured again: a
compiler may take hours, and one who stops it loses no more than a part.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from backend_tests import known_reasons  # noqa: E402
from real_models import MODELS, OTHER_BRANCHES, RealModel, save  # noqa: E402

SUITES = ["node", "light", "real"]
ENVIRONMENT = 3
# Seconds of a run: what compiles a large model is slow, and does not hang.
PATIENCE = {"node": 120, "light": 1800, "real": 1800}
PART = {"node": 50, "light": 1}  # tests


@dataclass
class Alarm:
    """One model on which a backend is said to be wrong."""

    model: str
    detail: str
    known: dict[str, str] | None = None


@dataclass
class Row:
    """What came of a backend on a suite."""

    backend: str
    version: str = ""
    models: int = 0
    values: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    alarms: list[Alarm] = field(default_factory=list)


def assay(*words: object) -> dict[str, Any]:
    """Run Assay and return its document."""
    done = subprocess.run(
        [str(ROOT / "build" / "assay"), *map(str, words), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode >= ENVIRONMENT:
        raise SystemExit(f"assay {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def on_tests(backend: str, suite: str, names: list[str]) -> dict[str, Any]:
    """Compare on some tests of a suite of the standard."""
    words = ("--backends", f"reference,{backend}", "--worker-timeout", PATIENCE[suite])
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).symlink_to(ROOT / "build" / "onnx-tests" / suite / name)
        document = assay("compare", folder, "--tests", *words)
    return {"tests": document["tests"], "total": document["backends"][1]}


def on_real_model(backend: str, model: RealModel) -> dict[str, Any]:
    """Compare on a real model; the document looks like that of a suite."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        save(data, model.inputs())
        words = ("compare", model.path, "--backends", f"reference,{backend}", "--data", data)
        document = assay(*words, "--worker-timeout", PATIENCE["real"])
    if "error" in document:
        return {"tests": [{"id": model.name, "error": document["error"]["message"]}]}
    for finding in document["findings"]:
        finding["alarm"] = finding["kind"] in {"inconsistency", "optimiser", "nondeterminism"}
    pairs = [pair for pair in document["pairs"] if pair["inconsistent"]]
    test = {"id": model.name, "findings": document["findings"], "inconsistent": pairs}
    return {"tests": [test], "total": document["backends"][1]}


def parts_of(backend: str, suite: str) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Return the parts of a suite, each by its name and what measures it."""
    if suite == "real":
        for model in MODELS + OTHER_BRANCHES:
            yield model.name, functools.partial(on_real_model, backend, model)
        return
    names = sorted(one.name for one in (ROOT / "build" / "onnx-tests" / suite).iterdir())
    for start in range(0, len(names), PART[suite]):
        part = names[start : start + PART[suite]]
        yield part[0], functools.partial(on_tests, backend, suite, part)


def alarms_of(backend: str, tests: list[dict[str, Any]]) -> list[Alarm]:
    """Return a line for each model with an alarm, with what is known of it."""
    reasons = known_reasons(backend)
    alarms = []
    for test in tests:
        findings = [one for one in test.get("findings", []) if one["alarm"]]
        pairs = test.get("inconsistent", [])
        if not findings and not pairs:
            continue
        detail = "; ".join(f"{one['verdict']} {one['op']} {one['detail']}" for one in findings[:2])
        detail = detail or f"outputs {pairs[0]['max']} times what rounding allows"
        name = re.sub("^test_", "", test["id"])
        known = next((row for row in reasons if re.fullmatch(row["tests"], name)), None)
        alarms.append(Alarm(test["id"], detail, known))
    return alarms


def measure(backend: str, suite: str, results: Path | None) -> Row:
    """Compare a backend on a suite, or read what came of it before."""
    row = Row(backend)
    for name, find in parts_of(backend, suite):
        kept = results / f"{backend}-{suite}" / f"{name}.json" if results else None
        if kept and kept.exists():
            document = json.loads(kept.read_text())
        else:
            document = find()
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(document, indent=1))
        row.alarms += alarms_of(backend, document["tests"])
        if total := document.get("total"):
            row.version = total["version"]
            row.models += total["answered"]
            row.values += total["judged"]
            row.verdicts.update(total["verdicts"])
    return row


def main() -> None:
    """Print the table, and every alarm that nothing is known of."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("backends", nargs="+")
    parser.add_argument("--suites", default=",".join(SUITES))
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    print("| backend | suite | models | values judged | suspicious | tie | alarms | known | open |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    unknown = []
    for backend in options.backends:
        for suite in options.suites.split(","):
            row = measure(backend, suite, options.results)
            known = sum(alarm.known is not None for alarm in row.alarms)
            cells = [f"{backend} {row.version}", suite, row.models, row.values]
            cells += [row.verdicts["suspicious"], row.verdicts["tie"]]
            cells += [len(row.alarms), known, len(row.alarms) - known]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            unknown += [(backend, suite, alarm) for alarm in row.alarms if not alarm.known]
    for backend, suite, alarm in unknown:
        print(f"{backend} {suite} {alarm.model}: {alarm.detail}")


if __name__ == "__main__":
    main()
