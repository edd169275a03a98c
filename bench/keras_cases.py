"""Measures recorded Keras cases, JSON included, beside a peer in the same run.

usage: bench/keras_cases.py [--cases FILE] [--rounds N] [--prolog FOLDER] [--packs FOLDER]
                            [--backend NAME]

FILE has case lines (.jsonl or .jsonl.gz). Without it: the recorded cases beside the project if they
are there, else the project's own, which tests/keras/record.py draws with fixed seeds.

The peer is the published Prolog semantics where --prolog names a checkout of it (with src/main.pl,
and the query of each case in tests/*/ID.txt) and swipl is installed; --packs is a folder of the
packs that it loads. Without a checkout the peer is a Keras worker, measured by the time that it
takes to run the models (its JSON and the building of its models are left out).

Whole processes, the best of some rounds in turn: processor time, user and system, of Assay with one
thread, and the clock, of Assay with one on each processor.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSAY = str(ROOT / "build" / "assay")
RECORDED = ROOT.parent / "shared" / "data" / "keras-cases" / "predict.jsonl.gz"
OWN = ROOT / "tests" / "keras" / "keras2.jsonl.gz"

# Loads the semantics, then reads and runs one query after the other; says how many of them held and
# what running took. What a layer prints goes nowhere.
DRIVER = """
:- multifile user:file_search_path/2.
user:file_search_path(library, Folder) :- getenv('PACKS', Folder).
:- getenv('SEMANTICS', File), load_files([File], [silent(true)]).

run_all(In, Held0, Used0, Held, Used) :-
    read_term(In, Query, []),
    (   Query == end_of_file
    ->  Held = Held0, Used = Used0
    ;   statistics(cputime, Start),
        (   catch(with_output_to(string(_), once(Query)), _, fail)
        ->  Held1 is Held0 + 1
        ;   Held1 = Held0
        ),
        statistics(cputime, End),
        Used1 is Used0 + End - Start,
        run_all(In, Held1, Used1, Held, Used)
    ).

main :-
    getenv('QUERIES', File),
    open(File, read, In),
    run_all(In, 0, 0, Held, Used),
    close(In),
    format(user_error, "held ~w evaluation ~w~n", [Held, Used]).

:- initialization((main, halt)).
"""


@dataclass
class Figures:
    """What one side took for all cases: seconds of the clock, and of the processor."""

    clock: float
    whole: float
    evaluation: float
    agreed: int


def child_seconds() -> float:
    """Return the processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_cases(path: Path) -> list[dict[str, object]]:
    """Return the cases of a file."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.splitlines() if line]


def run_assay(path: Path) -> Figures:
    """Run all cases on the reference, with all processors and with one thread."""
    command = [ASSAY, "conformance", str(path), "--json"]
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    clock = time.perf_counter() - start
    before = child_seconds()
    done = subprocess.run([*command, "--jobs", "1"], capture_output=True, text=True, check=False)
    whole = child_seconds() - before
    document = json.loads(done.stdout)
    if "error" in document:
        raise RuntimeError(document["error"])
    result = document["backends"][0]
    # Only the clock tells what a part took: evaluation has the same share of the processor's time.
    share = result["evaluation_seconds"] / result["seconds"]
    return Figures(clock, whole, whole * share, result["passed"])


def query_of(text: str) -> str | None:
    """Return the Prolog query of a published test: from its first layer to exec_layers."""
    lines = text.splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith("exec_layers(")]
    if not ends:
        return None
    start = ends[0]
    while start > 0 and lines[start - 1].startswith("L"):
        start -= 1
    return "\n".join(lines[start : ends[0] + 1]) + ".\n"


def find_queries(checkout: Path, cases: list[dict[str, object]]) -> list[str]:
    """Return the queries of those cases that the checkout has."""
    files = {path.stem: path for path in checkout.glob("tests/*/*.txt")}
    found = (files.get(str(case["id"])) for case in cases)
    queries = (query_of(path.read_text(errors="replace")) for path in found if path)
    return [query for query in queries if query]


class Prolog:
    """The published semantics under swipl."""

    def __init__(
        self, checkout: Path, packs: Path | None, queries: list[str], folder: Path
    ) -> None:
        """Write what swipl is to read into a folder."""
        self.count = len(queries)
        self.driver = folder / "driver.pl"
        self.driver.write_text(DRIVER)
        (folder / "queries.pl").write_text("".join(queries))
        self.environment = {
            "SEMANTICS": str(checkout / "src" / "main.pl"),
            "QUERIES": str(folder / "queries.pl"),
            "PACKS": str(packs or folder),
            "PATH": "/usr/bin:/bin",
        }

    def run(self) -> Figures:
        """Read and run all queries."""
        before, start = child_seconds(), time.perf_counter()
        done = subprocess.run(
            ["swipl", "-q", str(self.driver)],
            capture_output=True,
            text=True,
            check=False,
            env=self.environment,
        )
        clock = time.perf_counter() - start
        last = [line for line in done.stderr.splitlines() if line.startswith("held ")]
        if not last:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        _, held, _, seconds = last[0].split()
        return Figures(clock, child_seconds() - before, float(seconds), int(held))


def per_case(seconds: float, count: int) -> str:
    """Return microseconds a case."""
    return f"{seconds / count * 1e6:.1f}"


def best(rounds: list[Figures]) -> Figures:
    """Return the smallest of each figure."""
    return Figures(
        min(one.clock for one in rounds),
        min(one.whole for one in rounds),
        min(one.evaluation for one in rounds),
        min(one.agreed for one in rounds),
    )


def show(rows: list[tuple[str, int, Figures]]) -> None:
    """Print the table; the first row is Assay's."""
    columns = ["who", "cases", "µs of the clock a case", "µs of processor a case"]
    columns += ["evaluation alone µs", "agreed"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for name, count, figures in rows:
        seconds = (figures.clock, figures.whole, figures.evaluation)
        cells = [name, count, *(per_case(one, count) for one in seconds), figures.agreed]
        print("| " + " | ".join(map(str, cells)) + " |")
    _, count, ours = rows[0]
    for name, others, figures in rows[1:]:
        by_clock = figures.clock / others / (ours.clock / count)
        by_processor = figures.whole / others / (ours.whole / count)
        inside = figures.evaluation / others / (ours.evaluation / count)
        print(
            f"\n{name} takes {by_clock:.1f} times as long by the clock, {by_processor:.1f} by the "
            f"processor, {inside:.1f} by evaluation alone"
        )


def beside_prolog(path: Path, asked: argparse.Namespace) -> None:
    """Measure both in turn."""
    cases = read_cases(path)
    queries = find_queries(asked.prolog, cases)
    if not queries:
        raise SystemExit(f"{asked.prolog}: no query of these cases is in tests/")
    with tempfile.TemporaryDirectory() as folder:
        peer = Prolog(asked.prolog, asked.packs, queries, Path(folder))
        ours, theirs = [], []
        for _ in range(asked.rounds):
            ours.append(run_assay(path))
            theirs.append(peer.run())
    show(
        [
            ("assay", len(cases), best(ours)),
            ("the published Prolog semantics", peer.count, best(theirs)),
        ]
    )


def beside_keras(path: Path, asked: argparse.Namespace) -> None:
    """Measure Assay, and a Keras worker once."""
    count = len(read_cases(path))
    ours = best([run_assay(path) for _ in range(asked.rounds)])
    command = [ASSAY, "conformance", str(path), "--backend", asked.backend, "--json", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--sample", "100"], capture_output=True, text=True, check=False
    )
    document = json.loads(done.stdout)
    rows = [("assay", count, ours)]
    if "error" in document:
        print(f"no peer: {document['error']['message']}", file=sys.stderr)
    else:
        result = document["backends"][0]
        seconds = float(result["evaluation_seconds"])
        figures = Figures(seconds, seconds, seconds, result["passed"])
        rows.append((asked.backend, result["total"], figures))
    show(rows)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=Path, default=RECORDED if RECORDED.exists() else OWN)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prolog", type=Path)
    parser.add_argument("--packs", type=Path)
    parser.add_argument("--backend", default="keras-tensorflow")
    asked = parser.parse_args()
    print(f"cases: {asked.cases.name}")
    if asked.prolog and shutil.which("swipl"):
        beside_prolog(asked.cases, asked)
    else:
        beside_keras(asked.cases, asked)


if __name__ == "__main__":
    main()
