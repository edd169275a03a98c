"""What the tests of the command line share: a way to run it, and small models."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASSAY = ROOT / "build" / "assay"


@dataclass
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document on stdout."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document


Assay = Callable[..., Done]


def limit_address_space() -> None:
    """Let no test take the machine: 6 GB are far beyond what any of them needs."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


@pytest.fixture
def assay() -> Assay:
    """Return a function that runs the command line."""

    def run(*arguments: object, cwd: Path | None = None, timeout: float = 60) -> Done:
        command: Sequence[str] = [str(ASSAY), *map(str, arguments)]
        start = time.monotonic()
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=cwd,
            check=False,
            preexec_fn=limit_address_space,
        )
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - start)

    return run


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test a home of its own, and the frameworks of tests/workers on this very Python."""
    files = tmp_path / "environments"
    files.mkdir()
    for file in (ROOT / "tests" / "workers").iterdir():
        if file.suffix in {".toml", ".py"}:
            (files / file.name).write_text(file.read_text().replace("PYTHON", sys.executable))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSAY_ENVIRONMENTS", str(files))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'workers'}:{files}")
    return files


@pytest.fixture
def nothing_planted(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plant nothing, unless a test says what."""
    monkeypatch.delenv("PLANTED", raising=False)
    return own_folders
