"""Runs a part of a model with a defect planted on golden inner values: the check of a reducer.

usage: planted_check.py MODEL GOLDEN.npz: exit code 1 if an output is not the golden one
       planted_check.py MODEL INPUTS.npz OUT.npz: write golden values, nothing planted
The variable PLANTED says what is planted where. Needs onnx, onnxruntime and numpy alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "workers"))

import defects  # noqa: F401
from planting import asked, planted

TOLERANCE = 1e-5  # Polygraphy's own, both relative and absolute


def run(data: bytes, values: Any) -> dict[str, Any]:
    """Run without the runtime's own optimisations."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    runner = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    given = {one.name: values[one.name] for one in runner.get_inputs()}
    names = [one.name for one in runner.get_outputs()]
    return dict(zip(names, runner.run(names, given), strict=True))


def write_golden(path: str, inputs: str, target: str) -> None:
    """Write every value of a model."""
    model = onnx.load(path)
    known = {one.name for one in model.graph.output}
    for node in model.graph.node:
        fresh = [name for name in node.output if name and name not in known]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in fresh)
    given = dict(np.load(inputs))
    np.savez(target, allow_pickle=False, **given, **run(model.SerializeToString(), given))


def agree(found: Any, golden: Any) -> bool:
    """Tell whether two values are the same by Polygraphy's tolerances."""
    if found.shape != golden.shape:
        return False
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, golden))
    return bool(np.allclose(found, golden, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))


def main() -> int:
    """Write golden values, or check."""
    if len(sys.argv) == 4:
        write_golden(*sys.argv[1:])
        return 0
    data, golden = Path(sys.argv[1]).read_bytes(), np.load(sys.argv[2])
    found = run(planted(data, *asked()), golden)
    return 0 if all(agree(found[name], golden[name]) for name in found) else 1


if __name__ == "__main__":
    sys.exit(main())
