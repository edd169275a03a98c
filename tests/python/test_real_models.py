"""Real trained models: every value that ONNX Runtime computes lies in the bound of its node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from real_models import (  # noqa: E402
    MODELS,
    OTHER_BRANCHES,
    RealModel,
    hidden_values,
    save,
    session,
)


@pytest.mark.parametrize("model", MODELS + OTHER_BRANCHES, ids=lambda model: model.name)
def test_every_hidden_value_is_in_its_bound(model: RealModel, tmp_path: Path) -> None:
    """Each node is judged on ONNX Runtime's own inputs of that node."""
    inputs = model.inputs()
    recorded = hidden_values(model, inputs)
    plain = session(model.path, optimise=False)
    for output, value in zip(plain.get_outputs(), plain.run(None, inputs), strict=True):
        assert np.array_equal(value, recorded[output.name]), "values were recorded of another model"
    save(tmp_path / "inputs.npz", inputs)
    save(tmp_path / "recorded.npz", recorded)
    done = subprocess.run(
        [
            str(ROOT / "build" / "assay"),
            "run",
            str(model.path),
            "--inputs",
            str(tmp_path / "inputs.npz"),
            "--judge",
            str(tmp_path / "recorded.npz"),
            "--profile",
            "onnxruntime",
            "--json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    document = json.loads(done.stdout)
    assert "error" not in document, document["error"]
    judged = document["judged"]
    outside = [one for one in judged if one["verdict"] != "precision"]
    assert not outside, outside[:3]
    assert len(judged) == len(recorded), "a recorded value was not judged"
    assert not document["unknown"]
    assert done.returncode == 0
