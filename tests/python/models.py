"""Small models for the tests of the command line, and what an answer must look like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from conftest import Assay, Done
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
MOST_SECONDS = 10.0


def value(
    name: str, kind: int = FLOAT, shape: Sequence[int | str] | None = (2,)
) -> onnx.ValueInfoProto:
    """Declare a tensor; without a shape its rank is unknown."""
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, array: object, kind: type = np.int64) -> onnx.TensorProto:
    """Make an initializer."""
    return numpy_helper.from_array(np.array(array, dtype=kind), name)


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto] = (),
    outputs: Sequence[onnx.ValueInfoProto] = (),
    initializers: Sequence[onnx.TensorProto] = (),
    *,
    functions: Sequence[onnx.FunctionProto] = (),
    opset: int = 21,
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """Make a model; `domains` are imported beside the standard's own."""
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=10)


def save(model: onnx.ModelProto, folder: Path) -> Path:
    """Write the model to the folder, without the library's own checks."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def check_error(done: Done, *words: str) -> None:
    """Check for one line on stderr that has all the words, exit 2, in time."""
    assert done.code == 2, done
    assert done.out == "", done
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err
    for word in words:
        assert word in lines[0], (word, lines[0])
    assert done.seconds < MOST_SECONDS


def check_json_error(done: Done, kind: str, *words: str) -> None:
    """Check for the same as JSON."""
    assert done.code == 2, done
    assert done.err == "", done.err
    error = done.document["error"]
    assert set(error) >= {"kind", "message", "where"}
    assert error["kind"] == kind, error
    assert "\n" not in error["message"]
    for word in words:
        assert word in error["message"], (word, error)


def check_wrong(assay: Assay, path: Path, rule: str, layer: str, word: str = "") -> None:
    """Check that validate finds the fault and every other command refuses the model."""
    found = assay("validate", path, "--json")
    assert found.code == 1, found
    findings = found.document["findings"]
    assert not found.document["valid"]
    assert findings[0]["rule"] == rule, findings
    assert findings[0]["layer"] == layer, findings
    assert word in findings[0]["message"], findings
    text = assay("validate", path)
    assert text.code == 1
    assert text.err == ""
    for command in (
        ("run", path, "--random"),
        ("inspect", path),
        ("convert", path, "--output", path.parent / "o.onnx"),
    ):
        check_error(assay(*command), path.name, findings[0]["message"], layer)
        check_json_error(assay(*command, "--json"), "invalid", path.name, layer)
    assert not (path.parent / "o.onnx").exists()
