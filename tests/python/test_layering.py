"""The house rules that can be checked by reading: order of folders, length of files, words."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A folder of src/ includes only itself and the folders before it.
ORDER = [
    "base",
    "tensor",
    "scalar",
    "graph",
    "patterns",
    "ops",
    "layers",
    "formats",
    "semantics",
    "validate",
    "backends",
    "search",
    "numeric",
    "compare",
    "generate",
    "localize",
    "reduce",
    "reproduce",
    "report",
    "campaign",
    "cli",
]
# Made at build time, with nothing of src/ in it.
GENERATED = "generated"

LONGEST = 500
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# A type that is defined at the top of a header, and is no template.
TYPE = re.compile(
    r"(?<!>\n)^(?:struct|class|enum class) (\w+)(?: final)?(?: :[^;{]*)? {", re.MULTILINE
)
# Spelled in pieces, so that this file passes its own test.
UNFINISHED = re.compile("|".join((r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", r"\bXX" + r"X\b")))
# A path of one machine, in any file.
MACHINE_PATH = re.compile("|".join(("/ho" + "me/", "/ro" + "ot/", "/wo" + "rk/", "/tm" + "p/venv")))
# Names that say nothing about the subject, as words or parts of an identifier, in C++.
VAGUE = re.compile(r"(?<![a-z])(hel" + r"per|ses" + r"sion|ag" + r"ent)s?(?![a-z])", re.IGNORECASE)


def project_files(*suffixes: str) -> list[Path]:
    """Return the files that git has or would take, with one of these suffixes (all: none given)."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [ROOT / name for name in names if not suffixes or name.endswith(suffixes)]
    return [file for file in files if file.is_file()]


def broken_includes(folder: str, text: str) -> list[str]:
    """Return the includes in `text`, of a file in src/`folder`, that the order forbids."""
    allowed = {GENERATED, *ORDER[: ORDER.index(folder) + 1]}
    return [name for name in INCLUDE.findall(text) if name.split("/")[0] not in allowed]


def test_every_folder_has_a_place_in_the_order() -> None:
    folders = {p.name for p in (ROOT / "src").iterdir() if p.is_dir()}
    assert folders <= set(ORDER)


def test_a_folder_includes_only_folders_above_it() -> None:
    broken = []
    for file in project_files(".cpp", ".h", ".inc"):
        parts = file.relative_to(ROOT).parts
        if parts[0] == "src":
            names = broken_includes(parts[1], file.read_text())
            broken += [f"{'/'.join(parts)} includes {name}" for name in names]
    assert not broken


def test_a_type_has_a_name_of_its_own() -> None:
    """Two types of one name and namespace are one to the linker, which keeps either's functions."""
    places: dict[tuple[str, str], set[str]] = {}
    for file in project_files(".h"):
        text = file.read_text()
        space = re.search(r"^namespace ([\w:]+) {", text, re.MULTILINE)
        for found in TYPE.finditer(text):
            key = (space.group(1) if space else "", found.group(1))
            places.setdefault(key, set()).add(str(file.relative_to(ROOT)))
    assert {key: files for key, files in places.items() if len(files) > 1} == {}


@pytest.mark.parametrize(
    ("folder", "text", "broken"),
    [
        ("tensor", '#include "base/check.h"\n', []),
        ("tensor", '#include "tensor/shape.h"\n', []),
        ("base", '#include "tensor/shape.h"\n', ["tensor/shape.h"]),
        ("base", "#include <vector>\n", []),
        ("ops", '  # include "semantics/evaluate.h"\n', ["semantics/evaluate.h"]),
        ("ops", '#include "schema.h"\n', ["schema.h"]),
        ("formats", '#include "generated/onnx.pb.h"\n', []),
    ],
)
def test_the_order_is_really_checked(folder: str, text: str, broken: list[str]) -> None:
    assert broken_includes(folder, text) == broken


def test_cmake_has_the_same_order() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    match = re.search(r"set\(ASSAY_FOLDERS ([^)]*)\)", text)
    assert match
    folders = match.group(1).split()
    assert folders == [folder for folder in ORDER if folder in folders]


def test_no_file_is_too_long() -> None:
    files = project_files(".cpp", ".h", ".inc", ".py")
    lengths = {file.relative_to(ROOT): len(file.read_text().splitlines()) for file in files}
    assert not {str(file): n for file, n in lengths.items() if n > LONGEST}


def test_every_header_says_what_it_is() -> None:
    files = project_files(".h")
    assert not [str(f.relative_to(ROOT)) for f in files if not f.read_text().startswith("// ")]


def test_no_unfinished_work_and_no_path_of_one_machine() -> None:
    found = []
    for file in project_files(".cpp", ".h", ".py", ".sh", ".md", ".txt", ".cmake", "Makefile"):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if UNFINISHED.search(line) or MACHINE_PATH.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found


def test_no_vague_names_in_cpp() -> None:
    found = []
    for file in project_files(".cpp", ".h", ".inc"):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if VAGUE.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found


def test_commands_of_the_readme_exist() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text() if readme.exists() else "make demo, make test"
    wanted = set(re.findall(r"\bmake ([a-z][a-z-]*)\b", text))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= wanted <= targets
