"""Keras' layers: what Keras gives for each argument, which are specified, how long entries are."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, Assay
from keras_python import run_in_keras

SOURCES = ROOT / "src" / "layers" / "keras"
LIST_CLASSES = """
import inspect, json, keras
found = {n: o for n, o in vars(keras.layers).items() if inspect.isclass(o)}
print(json.dumps({n: [o.__name__, issubclass(o, keras.layers.Layer)] for n, o in found.items()}))
"""
# The page gives the reason for each that is left out.
PAGE = ROOT / "docs" / "keras.md"
MOST_LINES = 15


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of cases that Keras 3 has run, of what TensorFlow 2.4 has not."""
    path = tmp_path_factory.mktemp("cases") / "new.jsonl"
    path.write_text(run_in_keras(str(ROOT / "tests" / "keras" / "record.py"), "--new"))
    return path


def test_layers_and_masks_give_what_keras_gives(assay: Assay, recorded: Path) -> None:
    done = assay("conformance", recorded, "--json", timeout=300)
    cases = done.document["backends"][0]["cases"]
    assert len(cases) > 180
    wrong = [f"{one['id']}: {one.get('detail')}" for one in cases if one["status"] != "passed"]
    assert not wrong, wrong[:10]


def specified(assay: Assay) -> set[str]:
    """Return the names of all layers that have an entry."""
    layers = assay("ops", "--layers", "--json").document["layers"]
    return {name for one in layers for name in (one["name"], one["alias"]) if name}


def left_out() -> dict[str, str]:
    """Return the classes that the page leaves out, each with its reason."""
    text = PAGE.read_text().split("## Layers without an entry", 1)[1].split("\n## ", 1)[0]
    reasons = {}
    for row in re.findall(r"^\| (`.*) \| (.+) \|$", text, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", row[0]):
            reasons[name] = row[1]
    return reasons


def test_every_class_of_keras_is_specified_or_left_out_with_a_reason(assay: Assay) -> None:
    classes = json.loads(run_in_keras("-c", LIST_CLASSES).splitlines()[-1])
    known, reasons = specified(assay), left_out()
    names = {real if layer else name for name, (real, layer) in classes.items()}
    names = {"GroupQueryAttention" if name == "GroupedQueryAttention" else name for name in names}
    assert names - known - set(reasons) == set()
    assert set(reasons) & known == set()
    assert set(reasons) - names == set()
    assert all(len(reason) > 20 for reason in reasons.values())


def functions(text: str) -> dict[str, str]:
    """Return the definitions of a file's functions by name."""
    head = r"^(?:template <.*>\n)?[\w:<>,*& ]+?\b(\w+)\((?:[^;{}]|\{[^;{}]*\})*\)(?: const)? \{"
    return {
        found[1]: text[found.start() : found.end() - 1] + block(text, found.end() - 1)
        for found in re.finditer(head, text, re.MULTILINE)
        if not found[1].endswith("_layers")
    }


def block(text: str, start: int, ends: str = "{}") -> str:
    """Return the text from a brace to the one that closes it."""
    depth = 0
    for place in range(start, len(text)):
        depth += {ends[0]: 1, ends[1]: -1}.get(text[place], 0)
        if depth == 0:
            return text[start : place + 1]
    raise AssertionError(text[start : start + 80])


def line_count(text: str) -> int:
    """Return how many lines are not blank."""
    return sum(1 for line in text.splitlines() if line.strip())


def used(known: dict[str, str], text: str, found: set[str]) -> set[str]:
    """Add the functions that a text uses, and those that they use."""
    for name in set(re.findall(r"\w+", text)) & set(known) - found:
        found.add(name)
        used(known, known[name], found)
    return found


def entry_sizes(text: str) -> dict[str, float]:
    """Return the lines of each layer of a file.

    They are those of its entry, its preconditions, its weights and what it computes, with all that
    these use in the file. What several layers share is written once, so that each has a part of it.
    """
    known = functions(text)
    lines: dict[str, int] = {}
    uses: dict[str, set[str]] = {}
    for found in re.finditer(r'\{\.name = "(\w+)"', text):
        entry = block(text, found.start())
        lines[found[1]], uses[found[1]] = line_count(entry), used(known, entry, set())
    for maker, body in known.items():
        if ".name = name" not in body:
            continue
        for found in re.finditer(rf'\b{maker}(\()\s*"(\w+)"', text):
            call = block(text, found.start(1), "()")
            lines[found[2]], uses[found[2]] = line_count(call), used(known, body + call, {maker})
    shared = Counter(name for names in uses.values() for name in names)
    return {
        layer: own + sum(line_count(known[name]) / shared[name] for name in uses[layer])
        for layer, own in lines.items()
    }


def test_the_median_layer_is_short(assay: Assay) -> None:
    sizes: dict[str, float] = {}
    for path in sorted(SOURCES.glob("*.cpp")):
        sizes.update(entry_sizes(path.read_text()))
    names = {one["name"] for one in assay("ops", "--layers", "--json").document["layers"]}
    assert names == set(sizes)
    assert statistics.median(sizes.values()) <= MOST_LINES, sorted(sizes.items())
