"""The commands in the documentation do what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def commands(page: Path) -> list[tuple[str, int]]:
    """Return the commands of a page's console blocks with the exit code that each must have."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                command, _, note = line[2:].partition("    # exit ")
                found.append((command.strip(), int(note or 0)))
    return found


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in a folder that looks like the project's root."""
    words = shlex.split(command)
    words[0] = {"python": sys.executable, "assay": str(ROOT / "build" / "assay")}[words[0]]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ
    )


def test_the_tutorial_runs(tmp_path: Path) -> None:
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    listed = commands(ROOT / "docs" / "tutorial.md")
    assert len(listed) > 8
    for command, code in listed:
        done = run(command, tmp_path)
        assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"


def test_the_tutorial_finds_the_nan(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    run("python examples/make.py models", tmp_path)
    page = run("assay run models/hidden_nan.onnx --random", tmp_path).stdout
    assert "first: logarithm" in page
    finding = run("assay validate models/too_large.onnx", tmp_path).stdout
    assert "AveragePool.window-fits" in finding


def test_the_operator_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [str(ROOT / "build" / "assay"), "ops", "--markdown"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    page = (ROOT / "docs" / "operators.md").read_text()
    assert done.stdout == page, "run `make docs`"
