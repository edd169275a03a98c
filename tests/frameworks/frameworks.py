"""How tests run the command line on real frameworks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("ASSAY_HOME", ROOT / "build" / "backends"))
ENVIRONMENT = 3
# The machine's own, or the one that tools/setup.sh has brought.
UV = shutil.which("uv") or str(ROOT / "build" / "uv" / "bin" / "uv")


def assay(*arguments: object, **variables: str) -> tuple[int, dict[str, Any]]:
    """Run a command with --json; return its exit code and document."""
    done = subprocess.run(
        [str(ROOT / "build" / "assay"), *map(str, arguments), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ASSAY_HOME": str(HOME), **variables},
    )
    return done.returncode, json.loads(done.stdout)


def installed(backend: str) -> str:
    """Install a backend, and return its name."""
    install(backend)
    return backend


def install(*backends: str) -> None:
    """Install backends, or say loudly that this machine cannot have one."""
    code, document = assay("backends", "install", *backends)
    if code == ENVIRONMENT:
        names = ", ".join(backends)
        pytest.skip(f"{names}: NOT INSTALLABLE HERE: {document['error']['message']}")
    assert "error" not in document, document["error"]
