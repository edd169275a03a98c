"""Plants defects in real trained models and counts how many are found, and where; prints tables.

usage: bench/planted.py [--models A,B] [--each N] [--seed N] [--defect TEXT] [--other BACKEND]
                        [--reduce N] [--again]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from planted_cases import NAMES, ROOT, Case, cases_of, model_of
from planted_reduce import reduce_all
from real_models import RealModel, save

ASSAY = str(ROOT / "build" / "assay")
# Planted backends in one comparison: they share what is found out about the model once.
BATCH = 8
HEALTHY = "onnxruntime-sound"  # the planted worker with nothing planted; profiles go by name
RESULTS = ROOT / "build" / "planted.json"
Document = dict[str, Any]


def write_environments(folder: Path, batch: Sequence[Case]) -> list[str]:
    """Write an environment file a case, and a healthy one; return the names of the cases'."""
    text = (ROOT / "tests" / "workers" / "faulty.toml").read_text()
    planted = {
        f"onnxruntime-faulty{n + 1}": f"{case.defect}@{case.value}" for n, case in enumerate(batch)
    }
    for name, what in {HEALTHY: "", **planted}.items():
        words = ["env", f"PLANTED={what}", sys.executable]
        (folder / f"{name}.toml").write_text(text.replace('"PYTHON"', json.dumps(words)[1:-1]))
    return list(planted)


def compare(model: RealModel, batch: Sequence[Case], other: str) -> tuple[Document, list[str]]:
    """Compare planted backends with healthy ones on a model."""
    others = [other] if other != HEALTHY else []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        names = write_environments(folder, batch)
        save(folder / "inputs.npz", model.inputs())
        environment = {
            **os.environ,
            "ASSAY_ENVIRONMENTS": place,
            "ASSAY_HOME": os.environ.get("ASSAY_HOME", str(ROOT / "build" / "backends")),
            "PYTHONPATH": f"{ROOT / 'workers'}:{ROOT / 'tests' / 'workers'}",
        }
        done = subprocess.run(
            [
                *(ASSAY, "compare", str(model.path), "--data", str(folder / "inputs.npz")),
                *("--backends", ",".join([*others, HEALTHY, *names]), "--json"),
            ],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout + done.stderr)
    return json.loads(done.stdout), names


def suspects(document: Document, name: str) -> list[str]:
    """Assay's own: nodes in the order in which it names them."""
    found = []
    for finding in document["findings"]:
        if finding["backend"] == name:
            found += finding.get("nodes", [finding["node"]])
    return list(dict.fromkeys(found))


def layers_of(document: Document, name: str, other: str) -> list[Document]:
    """Return the rate map of a planted backend and a healthy one."""
    pair = [other, name]
    found = [one["layers"] for one in document["localisation"] if one["pair"] == pair]
    return list(found[0]) if found else []


def quartile_rule(layers: list[Document]) -> list[str]:
    """Layers whose rate is in the upper quartile, in the order of the graph."""
    return [one["name"] for one in layers if one["highlighted"]]


def ranked_quartile_rule(layers: list[Document]) -> list[str]:
    """Sort them, the largest rate first: the published rule gives no order."""
    kept = [one for one in layers if one["highlighted"]]
    return [one["name"] for one in sorted(kept, key=lambda one: -float(one["rate"]))]


def threshold_rule(layers: list[Document]) -> list[str]:
    """Layers whose rate is above 1000, in the order of the graph."""
    return [one["name"] for one in layers if float(one["rate"]) > 1000]


def judge(document: Document, name: str, other: str, case: Case) -> None:
    """Fill a case's rows in."""
    bound = next(
        pair
        for pair in document["pairs"]
        if (pair["a"], pair["b"], pair["metric"]) == (HEALTHY, name, "bound")
    )
    layers = layers_of(document, name, other)
    case.rows = {
        "visible": bool(bound["inconsistent"]) or bound["instances"] == 0,
        "excess": bound["max"],
        "kinds": [f["kind"] for f in document["findings"] if f["backend"] == name],
        "assay": case.place_of(suspects(document, name)),
        "quartile": case.place_of(quartile_rule(layers)),
        "ranked": case.place_of(ranked_quartile_rule(layers)),
        "threshold": case.place_of(threshold_rule(layers)),
    }


def measure(model: RealModel, cases: list[Case], other: str = HEALTHY) -> list[Document]:
    """Compare all cases of a model; return what healthy backends are accused of."""
    alarms = []
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        document, names = compare(model, batch, other)
        for name, case in zip(names, batch, strict=True):
            judge(document, name, other, case)
        alarms += [f for f in document["findings"] if f["backend"] not in names]
        print(".", end="", file=sys.stderr, flush=True)
    return alarms


RULES = {
    "assay": "Assay's first suspect",
    "quartile": "rate in the upper quartile, in order",
    "ranked": "the same, largest rate first",
    "threshold": "rate above 1000",
    "reduce": "polygraphy debug reduce",
    "reduce_own": "the same, on golden values of the planted runtime itself",
}


def share(cases: list[Case], test: Callable[[Case], bool]) -> str:
    """Return how many pass, and that in per cent."""
    count = sum(map(test, cases))
    return f"{count} of {len(cases)} ({100 * count / max(len(cases), 1):.0f} %)"


def table(cases: list[Case]) -> str:
    """Return the rules beside each other, each over the cases that it was tried on."""
    lines = ["| rule | found | top-1 | top-3 | candidates, mean |", "|---|---|---|---|---|"]
    for rule, title in RULES.items():
        tried = [case for case in cases if rule in case.rows]
        if not tried:
            continue
        many = sum(case.rows[rule]["candidates"] for case in tried) / len(tried)
        lines.append(
            f"| {title} | {share(tried, lambda c, r=rule: c.rows[r]['candidates'] > 0)} "  # type: ignore[misc]
            f"| {share(tried, lambda c, r=rule: c.rows[r]['place'] == 1)} "  # type: ignore[misc]
            f"| {share(tried, lambda c, r=rule: 1 <= c.rows[r]['place'] <= 3)} | {many:.1f} |"  # type: ignore[misc]
        )
    return "\n".join(lines)


def report(cases: list[Case], alarms: list[Document]) -> str:
    """Return all tables."""
    visible = [case for case in cases if case.rows["visible"]]
    single, fused = ([c for c in visible if c.fused == kind] for kind in (False, True))
    hidden = [case for case in cases if not case.rows["visible"]]
    tried = [case for case in visible if "reduce" in case.rows]
    parts = [
        f"{len(cases)} cases of {len({c.defect for c in cases})} defects in "
        f"{len({c.model for c in cases})} models; {len(visible)} change an output beyond rounding.",
        f"Defects of one node, {len(single)} cases:\n\n{table(single)}",
        f"Defects of a fused pair, {len(fused)} cases:\n\n{table(fused)}",
        f"Not beyond rounding at any output, {len(hidden)} cases:\n\n{table(hidden)}",
        f"Alarms on healthy backends: {len(alarms)}",
    ]
    if tried:
        parts.insert(3, f"Those that Polygraphy was tried on, {len(tried)}:\n\n{table(tried)}")
    return "\n\n".join(parts)


def misses(cases: list[Case]) -> str:
    """Return a line for each case whose first suspect is not the planted node."""
    wrong = [c for c in cases if c.rows["visible"] and c.rows["assay"]["place"] != 1]
    return "".join(
        f"  {c.model} {c.defect} at {c.nodes[0]} ({c.op}), excess {c.rows['excess']}: "
        f"{c.rows['kinds']} {c.rows['assay']['first']}\n"
        for c in wrong
    )


def measure_all(names: list[str], asked: argparse.Namespace) -> tuple[list[Case], list[Document]]:
    """Choose the cases of each model and measure them."""
    cases: list[Case] = []
    alarms: list[Document] = []
    start = time.monotonic()
    for name in names:
        model = model_of(name)
        chosen = list(cases_of(model, asked.each, asked.seed, asked.defect))
        alarms += measure(model, chosen, asked.other)
        cases += chosen
        print(f" {name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return cases, alarms


def store(cases: list[Case], alarms: list[Document]) -> None:
    """Write all results."""
    document = {"cases": [vars(case) for case in cases], "alarms": alarms}
    RESULTS.write_text(json.dumps(document, indent=1))


def load() -> tuple[list[Case], list[Document]]:
    """Read the results of the last run."""
    document = json.loads(RESULTS.read_text())
    return [Case(**one) for one in document["cases"]], document["alarms"]


def main() -> int:
    """Run the cases and write build/planted.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(NAMES))
    parser.add_argument("--each", type=int, default=1, help="nodes a defect and model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--defect", default="", help="only defects whose name has this text")
    parser.add_argument("--other", default="torch", help="the backend of the rate maps")
    parser.add_argument("--reduce", type=int, default=0, help="cases a model for Polygraphy")
    parser.add_argument("--again", action="store_true", help="take the cases that were measured")
    asked = parser.parse_args()
    names = asked.models.split(",")
    cases, alarms = load() if asked.again else measure_all(names, asked)
    for name in names if asked.reduce else []:
        visible = [case for case in cases if case.model == name and case.rows["visible"]]
        reduce_all(model_of(name), visible, asked.reduce, asked.other, asked.seed)
        store(cases, alarms)
    store(cases, alarms)
    print(report(cases, alarms))
    print(f"\nFirst suspects elsewhere:\n{misses(cases)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
