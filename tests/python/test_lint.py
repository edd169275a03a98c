"""The command line of lint: what it proves, what it finds, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Assay
from models import constant, model_of, save, value
from onnx import helper

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rectangle(tmp_path: Path) -> Path:
    """Make the published example: the scale of a rectangle, given its center and offset."""
    parts = ["bottom", "left", "top", "right"]
    node = helper.make_node
    nodes = [
        node("Sub", ["center", "offset"], ["bottomleft"]),
        node("Add", ["center", "offset"], ["topright"]),
        node("Concat", ["bottomleft", "topright"], ["rectangle"], axis=1),
        node("Split", ["rectangle"], parts, axis=1, num_outputs=4),
        node("Sub", ["right", "left"], ["width"]),
        node("Sub", ["top", "bottom"], ["height"]),
        node("Mul", ["width", "height"], ["area"]),
        node("Reciprocal", ["area"], ["scale"], name="scale"),
    ]
    inputs = [value("center", shape=("n", 2)), value("offset", shape=("n", 2))]
    return save(model_of(nodes, inputs, [value("scale", shape=None)]), tmp_path)


def ranges(folder: Path, **inputs: object) -> Path:
    """Write a file of ranges."""
    path = folder / "ranges.json"
    path.write_text(json.dumps({"inputs": inputs}))
    return path


def test_proves_the_published_example(assay: Assay, rectangle: Path, tmp_path: Path) -> None:
    given = ranges(tmp_path, center=[-10, 10], offset=[1, 2])
    done = assay("lint", rectangle, "--ranges", given, "--json")
    assert done.code == 0, done.out + done.err
    assert done.document["checked"] == 1
    assert done.document["nodes"][0]["verdict"] == "safe"
    for option in (("--tensors", "smash"), ("--numbers", "interval")):
        alarm = assay("lint", rectangle, "--ranges", given, *option, "--search", 0)
        assert alarm.code == 1, alarm.out


def test_finds_values_and_a_range(assay: Assay, rectangle: Path, tmp_path: Path) -> None:
    given = ranges(tmp_path, center=[-10, 10], offset=[0, 1])
    done = assay("lint", rectangle, "--ranges", given, "--json")
    assert done.code == 1
    [node] = done.document["nodes"]
    assert node["verdict"] == "error"
    assert node["cause"] == ["center", "offset"]
    assert node["witness"]["inputs"]["offset"]["shape"] == [2, 2]
    assert node["fix"]["root"] == "offset"
    page = assay("lint", rectangle, "--ranges", given).out
    assert "error scale (Reciprocal)" in page
    safe = ranges(tmp_path, center=[-10, 10], offset=node["fix"]["range"])
    assert assay("lint", rectangle, "--ranges", safe).code == 0


def test_takes_ranges_from_data(assay: Assay, tmp_path: Path) -> None:
    model = save(
        model_of([helper.make_node("Log", ["x"], ["y"])], [value("x")], [value("y")]), tmp_path
    )
    np.savez(tmp_path / "data.npz", x=np.array([[1, 2], [3, 4]], np.float32))
    assert assay("lint", model).code == 1
    assert assay("lint", model, "--data", tmp_path / "data.npz").code == 0


def test_says_what_it_does_not_know(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Strange", ["x"], ["u"], domain="nobody", name="strange"),
        helper.make_node("Add", ["u", "one"], ["y"]),
    ]
    model = model_of(
        nodes, [value("x")], [value("y")], [constant("one", 1, np.float32)], domains=["nobody"]
    )
    done = assay("lint", save(model, tmp_path), "--json")
    assert done.code == 0
    assert done.document["unknown"][0]["name"] == "strange"


@pytest.mark.parametrize("text", ["", "[1]", '{"inputs": {"x": [2, 1]}}', '{"x": [0, 1]}'])
def test_refuses_ranges_that_are_none(
    assay: Assay, rectangle: Path, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "ranges.json"
    path.write_text(text)
    done = assay("lint", rectangle, "--ranges", path)
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1
    assert "ranges.json" in done.err


def test_names_ranges_for_nobody(assay: Assay, rectangle: Path, tmp_path: Path) -> None:
    given = ranges(tmp_path, center=[-10, 10], offset=[1, 2], nobody=[0, 1])
    done = assay("lint", rectangle, "--ranges", given, "--json")
    assert done.code == 0
    assert done.document["unused_ranges"] == ["nobody"]


@pytest.fixture
def loss(tmp_path: Path) -> tuple[Path, Path]:
    """Make the loss of the documentation, and its ranges."""
    subprocess.run([sys.executable, ROOT / "examples" / "make.py", tmp_path], check=True)
    return tmp_path / "cross_entropy.onnx", tmp_path / "cross_entropy.json"


def test_rewrites_what_is_written_by_hand(assay: Assay, loss: tuple[Path, Path]) -> None:
    model, given = loss
    done = assay("lint", model, "--ranges", given, "--search", 20, "--json")
    assert done.code == 1
    assert [node["name"] for node in done.document["nodes"]] == ["exp", "probabilities", "log"]
    for node in done.document["nodes"]:
        assert node["verdict"] == "error"
        assert node["check"] == "lint.softmax"
        assert node["fix"]["rewrite"] == "log-softmax"


def test_reports_are_pages_and_sarif(assay: Assay, loss: tuple[Path, Path], tmp_path: Path) -> None:
    model, given = loss
    page, sarif = tmp_path / "lint.html", tmp_path / "lint.sarif"
    done = assay("lint", model, "--ranges", given, "--report", page, "--report", sarif)
    assert done.code == 1
    [run] = json.loads(sarif.read_text())["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"lint.softmax"}
    assert {result["level"] for result in run["results"]} == {"error"}
    assert '"name":"log","op":"Log"' in page.read_text()
    assert '"min":' in page.read_text()
    refused = assay("lint", model, "--report", tmp_path / "lint.txt")
    assert refused.code == 2


def test_shorter_formats(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node
    nodes = [
        node("Mul", ["x", "x"], ["xx"], name="square"),
        node("Add", ["xx", "tiny"], ["t"], name="guard"),
        node("Sqrt", ["t"], ["y"], name="root"),
    ]
    tiny = constant("tiny", 1e-12, np.float32)
    model = save(model_of(nodes, [value("x")], [value("y")], [tiny]), tmp_path)
    given = ranges(tmp_path, x=[0, 1000])
    done = assay("lint", model, "--ranges", given, "--as", "f16", "--json")
    report = done.document["as"]
    assert report["type"] == "f16"
    assert report["overflow"][0]["name"] == "square"
    assert [row["name"] for row in report["flush"]] == ["tiny"]
    assert report["keep"] == ["guard", "root", "square"]
    assert report["verified"]
    assert (
        assay("lint", model, "--ranges", given, "--as", "bf16", "--json").document["as"]["keep"]
        == []
    )
    np.savez(tmp_path / "data.npz", x=np.full(2, 500, np.float32))
    seen = assay("run", model, "--inputs", tmp_path / "data.npz", "--as", "f16", "--json")
    assert seen.code == 1
    assert seen.document["as"]["keep"] == ["guard", "root", "square"]
