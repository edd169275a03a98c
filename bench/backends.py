"""The table of all backends over the standard's node tests, and what the pipe to a worker costs.

usage: bench/backends.py table [NAME...]    every node test on each backend: docs/backends.md
       bench/backends.py pipe               real models and one operator, through Assay and directly

`table` keeps each backend's cases in build/backend-table/NAME.json and writes the table anew from
all that are there.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import onnx  # noqa: E402
from backend_tests import CURRENT, LEGACY, assay  # noqa: E402
from onnx import helper  # noqa: E402
from real_models import MODELS, save  # noqa: E402

NODE_TESTS = ROOT / "build" / "onnx-tests" / "node"
RESULTS = ROOT / "build" / "backend-table"
PAGE = ROOT / "docs" / "backends.md"
START, END = "<!-- table -->", "<!-- end of table -->"
ROW, ROUNDS = 64, 5
PIPE_BACKENDS = ["onnxruntime", "openvino"]


def operators_of_tests() -> dict[str, set[str]]:
    """Return the operators of each node test that consists of one node."""
    found = {}
    for folder in NODE_TESTS.iterdir():
        nodes = onnx.load(str(folder / "model.onnx")).graph.node
        found[folder.name] = {node.op_type for node in nodes if node.domain in {"", "ai.onnx"}}
    return found


def counted_operators(
    cases: list[dict[str, Any]], tests: dict[str, set[str]], there: set[str]
) -> int:
    """Count the operators that pass a test and crash in none."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        for op in tests[case["id"]] & there:
            seen[op][case["status"]] += 1
    return sum(1 for count in seen.values() if count["passed"] and not count["crashed"])


def measure(name: str) -> None:
    """Run every node test on a backend and keep what came of it."""
    assay("backends", "install", name)
    _, document = assay("conformance", NODE_TESTS, "--backend", name)
    if "error" in document:
        print(f"{name}: {document['error']['message']}", file=sys.stderr)
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(document["backends"][0]))


def table() -> str:
    """Return the rows of all backends that have been measured."""
    tests = operators_of_tests()
    lines = [
        "| backend | version | passed | wrong | errors | crashed | unsupported | operators | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ["reference", *CURRENT, *LEGACY]:
        file = RESULTS / f"{name}.json"
        if not file.exists():
            continue
        row = json.loads(file.read_text())
        # A table that has changed since is asked anew.
        listed = assay("backends", "install", name)[1]["backends"] if name != "reference" else None
        there = set(listed[0]["operators"]) if listed else set.union(*tests.values())
        lines.append(
            f"| {name} | {row['version']} | {row['passed']} | {row['failed']} | {row['errors']} "
            f"| {row['crashed']} | {row['unsupported']} "
            f"| {counted_operators(row['cases'], tests, there)} | {row['seconds']:.0f} |"
        )
    return "\n".join(lines)


def write_table(names: list[str]) -> None:
    """Measure some backends (all: none named), then write the page's table."""
    for name in names or ["reference", *CURRENT, *LEGACY]:
        measure(name)
    text = PAGE.read_text()
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{START}\n{table()}\n{END}{after}")


# What both sides tell: the fastest run, the median, and a run in the fastest row over a data set.
TIMING = """
def timed(call, inputs, repeat):
    length = min(repeat, 64)
    samples = [{name: value.copy() for name, value in inputs.items()} for _ in range(length)]
    times, row, end = [], float("inf"), time.perf_counter() + 0.5
    for _ in range(repeat):
        start = time.perf_counter()
        call(inputs)
        times.append(time.perf_counter() - start)
    while True:
        start = time.perf_counter()
        for sample in samples:
            call(sample)
        row = min(row, (time.perf_counter() - start) / length)
        if time.perf_counter() > end:
            break
    print(min(times), sorted(times)[len(times) // 2], row)
"""
DIRECT = {
    "onnxruntime": """
import sys, time, numpy
import onnxruntime as ort
options = ort.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
options.log_severity_level = 4
runner = ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
inputs = dict(numpy.load(sys.argv[2]))
timed(lambda sample: runner.run(None, sample), inputs, int(sys.argv[3]))
""",
    "openvino": """
import sys, time, numpy, openvino
core = openvino.Core()
settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
model = core.compile_model(core.read_model(sys.argv[1]), "CPU", settings)
inputs = dict(numpy.load(sys.argv[2]))
timed(lambda sample: [numpy.array(v) for v in model(sample).values()], inputs, int(sys.argv[3]))
""",
}


@dataclass
class Times:
    """Seconds of a run: the fastest, the median, and one in the fastest row."""

    best: float
    median: float
    row: float


def direct(backend: str, model: Path, data: Path, repeat: int) -> Times:
    """Measure the framework called directly, in its environment."""
    home = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
    python = home / "environments" / backend / "bin" / "python"
    done = subprocess.run(
        [str(python), "-c", TIMING + DIRECT[backend], str(model), str(data), str(repeat)],
        capture_output=True,
        text=True,
        check=True,
    )
    return Times(*map(float, done.stdout.split()[-3:]))


def through(backend: str, model: Path, data: Path, repeat: int) -> Times:
    """Measure the same through Assay."""
    _, told = assay(
        *("run", model, "--inputs", data, "--backend", backend),
        *("--repeat", repeat, "--threads", 1),
    )
    return Times(told["exchange_seconds"], told["exchange_median_seconds"], told["row_seconds"])


def pipe_row(backend: str, name: str, model: Path, inputs: dict[str, Any]) -> str:
    """One model, directly and through Assay, alternately so that both see the same machine."""
    own: list[Times] = []
    asked: list[Times] = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "inputs.npz"
        save(data, inputs)
        # A small model needs many runs until both processes are warm.
        repeat = min(max(ROW, int(0.2 / direct(backend, model, data, 3).best)), 1000)
        for _ in range(ROUNDS):
            own.append(direct(backend, model, data, repeat))
            asked.append(through(backend, model, data, repeat))
    cells = [name, backend]
    for field in ("best", "row"):
        theirs = min(getattr(times, field) for times in own)
        ours = min(getattr(times, field) for times in asked)
        cells += [f"{1e3 * theirs:.3f}", f"{1e3 * ours:.3f}", f"{ours / theirs:.2f}"]
    return f"| {' | '.join(cells)} |"


def one_operator(folder: Path) -> Path:
    """Write X + X over 1,000 elements."""
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1000]) for n in "XY"]
    graph = helper.make_graph([helper.make_node("Add", ["X", "X"], ["Y"])], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "add.onnx")
    return folder / "add.onnx"


def round_trip(backend: str) -> str:
    """Return the median cost of asking, over the framework's own call."""
    import numpy as np  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        model = one_operator(Path(folder))
        data = Path(folder) / "inputs.npz"
        np.savez(data, X=np.ones(1000, np.float32))
        asked = [through(backend, model, data, 2000).median for _ in range(ROUNDS)]
        own = [direct(backend, model, data, 2000).median for _ in range(ROUNDS)]
    ours, theirs = statistics.median(asked), statistics.median(own)
    return f"| {backend} | {1e6 * theirs:.0f} | {1e6 * ours:.0f} | {1e6 * (ours - theirs):.0f} |"


def pipe() -> None:
    """Print what the pipe costs."""
    for backend in PIPE_BACKENDS:
        assay("backends", "install", backend)
    print("| model | backend | direct ms | Assay ms | ratio | direct, row | Assay, row | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for model in MODELS:
        for backend in PIPE_BACKENDS[:1]:
            print(pipe_row(backend, model.name, model.path, model.inputs()), flush=True)
    print("\n| backend | own call µs | through Assay µs | difference µs |\n|---|---|---|---|")
    for backend in PIPE_BACKENDS:
        print(round_trip(backend), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["table"]:
        write_table(sys.argv[2:])
    elif sys.argv[1:] == ["pipe"]:
        pipe()
    else:
        sys.exit(__doc__)
