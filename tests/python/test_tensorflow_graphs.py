"""TensorFlow graphs: every value of every node against TensorFlow itself."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import ASSAY, ROOT, Assay

SOURCES = ROOT / "tests" / "tensorflow"
FAMILIES = [
    "unary",
    "activation",
    "gradients",
    "arithmetic",
    "logic",
    "reduce",
    "shape",
    "fill",
    "layout",
    "slices",
    "gather",
    "select",
    "scatter",
    "matrix",
    "conv",
    "pool",
    "norm",
    "loss",
    "image",
    "random",
]
NETS = [
    "optimizers",
    "resource_optimizers",
    "keras_momentum",
    "state",
    "embedding",
    "perceptron",
    "convolutional",
    "attention",
    "branches",
    "loops",
    "recurrent",
    "lists",
    "functional",
]
# TensorFlow of today refuses to build these; each is another name of one that it builds.
GONE = {"TopK", "BatchMatMul", "RefIdentity"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all graphs and what TensorFlow computes in them."""
    home = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
    environment = os.environ | {"ASSAY_HOME": str(home)}
    subprocess.run(
        [str(ASSAY), "backends", "install", "tensorflow"],
        check=True,
        capture_output=True,
        env=environment,
    )
    folder = tmp_path_factory.mktemp("tensorflow")
    python = home / "environments" / "tensorflow" / "bin" / "python"
    done = subprocess.run(
        [str(python), str(SOURCES / "record.py"), str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def tolerance(expected: np.ndarray) -> tuple[float, float]:
    """Return how far a value may be off: float32 rounds at each node on the way."""
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    scale = float(finite.max()) if finite.size else 1.0
    return 2e-4, 2e-5 * max(1.0, scale)


@pytest.mark.parametrize("name", FAMILIES + NETS)
def test_every_value_is_tensorflows(
    name: str, recorded: Path, assay: Assay, tmp_path: Path
) -> None:
    results = tmp_path / "results.npz"
    inputs = recorded / f"{name}.inputs.npz"
    done = assay(
        "run",
        recorded / f"{name}.pb",
        "--inputs",
        inputs,
        "--hidden",
        "--outputs",
        results,
        "--json",
    )
    assert done.code == 0, done.out[:2000]
    assert done.document["unknown"] == []
    found = dict(np.load(results)) | dict(np.load(inputs))
    expected = dict(np.load(recorded / f"{name}.values.npz"))
    missing = sorted(expected.keys() - found.keys())
    assert not missing, missing[:5]
    for key, value in expected.items():
        assert found[key].dtype == value.dtype, key
        assert found[key].shape == value.shape, key
        if value.dtype.kind == "f":
            rtol, atol = tolerance(value)
            np.testing.assert_allclose(found[key], value, rtol, atol, err_msg=key)
        else:
            np.testing.assert_array_equal(found[key], value, err_msg=key)


def test_random_numbers_have_tensorflows_types_shapes_and_ranges(
    recorded: Path, assay: Assay, tmp_path: Path
) -> None:
    results = tmp_path / "results.npz"
    inputs = recorded / "random.inputs.npz"
    assay("run", recorded / "random.pb", "--inputs", inputs, "--hidden", "--outputs", results)
    found, drawn = np.load(results), np.load(recorded / "random.drawn.npz")
    assert len(drawn.files) == 16
    for key in drawn.files:
        assert found[key].dtype == drawn[key].dtype, key
        assert found[key].shape == drawn[key].shape, key
        if drawn[key].size < 10:  # the words that a generator goes on with, which may be any
            continue
        spread = float(drawn[key].max() - drawn[key].min())
        assert abs(float(found[key].max()) - float(drawn[key].max())) <= 0.5 * spread, key
        assert abs(float(found[key].min()) - float(drawn[key].min())) <= 0.5 * spread, key


def test_both_forms_are_one_model(recorded: Path, assay: Assay) -> None:
    for name in ["convolutional", "loops"]:
        binary = assay("inspect", recorded / f"{name}.pb", "--json").document
        text = assay("inspect", recorded / f"{name}.pbtxt", "--json").document
        assert binary["operators"] == text["operators"]
        assert binary["outputs"] == text["outputs"]


def test_every_definition_is_compared(recorded: Path) -> None:
    page = (ROOT / "docs" / "tensorflow.md").read_text()
    meant = page[page.index("## Operations with a meaning") : page.index("## Operations without")]
    defined = set(re.findall(r"`([A-Z]\w+)`", meant))
    seen: set[str] = set()
    for graph in recorded.glob("*.pbtxt"):
        seen |= set(re.findall(r'^  op: "(\w+)"', graph.read_text(), re.M))
    assert sorted(defined - seen - GONE) == []


@pytest.mark.parametrize("name", ["perceptron", "convolutional", "branches", "loops"])
def test_converts_to_what_onnx_accepts(
    name: str, recorded: Path, assay: Assay, tmp_path: Path
) -> None:
    import onnx  # noqa: PLC0415

    target = tmp_path / "model.onnx"
    done = assay("convert", recorded / f"{name}.pb", "--output", target)
    assert done.code == 0, done.err
    onnx.checker.check_model(str(target))
