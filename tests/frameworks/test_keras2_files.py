"""Files that Keras 2 (TensorFlow 2.4) has written mean what it computed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from frameworks import HOME, ROOT, assay, installed

pytestmark = pytest.mark.old
NAMES = ["convolutional", "shared", "recurrent", "nested", "embedded", "masked", "passed_on", "without_names"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with models that TensorFlow 2.4 has written."""
    folder = tmp_path_factory.mktemp("keras2")
    python = HOME / "environments" / installed("tensorflow-2.4") / "bin" / "python"
    script = ROOT / "tests" / "keras" / "write_files.py"
    done = subprocess.run(
        [str(python), str(script), str(folder)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_file_means_what_keras_computed(files: Path, name: str) -> None:
    code, document = assay("run", files / f"{name}.h5", "--inputs", files / f"{name}.inputs.npz")
    assert code == 0, document
    wanted = list(np.load(files / f"{name}.outputs.npz").values())
    found = list(document["outputs"].values())
    assert len(found) == len(wanted)
    for one, value in zip(found, wanted, strict=True):
        assert one["shape"] == list(value.shape)
        assert np.allclose(np.array(one["values"]), value.ravel(), rtol=2e-5, atol=2e-5)
