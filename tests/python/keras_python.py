"""The Python that has the real Keras 3, for tests that ask it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import ASSAY, ROOT


def run_in_keras(*arguments: str) -> str:
    """Run Python where Keras is, and return what it prints."""
    home = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
    subprocess.run(
        [str(ASSAY), "backends", "install", "tensorflow"],
        check=True,
        capture_output=True,
        env=os.environ | {"ASSAY_HOME": str(home)},
    )
    python = home / "environments" / "tensorflow" / "bin" / "python"
    done = subprocess.run(
        [str(python), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
