"""Runs the commands of a page's console blocks, in a folder that looks like the project's root."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def commands(page: Path) -> list[tuple[str, int]]:
    """Return the commands of a page's console blocks with the exit code that each must have."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.replace("\\\n", "").splitlines():
            if line.startswith("$ "):
                command, _, note = line[2:].partition("    # exit ")
                found.append((command.strip(), int(note or 0)))
    return found


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command of a page."""
    words = shlex.split(command)
    words[0] = {"python": sys.executable, "assay": str(ROOT / "build" / "assay")}[words[0]]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ
    )


def failures(page: Path, folder: Path) -> Iterator[str]:
    """Run all commands of a page in a folder; yield what did not end as it should."""
    for name in ("examples", "tests", "build"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    for command, code in commands(page):
        done = run(command, folder)
        if done.returncode != code:
            yield f"{page.name}: {command}: exit {done.returncode}: {done.stdout}{done.stderr}"
