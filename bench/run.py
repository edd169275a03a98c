"""Benchmarks against peers, as ratios measured in the same run; prints a Markdown table.

usage: bench/run.py [nodes] [models] [memory]
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# One thread for everybody: numpy's libraries read this when they are loaded, so that what may use
# all cores runs in a process of its own.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
for variable in THREAD_VARIABLES:
    os.environ[variable] = "1"

import onnx  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from real_models import MODELS, RealModel, save, session  # noqa: E402

ASSAY = str(ROOT / "build" / "assay")
REPEAT = 20


def assay(*arguments: str, threads: int = 1) -> dict[str, object]:
    """Run a command with --json on some threads; 0 means one for each core."""
    done = subprocess.run(
        [ASSAY, *arguments, "--json", "--threads", str(threads)],
        capture_output=True,
        text=True,
        check=False,
    )
    document: dict[str, object] = json.loads(done.stdout)
    if "error" in document:
        raise RuntimeError(document["error"])
    return document


def best_of(count: int, action: Callable[[], object]) -> float:
    """Return the seconds of the fastest of some calls."""
    best = float("inf")
    for _ in range(count):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def reference_node_seconds(folder: Path) -> float:
    """Add up the evaluation time of onnx.reference over the node tests that it can run."""
    total = 0.0
    for test in sorted(folder.iterdir()):
        model = onnx.load(str(test / "model.onnx"))
        try:
            runner = ReferenceEvaluator(model)
            inputs = {}
            for index, given in enumerate(model.graph.input):
                tensor = onnx.TensorProto()
                tensor.ParseFromString(
                    (test / "test_data_set_0" / f"input_{index}.pb").read_bytes()
                )
                inputs[given.name] = onnx.numpy_helper.to_array(tensor)
            start = time.perf_counter()
            runner.run(None, inputs)
            total += time.perf_counter() - start
        except Exception:
            continue
    return total


def nodes() -> None:
    """Compare evaluation time over the node tests with onnx.reference."""
    folder = ROOT / "build" / "onnx-tests" / "node"
    row = assay("conformance", str(folder), "--jobs", "1")["backends"][0]  # type: ignore[index]
    theirs = reference_node_seconds(folder)
    ours = row["evaluation_seconds"]
    print("| node tests | assay s | onnx.reference s | times faster |\n|---|---|---|---|")
    print(
        f"| {row['passed']} of {row['total']} passed "
        f"| {ours:.3f} | {theirs:.3f} | {theirs / ours:.0f} |"
    )


REFERENCE = """
import sys, time, numpy
from onnx.reference import ReferenceEvaluator
runner = ReferenceEvaluator(sys.argv[1])
inputs = dict(numpy.load(sys.argv[2]).items())
start = time.perf_counter()
runner.run(None, inputs)
print(time.perf_counter() - start)
"""


def reference_seconds(path: Path, data: Path, threads: int) -> float:
    """Return the seconds of one evaluation by onnx.reference; NaN if it cannot."""
    environment = {k: v for k, v in os.environ.items() if threads or k not in THREAD_VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", REFERENCE, str(path), str(data)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    return float(done.stdout) if done.returncode == 0 else float("nan")


def model_row(model: RealModel, threads: int) -> str:
    """One real model on three evaluators, each with one thread or with all cores (0)."""
    inputs = model.inputs()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "inputs.npz"
        save(data, inputs)
        asked = ["run", str(model.path), "--inputs", str(data), "--repeat", str(REPEAT)]
        ours = float(assay(*asked, threads=threads)["evaluation_seconds"])  # type: ignore[arg-type]
        slow = reference_seconds(model.path, data, threads)
    runner = session(model.path, threads=threads)
    runtime = best_of(REPEAT, lambda: runner.run(None, inputs))
    against = "cannot run it" if math.isnan(slow) else f"{slow / ours:.0f}"
    return (
        f"| {model.name} | {1e3 * ours:.2f} | {1e3 * runtime:.2f} | {ours / runtime:.2f} "
        f"| {1e3 * slow:.0f} | {against} |"
    )


def models() -> None:
    """Real models, best of some runs: everybody on one thread, then everybody on all cores."""
    for threads, title in ((1, "One thread"), (0, f"All {os.cpu_count()} cores")):
        print(f"### {title}\n")
        print("| model | assay ms | onnxruntime ms | ratio | onnx.reference ms | times faster |")
        print("|---|---|---|---|---|---|")
        for model in MODELS:
            print(model_row(model, threads), flush=True)
        print()


PEAK = "print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1])"


def python_peak(script: str) -> int:
    """Return the peak resident bytes of a Python process that runs a script."""
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\n{PEAK}"], capture_output=True, text=True, check=True
    )
    return 1024 * int(done.stdout.split()[-1])


def memory() -> None:
    """Compare the growth of the peak over the empty process with ONNX Runtime's."""
    empty = int(assay("ops", "Add")["peak_bytes"])  # type: ignore[call-overload]
    print("| model | assay MB | onnxruntime MB | ratio |\n|---|---|---|---|")
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "inputs.npz"
            save(data, model.inputs())
            ours = assay("run", str(model.path), "--inputs", str(data))["peak_bytes"]
            prepare = (
                f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
                "from real_models import MODELS, session\nimport numpy\n"
                f"model = next(m for m in MODELS if m.name == {model.name!r})\n"
                f"inputs = {{k: v for k, v in numpy.load({str(data)!r}).items()}}\n"
            )
            idle = python_peak(prepare)
            busy = python_peak(prepare + "session(model.path).run(None, inputs)")
        growth = int(ours) - empty  # type: ignore[call-overload]
        theirs = max(busy - idle, 1)
        print(
            f"| {model.name} | {growth / 1e6:.1f} | {theirs / 1e6:.1f} | {growth / theirs:.2f} |",
            flush=True,
        )


def main() -> int:
    """Run the named benchmarks, or all."""
    known = {"nodes": nodes, "models": models, "memory": memory}
    names = sys.argv[1:] or list(known)
    for name in names:
        print(f"\n## {name}\n")
        known[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
