"""Installs backends and holds a sample of the standard's node tests against what is known of each.

usage: backend_tests.py current|legacy [--sample N]

Every test that a backend answers wrongly, refuses with an error, or dies of has to stand in
tests/backends/known.json with its reason; a backend that passes none fails. The scripts of
docs/findings have to show what they say, each in its backend's own environment. The last line
counts the cases of each backend.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doc_commands import failures

ROOT = Path(__file__).resolve().parents[1]
ASSAY = str(ROOT / "build" / "assay")
NODE_TESTS = ROOT / "build" / "onnx-tests" / "node"
LAYER_CASES = ROOT / "tests" / "keras" / "keras2.jsonl.gz"
FINDINGS = ROOT / "docs" / "findings"
KNOWN = ROOT / "tests" / "backends" / "known.json"

CURRENT = [
    "onnxruntime",
    "onnxruntime-noopt",
    "openvino",
    "onnx-reference",
    "torch",
    "torch-compile",
    "tensorflow",
    "tensorflow-xla",
    "tflite",
    "jax",
    "jax-jit",
    "keras-tensorflow",
    "keras-jax",
    "keras-torch",
]
LEGACY = ["torch-1.4", "tensorflow-2.4", "mxnet-1.9", "mxnet-1.6", "tfkeras-2.4"]
# The operators of the standard that a table has to have.
LEAST_OPERATORS = {
    "torch": 130,
    "tensorflow": 130,
    "jax": 130,
    "mxnet-1.9": 60,
    "mxnet-1.6": 60,
}
ENVIRONMENT = 3


@dataclass
class Outcome:
    """What came of one backend."""

    name: str
    passed: int = 0
    total: int = 0
    problems: list[str] = field(default_factory=list)
    absent: str = ""

    def count(self) -> str:
        """Return the words of the last line."""
        return f"{self.name} {self.absent or f'{self.passed}/{self.total}'}"


def assay(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Run a command with --json."""
    done = subprocess.run(
        [ASSAY, *map(str, arguments), "--json"], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        raise RuntimeError(f"assay {arguments}: exit {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def standard_operators() -> set[str]:
    """Return the operators of the standard's default domain."""
    rows = assay("backends")[1]["backends"]
    reference = next(row for row in rows if row["name"] == "reference")
    return {name for name in reference["operators"] if "." not in name}


def known_reasons(name: str) -> list[dict[str, str]]:
    """Return what is known of a backend; a mode shares what is known of its framework."""
    known = json.loads(KNOWN.read_text())
    rows: list[dict[str, str]] = known.get(name, [])
    base = name.rpartition("-")[0]
    return rows + known.get(base, []) if base in known else rows


def unexpected(name: str, cases: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is neither passed nor unsupported, and is not known with its reason."""
    patterns = [row["tests"] for row in known_reasons(name)]
    for case in cases:
        wrong = case["status"] in {"failed", "error", "crashed"}
        test_name = case["id"].removeprefix("test_")
        if wrong and not any(re.fullmatch(pattern, test_name) for pattern in patterns):
            yield f"{case['status']} {case['id']}: {case['detail']}"


def test(name: str, sample: int) -> Outcome:
    """Install a backend and run the sample on it."""
    outcome = Outcome(name)
    code, document = assay("backends", "install", name)
    if code == ENVIRONMENT:
        outcome.absent = "NOT INSTALLABLE"
        outcome.problems.append(document["error"]["message"])
        return outcome
    told = document["backends"][0]
    if len(told["operators"]) < LEAST_OPERATORS.get(name, 1):
        outcome.problems.append(f"only {len(told['operators'])} operators")
    silent = standard_operators() - {*told["operators"], *told["missing"]}
    if silent:
        outcome.problems.append(f"not a word of {', '.join(sorted(silent))}")
    cases = LAYER_CASES if "keras" in name else NODE_TESTS
    _, document = assay("conformance", cases, "--sample", sample, "--backend", name)
    if "error" in document:
        outcome.problems.append(document["error"]["message"])
        return outcome
    row = document["backends"][0]
    outcome.passed, outcome.total = row["passed"], row["total"]
    outcome.problems += unexpected(name, row["cases"])
    if not outcome.passed:
        outcome.problems.append("passed nothing")
    outcome.problems += check_findings(name)
    return outcome


def check_findings(name: str) -> Iterator[str]:
    """Run the scripts of what was found in a backend; yield those that show nothing any more."""
    home = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
    python = home / "environments" / name / "bin" / "python"
    for script in sorted(FINDINGS.glob("*.py")):
        if script.read_text().split(maxsplit=3)[2] != name:
            continue
        done = subprocess.run(
            [str(python), str(script)], capture_output=True, text=True, check=False
        )
        if done.returncode == 0 or (done.returncode > 0 and "expected" not in done.stdout):
            yield f"{script.name} shows nothing: {done.stdout}{done.stderr}"


def check_pages() -> Iterator[str]:
    """Run the commands of the pages that need backends."""
    os.environ["ASSAY_ENVIRONMENTS"] = str(ROOT / "examples" / "backend")
    for name in ("backends.md", "compare.md", "report.md", "adding-a-backend.md"):
        with tempfile.TemporaryDirectory() as folder:
            yield from failures(ROOT / "docs" / name, Path(folder))


def main() -> int:
    """Test each backend of a list; exit 1 if any of them has a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=["current", "legacy"])
    parser.add_argument("--sample", type=int, default=100)
    options = parser.parse_args()
    outcomes = []
    for name in CURRENT if options.which == "current" else LEGACY:
        outcome = test(name, options.sample)
        print(outcome.count(), flush=True)
        for problem in outcome.problems:
            print(f"  {problem}", flush=True)
        outcomes.append(outcome)
    if options.which == "current":
        outcomes.append(Outcome("pages", problems=list(check_pages())))
        for problem in outcomes[-1].problems:
            print(f"  {problem}", flush=True)
    # An old Python that a machine has not is no defect of ours; it is said loudly all the same.
    wrong = [o for o in outcomes if o.problems and not (o.absent and options.which == "legacy")]
    print(
        f"cases passed per backend: {', '.join(o.count() for o in outcomes if o.name != 'pages')}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
