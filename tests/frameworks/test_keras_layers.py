"""The cases of new layers and masks on the real Keras 3, below its three frameworks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from frameworks import HOME, ROOT, assay, installed

BACKENDS = ["keras-tensorflow", "keras-jax", "keras-torch"]
# What a backend is known to give otherwise, or not to have: layers, and why.
KNOWN = {
    "keras-tensorflow": {},
    "keras-jax": {},
    "keras-torch": {},
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of cases that Keras 3 on TensorFlow has run."""
    python = HOME / "environments" / installed("keras-tensorflow") / "bin" / "python"
    script = ROOT / "tests" / "keras" / "record.py"
    done = subprocess.run(
        [str(python), str(script), "--new"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "KERAS_BACKEND": "tensorflow"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    path = tmp_path_factory.mktemp("cases") / "new.jsonl"
    path.write_text(done.stdout)
    return path


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_gives_what_the_entries_mean(cases: Path, backend: str) -> None:
    code, document = assay("conformance", cases, "--backend", installed(backend))
    assert "error" not in document, document
    wrong = {
        one["id"].split("_")[0]: one.get("detail")
        for one in document["cases"]
        if one["status"] != "passed"
    }
    assert set(wrong) == set(KNOWN[backend]), (code, wrong)
