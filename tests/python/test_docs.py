"""The commands in the documentation do what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from doc_commands import commands, failures, run  # noqa: E402


def test_the_tutorial_runs(tmp_path: Path) -> None:
    page = ROOT / "docs" / "tutorial.md"
    assert len(commands(page)) > 8
    assert list(failures(page, tmp_path)) == []


def test_the_page_on_lint_runs(tmp_path: Path) -> None:
    page = ROOT / "docs" / "lint.md"
    assert len(commands(page)) > 3
    assert list(failures(page, tmp_path)) == []


def test_the_tutorial_finds_the_nan(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    run("python examples/make.py models", tmp_path)
    page = run("assay run models/hidden_nan.onnx --random", tmp_path).stdout
    assert "first: logarithm" in page
    finding = run("assay validate models/too_large.onnx", tmp_path).stdout
    assert "AveragePool.window-fits" in finding


@pytest.mark.parametrize(("page", "options"), [("operators.md", []), ("layers.md", ["--layers"])])
def test_a_reference_is_up_to_date(page: str, options: list[str]) -> None:
    done = subprocess.run(
        [str(ROOT / "build" / "assay"), "ops", *options, "--markdown"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (ROOT / "docs" / page).read_text(), "run `make docs`"
