"""How far a backend's functions are off in float32: the worst of two million points each.

usage: measure_functions.py BACKEND…

Prints a line for each function: units in the last place, and the absolute error that remains beyond
four of them, where a result is a normal number; and whether subnormal operands and results become
0. The lines of src/compare/profiles.cpp are these, rounded up.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from real_models import save

POINTS = 2_000_000
ROOT = Path(__file__).resolve().parent.parent
Array = np.ndarray[Any, Any]
Exact = Callable[..., Array]
Values = dict[str, Array]


def _erf(x: Array) -> Array:
    return np.fromiter(map(math.erf, x), np.float64, len(x))


def _uniform(low: float, high: float) -> Callable[[np.random.Generator], Array]:
    return lambda random: random.uniform(low, high, POINTS)


def _positive(random: np.random.Generator) -> Array:
    return np.exp(random.uniform(-20, 20, POINTS))


# An operator, its exact meaning, and where its operands lie.
FUNCTIONS: dict[str, tuple[str, Exact, list[Callable[[np.random.Generator], Array]]]] = {
    "add": ("Add", np.add, [_positive, _uniform(-20, 20)]),
    "multiply": ("Mul", np.multiply, [_positive, _positive]),
    "divide": ("Div", np.divide, [_positive, _positive]),
    "reciprocal": ("Reciprocal", np.reciprocal, [_positive]),
    "square_root": ("Sqrt", np.sqrt, [_positive]),
    "exp": ("Exp", np.exp, [_uniform(-20, 20)]),
    "log": ("Log", np.log, [_positive]),
    "sin": ("Sin", np.sin, [_uniform(-20, 20)]),
    "cos": ("Cos", np.cos, [_uniform(-20, 20)]),
    "tan": ("Tan", np.tan, [_uniform(-20, 20)]),
    "asin": ("Asin", np.arcsin, [_uniform(-1, 1)]),
    "acos": ("Acos", np.arccos, [_uniform(-1, 1)]),
    "atan": ("Atan", np.arctan, [_uniform(-20, 20)]),
    "sinh": ("Sinh", np.sinh, [_uniform(-20, 20)]),
    "cosh": ("Cosh", np.cosh, [_uniform(-20, 20)]),
    "tanh": ("Tanh", np.tanh, [_uniform(-20, 20)]),
    "asinh": ("Asinh", np.arcsinh, [_uniform(-20, 20)]),
    "acosh": ("Acosh", np.arccosh, [_uniform(1, 20)]),
    "atanh": ("Atanh", np.arctanh, [_uniform(-1, 1)]),
    "erf": ("Erf", _erf, [_uniform(-20, 20)]),
    "pow": ("Pow", np.power, [_uniform(0, 20), _uniform(-8, 8)]),
    "sigmoid": ("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), [_uniform(-20, 20)]),
    "softplus": ("Softplus", lambda x: np.logaddexp(0, x), [_uniform(-20, 20)]),
}


def run(backend: str, calls: dict[str, tuple[str, list[Array]]], folder: Path) -> Values | None:
    """Return what the backend makes of operators, by name; nothing if it lacks one of them."""
    nodes, inputs, outputs = [], [], []
    data: Values = {}
    for name, (op, operands) in calls.items():
        given = [f"{name}_{i}" for i in range(len(operands))]
        nodes.append(helper.make_node(op, given, [name]))
        data.update(zip(given, operands, strict=True))
        shape = list(operands[0].shape)
        inputs += [helper.make_tensor_value_info(one, TensorProto.FLOAT, shape) for one in given]
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    graph = helper.make_graph(nodes, "functions", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    save(folder / "in.npz", data)
    (folder / "out.npz").unlink(missing_ok=True)
    words = ["run", folder / "model.onnx", "--backend", backend]
    words += ["--inputs", folder / "in.npz", "--outputs", folder / "out.npz"]
    subprocess.run(
        [str(ROOT / "build" / "assay"), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    if not (folder / "out.npz").exists():
        return None
    with np.load(folder / "out.npz") as file:
        return {name: file[name] for name in calls}


def errors(found: Array, exact: Array) -> tuple[float, float]:
    """Units in the last place, and what is beyond four of them, over the normal results."""
    normal = np.isfinite(exact) & (np.abs(exact) < 3e38) & (np.abs(exact) > 1.2e-38)
    off = np.abs(found[normal].astype(np.float64) - exact[normal])
    unit = np.spacing(np.abs(exact[normal]).astype(np.float32)).astype(np.float64)
    return float(np.max(off / unit, initial=0)), float(np.max(off - 4 * unit, initial=0))


def flushes(backend: str, folder: Path) -> str:
    """Tell whether a subnormal operand, or a subnormal result, becomes 0."""

    def full(x: float) -> Array:
        return np.full(64, x, np.float32)

    calls = {
        "operands": ("Add", [full(1e-40), full(0)]),
        "results": ("Mul", [full(1e-30), full(1e-10)]),
    }
    found = run(backend, calls, folder)
    if found is None:
        raise SystemExit(f"{backend} does not run")
    return " and ".join(name for name, result in found.items() if not result.all()) or "nothing"


def measure(backend: str, folder: Path) -> None:
    """Print the lines of a backend."""
    print(f"{backend}: flushes {flushes(backend, folder)}", flush=True)
    random = np.random.default_rng(0)
    calls = {
        name: (op, [domain(random).astype(np.float32) for domain in domains])
        for name, (op, _, domains) in FUNCTIONS.items()
    }
    together = run(backend, calls, folder) or {}
    for name, (_, exact, _) in FUNCTIONS.items():
        found = together or run(backend, {name: calls[name]}, folder)
        if not found:
            print(f"{backend} {name}: has none", flush=True)
            continue
        with np.errstate(all="ignore"):
            truth = exact(*(x.astype(np.float64) for x in calls[name][1]))
        units, rest = errors(found[name], truth)
        print(f"{backend} {name}: {units:.2f} ulps, {rest:.2g} beyond 4", flush=True)


def main() -> None:
    """Measure every backend that was named."""
    for backend in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as name:
            measure(backend, Path(name))


if __name__ == "__main__":
    main()
