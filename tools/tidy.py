"""Run clang-tidy on the C++ sources, skipping those whose last run was clean.

usage: tidy.py [--changed] [--seconds N] [--jobs N]

A clean run is remembered under a hash of the source, of all headers of the project that it
includes, and of the settings. --changed takes only sources that differ from the merge base with
the main branch (on it, from the previous commit); --seconds starts no new file after that time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CACHE = BUILD / "tidy"
TIDY = "clang-tidy-16"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def git(*arguments: str) -> list[str]:
    """Return the lines that a git command prints; none if it fails."""
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


# Flags of gcc that clang does not know.
GCC_ONLY = re.compile(r"\s(-fvect-cost-model=\S+|-funswitch-loops)")


def base_commit() -> str | None:
    """Return the commit that the work under way started from."""
    head = git("rev-parse", "HEAD")
    for branch in ("origin/main", "main"):
        base = git("merge-base", "HEAD", branch)
        if base and base != head:
            return base[0]
    previous = git("rev-parse", "--verify", "--quiet", "HEAD~1")
    return previous[0] if previous else None


def changed_files() -> set[Path]:
    """Return what differs from the base, committed or not; everything if there is no base."""
    base = base_commit()
    names = git("diff", "--name-only", base) if base else git("ls-files")
    names += git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in names}


def included(source: Path, seen: set[Path]) -> None:
    """Add to `seen` the source and the project's headers that it includes, directly or not."""
    if source in seen or not source.is_file():
        return
    seen.add(source)
    for name in INCLUDE.findall(source.read_text()):
        for folder in (ROOT / "src", ROOT / "tests", source.parent):
            if (folder / name).is_file():
                included(folder / name, seen)
                break


def key_of(source: Path) -> str:
    """Return a hash of all that decides what clang-tidy says about a source."""
    files: set[Path] = set()
    included(source, files)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def tidy(source: Path, deadline: float) -> str:
    """Check one source; return "clean", "late" (not started) or what clang-tidy printed."""
    mark = CACHE / key_of(source)
    if mark.exists():
        return "clean"
    if time.monotonic() > deadline:
        return "late"
    command = [TIDY, "--quiet", "-p", str(CACHE), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        mark.touch()
        return "clean"
    return done.stdout + done.stderr


def sources(only_changed: bool) -> list[Path]:
    """Return the sources that the build knows and still has."""
    database = json.loads((BUILD / "compile_commands.json").read_text())
    for entry in database:
        entry["command"] = GCC_ONLY.sub("", entry["command"])
    (CACHE / "compile_commands.json").write_text(json.dumps(database))
    files = {Path(entry["file"]) for entry in database}
    files = {f for f in files if BUILD not in f.parents and f.is_file()}
    if only_changed:
        files &= changed_files()
    return sorted(files)


def main() -> int:
    """Check the sources; 1 if clang-tidy objects to one."""
    parser = argparse.ArgumentParser(description="Run clang-tidy on the C++ sources.")
    parser.add_argument("--changed", action="store_true", help="only files that differ from main")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none later")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    files = sources(options.changed)
    deadline = time.monotonic() + options.seconds
    with ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda source: tidy(source, deadline), files))
    for answer in answers:
        if answer not in ("clean", "late"):
            print(answer)
    clean, late = answers.count("clean"), answers.count("late")
    rest = f", {late} left for `make tidy`" if late else ""
    print(f"clang-tidy: {clean} of {len(files)} files clean{rest}")
    return 0 if clean + late == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
