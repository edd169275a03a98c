"""A layer that Keras gets wrong is written down in Keras' own words, and shows it by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import HOME, assay, install
from keras_known import INCONSISTENT, REFUSED, Network

WRITTEN = """
import sys
import keras
keras.utils.set_random_seed(1)
filters = int(sys.argv[2])
layers = [keras.layers.Conv1D(filters, 2), keras.layers.LayerNormalization(axis=1)]
model = keras.Sequential([keras.Input((5, 3)), *layers, keras.layers.Flatten()])
model.save(sys.argv[1])
"""


def python_of(backend: str) -> str:
    """Return the interpreter of a backend; those of one Keras 2 share theirs."""
    shared = {"keras2": "keras2-tensorflow", "keras2.1": "keras2.1-tensorflow"}
    shared["tfkeras"] = "tensorflow-2.4"
    name = shared.get(backend.split("-", maxsplit=1)[0], backend)
    return str(HOME / "environments" / name / "bin" / "python")


def execute(backend: str, script: Path, *arguments: object) -> tuple[int, str]:
    """Run a script where a backend is; return how it ends and what it prints."""
    words = [python_of(backend), script.name, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=script.parent)
    return done.returncode, done.stdout


def findings_of(model: list[str], folder: Path, *backends: str) -> list[dict[str, Any]]:
    """Return the findings of a comparison with the reference."""
    install(*backends)
    named = ",".join(["reference", *backends])
    _, document = assay("compare", *model, "--backends", named, "--output", folder / "out")
    assert "error" not in document, document["error"]
    findings: list[dict[str, Any]] = document["findings"]
    return findings


def script_of(finding: dict[str, Any]) -> Path:
    """Return a finding's script, which needs nothing but the backend and has 20 lines at most."""
    assert finding["repro"], finding
    text = Path(finding["repro"]).read_text()
    assert len(text.splitlines()) <= 20
    assert text.startswith(f"# backend: {finding['backend']} ")
    assert "assay" not in text.lower()
    return Path(finding["repro"])


def normalized(*shape: int) -> Network:
    """Return a normalisation along an axis that is not the last."""
    x = np.random.default_rng(0).normal(size=shape)
    weights = {0: [np.ones(shape[1]), np.zeros(shape[1])]}
    return Network(x, [("LayerNormalization", {"axis": 1})], weights)


@pytest.mark.parametrize("extent", [3, 12], ids=["written out", "in a file beside"])
def test_a_wrong_layer(tmp_path: Path, extent: int) -> None:
    model = normalized(2, extent, extent).write(tmp_path)
    (finding,) = findings_of(model, tmp_path, "keras-torch")
    script = script_of(finding)
    text = script.read_text()
    assert "keras.layers.LayerNormalization(axis=1)\n" in text  # what is default is left out
    assert execute("keras-torch", script)[0] == 1
    # On another backend the same lines find nothing wrong.
    install("keras-tensorflow")
    other = script.with_name("other.py")
    other.write_text(text.replace('"torch"', '"tensorflow"'))
    code, printed = execute("keras-tensorflow", other)
    assert (code, "found" in printed) == (0, True)


@pytest.mark.parametrize(
    ("ending", "filters", "kind"), [("keras", 3, "valid-refused"), ("h5", 4, "inconsistency")]
)
def test_a_layer_of_a_file(tmp_path: Path, ending: str, filters: int, kind: str) -> None:
    install("keras-torch")
    (tmp_path / "write.py").write_text('import os\nos.environ["KERAS_BACKEND"] = "torch"' + WRITTEN)
    model = tmp_path / f"model.{ending}"
    assert execute("keras-torch", tmp_path / "write.py", model, filters)[0] == 0
    (finding,) = findings_of([str(model), "--random"], tmp_path, "keras-torch")
    assert (finding["kind"], finding["op"]) == (kind, "LayerNormalization")
    script = script_of(finding)
    assert "Conv1D" not in script.read_text()  # of the layer alone
    code, printed = execute("keras-torch", script)
    assert (code, "expected" in printed) == (1, True)


def test_a_recurrence_in_double_precision(tmp_path: Path) -> None:
    weights = {0: [np.full((2, 2), 0.5), np.full((2, 2), 0.5), np.zeros(2)]}
    layers = [("SimpleRNN", {"units": 2, "return_state": True, "go_backwards": True})]
    model = Network(np.ones((1, 3, 2)), layers, weights).write(tmp_path)
    (finding,) = findings_of(model, tmp_path, "keras-jax")
    script = script_of(finding)
    assert "SimpleRNN(units=2, return_state=True, go_backwards=True)" in script.read_text()
    assert execute("keras-jax", script)[0] == 1


@pytest.mark.old
@pytest.mark.parametrize("name", INCONSISTENT)
def test_a_wrong_layer_of_an_old_release(tmp_path: Path, name: str) -> None:
    known = INCONSISTENT[name]
    findings = findings_of(known.network.write(tmp_path), tmp_path, *known.wrong)
    assert {one["backend"] for one in findings} == set(known.wrong)
    for finding in findings:
        assert f"layers.{finding['op']}(" in script_of(finding).read_text()


@pytest.mark.old
@pytest.mark.parametrize("name", REFUSED)
def test_a_layer_that_an_old_release_refuses(tmp_path: Path, name: str) -> None:
    network, refusing, _ = REFUSED[name]
    findings = findings_of(network.write(tmp_path), tmp_path, *refusing)
    assert {one["backend"] for one in findings} == set(refusing)
    for finding in findings:
        assert f"layers.{finding['op']}(" in script_of(finding).read_text()
