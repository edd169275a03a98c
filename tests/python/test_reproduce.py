"""Scripts that show what was found: written for real backends, short, and executed again here."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import ROOT
from models import FLOAT, constant, model_of, save, value
from onnx import TensorProto, helper

HOME = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
INT32 = TensorProto.INT32
Arrays = dict[str, np.ndarray[Any, Any]]


def assay(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Run a command with --json on the frameworks that are installed."""
    done = subprocess.run(
        [str(ROOT / "build" / "assay"), *map(str, arguments), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ASSAY_HOME": str(HOME)},
        timeout=900,
    )
    return done.returncode, json.loads(done.stdout)


def installed(name: str) -> str:
    """Install a backend."""
    code, document = assay("backends", "install", name)
    assert code == 0, document
    return name


def execute(script: Path, backend: str) -> tuple[int, str]:
    """Run a script in a backend's environment; a mode has that of its framework."""
    folder = HOME / "environments" / backend
    for mode in ("-jit", "-xla", "-compile", "-noopt"):
        folder = HOME / "environments" / backend.removesuffix(mode) if mode in backend else folder
    done = subprocess.run(
        [str(folder / "bin" / "python"), script.name],
        capture_output=True,
        text=True,
        check=False,
        cwd=script.parent,
        timeout=300,
    )
    return done.returncode, done.stdout


def compare(model: Path, arrays: Arrays, backend: str) -> dict[str, Any]:
    """Return the one finding of a comparison with the reference."""
    folder = model.parent
    np.savez(folder / "data.npz", **arrays)  # type: ignore[arg-type]
    code, document = assay(
        *("compare", model, "--data", folder / "data.npz", "--output", folder / "out"),
        *("--backends", f"reference,{installed(backend)}"),
    )
    assert code == 1, document
    (finding,) = document["findings"]
    assert isinstance(finding, dict)
    return finding


def checked(finding: dict[str, Any], backend: str) -> str:
    """Check a finding's script, and return its text."""
    script = Path(finding["repro"])
    assert finding["repro"], finding
    text = script.read_text()
    assert len(text.splitlines()) <= 20
    assert text.startswith(f"# backend: {backend} ")
    assert "assay" not in text.lower()
    code, printed = execute(script, backend)
    assert (code, "expected" in printed, "found" in printed) == (1, True, True)
    return text


def one_node(folder: Path, op: str, arrays: Arrays, out: int, opset: int = 17, **more: Any) -> Path:
    """Write a model of one node on arrays."""
    node = helper.make_node(op, list(arrays), ["y"], name="the_node", **more)
    inputs = [
        value(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in arrays.items()
    ]
    graph = model_of([node], inputs, [value("y", out, None)], opset=opset)
    return save(graph, folder)


def batch_normalization() -> Arrays:
    """Return inputs on which statistics of the batch and the given ones differ."""
    random = np.random.default_rng(0)
    arrays = {"x": random.normal(size=(2, 3, 9, 9)).astype(np.float32)}
    arrays.update({n: (random.random(3) + 0.5).astype(np.float32) for n in "sbmv"})
    return arrays


def test_a_fused_segment_of_a_runtime(tmp_path: Path) -> None:
    """ONNX Runtime 1.20.1 averages over the padding that it has merged into a pool."""
    nodes = [
        helper.make_node("Pad", ["x", "pads"], ["padded"]),
        helper.make_node("AveragePool", ["padded"], ["y"], kernel_shape=[3, 3], strides=[2, 2]),
    ]
    pads = constant("pads", [0, 0, 1, 1, 0, 0, 1, 1], np.int64)
    shape = (1, 2, 8, 8)
    graph = model_of(
        nodes, [value("x", FLOAT, shape)], [value("y", FLOAT, (1, 2, 4, 4))], [pads], opset=17
    )
    arrays = {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)}
    finding = compare(save(graph, tmp_path), arrays, "onnxruntime-1.20.1")
    assert "onnxruntime.InferenceSession" in checked(finding, "onnxruntime-1.20.1")
    # A release without the defect: the same script finds nothing.
    code, printed = execute(Path(finding["repro"]), installed("onnxruntime"))
    assert (code, "found" in printed) == (0, True)


def test_a_node_of_a_runtime(tmp_path: Path) -> None:
    arrays = batch_normalization()
    model = one_node(tmp_path, "BatchNormalization", arrays, FLOAT, opset=9)
    text = checked(compare(model, arrays, "onnx-reference"), "onnx-reference")
    assert "batch-statistics-mixed-in" in text and "RandomState" in text
    arrays = {"a": np.array([2147483647, 7], np.int32), "b": np.array([2, 2], np.int32)}
    model = one_node(tmp_path, "Div", arrays, INT32)
    checked(compare(model, arrays, "openvino"), "openvino")


@pytest.mark.parametrize("backend", ["jax", "jax-jit"])
def test_a_framework_in_its_own_words(tmp_path: Path, backend: str) -> None:
    arrays = {"a": np.array([3e38, 1.5e38], np.float32), "b": np.array(3e38, np.float32)}
    model = one_node(tmp_path, "Div", arrays, FLOAT)
    text = checked(compare(model, arrays, backend), backend)
    assert "jnp.true_divide(a, b)" in text
    assert ("jax.jit(model)" in text) == (backend == "jax-jit")


def test_tensorflow_lite_is_converted_in_the_script(tmp_path: Path) -> None:
    arrays = {"x": np.array([np.inf, -np.inf, 1], np.float32)}
    model = one_node(tmp_path, "IsInf", arrays, TensorProto.BOOL, opset=20, detect_negative=0)
    finding = compare(model, arrays, "tflite")
    text = Path(finding["repro"]).read_text()
    assert "tf.math.is_inf(x)" in text and "TFLiteConverter" in text
    assert execute(Path(finding["repro"]), "tensorflow")[0] == 1


def test_names_of_a_file_do_not_become_code(tmp_path: Path) -> None:
    arrays = batch_normalization()
    model = onnx.load(one_node(tmp_path, "BatchNormalization", arrays, FLOAT, opset=9))
    evil = 'x"""\nimport os; os.mkdir("made-by-a-name") #\'\\'
    node = model.graph.node[0]
    node.input[0] = model.graph.input[0].name = node.name = model.graph.name = evil
    arrays = {evil if name == "x" else name: array for name, array in arrays.items()}
    onnx.save(model, tmp_path / "evil.onnx")
    finding = compare(tmp_path / "evil.onnx", arrays, "onnx-reference")
    checked(finding, "onnx-reference")
    places = (Path(), tmp_path, tmp_path / "out")
    assert not any((folder / "made-by-a-name").exists() for folder in places)


def test_what_has_no_script_says_why(tmp_path: Path) -> None:
    """A framework's calls that kill it cannot be followed; its model is kept all the same."""
    arrays = {"a": np.array([-(2**31), 4], np.int32), "b": np.array([-1, 2], np.int32)}
    finding = compare(one_node(tmp_path, "Div", arrays, INT32), arrays, "torch")
    assert finding["kind"] == "crash" and finding["repro"] == ""
    assert "cannot be followed" in finding["repro_note"]
    assert (Path(finding["test"]) / "model.onnx").exists()
