"""Files that Keras 2 (TensorFlow 2.4 and 2.12 to 2.15) has written mean what it computed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from frameworks import HOME, ROOT, UV, assay, installed

pytestmark = pytest.mark.old
NAMES = [
    "convolutional",
    "shared",
    "recurrent",
    "nested",
    "embedded",
    "masked",
    "passed_on",
    "without_names",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with models that TensorFlow 2.4 has written."""
    folder = tmp_path_factory.mktemp("keras2")
    python = HOME / "environments" / installed("tensorflow-2.4") / "bin" / "python"
    return written(python, folder)


# The first release that writes .keras files, and the last one before Keras 3.
RELEASES = ["2.12.1", "2.15.1"]


@pytest.fixture(scope="module", params=RELEASES)
def archives(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with .keras files that a release of TensorFlow has written."""
    release = request.param
    environment = HOME / "environments" / f"writer-{release}"
    python = environment / "bin" / "python"
    if not python.exists():
        for command in (
            [UV, "venv", "--python", "3.11", str(environment)],
            [UV, "pip", "install", "--python", str(python), f"tensorflow-cpu=={release}"],
        ):
            made = subprocess.run(command, check=False, capture_output=True, text=True)
            if made.returncode != 0:
                pytest.skip(f"TensorFlow {release}: NOT INSTALLABLE HERE: {made.stderr[-300:]}")
    return written(python, tmp_path_factory.mktemp("archives"))


def written(python: Path, folder: Path) -> Path:
    """Let a Python write the models."""
    script = ROOT / "tests" / "keras" / "write_files.py"
    done = subprocess.run(
        [str(python), str(script), str(folder)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def check(file: Path) -> None:
    """Hold a file against what Keras computed."""
    code, document = assay("run", file, "--inputs", file.with_suffix(".inputs.npz"))
    assert code == 0, document
    wanted = list(np.load(file.with_suffix(".outputs.npz")).values())
    found = list(document["outputs"].values())
    assert len(found) == len(wanted)
    for one, value in zip(found, wanted, strict=True):
        assert one["shape"] == list(value.shape)
        assert np.allclose(np.array(one["values"]), value.ravel(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_means_what_keras_computed(files: Path, name: str) -> None:
    check(files / f"{name}.h5")


@pytest.mark.parametrize("name", [*NAMES, "attention"])
def test_an_archive_means_what_keras_computed(archives: Path, name: str) -> None:
    check(archives / f"{name}.keras")
