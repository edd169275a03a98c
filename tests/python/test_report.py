"""Reports of a comparison: what they hold, and what is said when they cannot be written."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Assay, Done
from models import FLOAT, check_error, model_of, save, value
from onnx import helper

HOSTILE = '</script><img src=x onerror="alert(1)">\n<!--'
WIDTH = 4


@pytest.fixture(autouse=True)
def planted(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plant a threshold that leaks."""
    monkeypatch.setenv("PLANTED", "leaking-threshold")
    return own_folders


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Write a network of two nodes, the first with a hostile name."""
    nodes = [
        helper.make_node("Relu", ["X"], ["r"], name=HOSTILE),
        helper.make_node("Softmax", ["r"], ["Y"], name="n" * 1_000_000),
    ]
    shape = ("batch", WIDTH)
    inputs, outputs = [value("X", FLOAT, shape)], [value("Y", FLOAT, shape)]
    return save(model_of(nodes, inputs, outputs, opset=17), tmp_path)


def compare(assay: Assay, network: Path, *reports: Path) -> Done:
    """Compare the reference with the planted framework, and write the reports."""
    data = network.with_name("data.npz")
    np.savez(data, X=np.linspace(-1, 1, 3 * WIDTH, dtype=np.float32).reshape(3, WIDTH))
    asked = [word for report in reports for word in ("--report", report)]
    return assay(
        *("compare", network, "--backends", "reference,planted", "--data", data, "--json", *asked)
    )


def embedded(page: Path) -> dict[str, Any]:
    """Return the document inside a page."""
    found = re.search(
        r'<script type="application/json" id="document">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert found
    document = json.loads(found.group(1))
    assert isinstance(document, dict)
    return document


def test_a_page_holds_the_document_and_the_map(assay: Assay, network: Path, tmp_path: Path) -> None:
    done = compare(assay, network, tmp_path / "r.html")
    assert done.code == 1
    document = embedded(tmp_path / "r.html")
    assert document["schema"] == 1
    assert document["findings"] == done.document["findings"]
    assert document["pairs"] == done.document["pairs"]
    assert document["map"]["findings"] == [0]
    relu, softmax = document["map"]["nodes"]
    assert softmax["inputs"][0]["node"] == 0
    for node in (relu, softmax):
        (output,) = node["outputs"]
        assert [one["backend"] for one in output["values"]] == [0, 1]
        assert node["rates"][0]["pair"] == 0
    (output,) = relu["outputs"]
    assert output["judged"][0]["verdict"] == "defect"
    assert output["values"][1]["min"] == pytest.approx(0.1)
    assert "9" in output["images"][0]["cells"]
    assert "map" not in done.document


def test_a_name_is_never_markup(assay: Assay, network: Path, tmp_path: Path) -> None:
    compare(assay, network, tmp_path / "r.html", tmp_path / "r.xml")
    assert "<img" not in (tmp_path / "r.html").read_text()
    assert "<img" not in (tmp_path / "r.xml").read_text()
    assert (tmp_path / "r.html").stat().st_size < 3_000_000


def test_sarif_and_junit_say_the_same(assay: Assay, network: Path, tmp_path: Path) -> None:
    done = compare(assay, network, tmp_path / "r.sarif", tmp_path / "r.xml")
    findings = done.document["findings"]
    (run,) = json.loads((tmp_path / "r.sarif").read_text())["runs"]
    about = [one for one in run["results"] if not one["ruleId"].startswith("pair/")]
    assert [one["ruleId"] for one in about] == ["inconsistency/defect"] * len(findings)
    suites = ET.parse(tmp_path / "r.xml").getroot()
    (suite,) = suites.findall("testsuite[@name='planted']")
    assert len(suite.findall("testcase/failure")) == len(findings) == 1


def test_an_unknown_ending_is_wrong_usage(assay: Assay, network: Path, tmp_path: Path) -> None:
    data = tmp_path / "none.npz"  # nothing is read before the name is refused
    done = assay(
        *("compare", network, "--backends", "reference", "--data", data),
        *("--report", tmp_path / "r.html", "--report", tmp_path / "r.pdf"),
    )
    check_error(done, "r.pdf", ".html, .sarif or .xml")
    assert not (tmp_path / "r.html").exists()


def test_a_file_that_cannot_be_written_is_named(
    assay: Assay, network: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data.npz"
    np.savez(data, X=np.zeros((1, WIDTH), np.float32))
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", data),
        *("--report", tmp_path / "absent" / "r.html"),
    )
    check_error(done, "absent/r.html")


def test_who_accepts_an_invalid_model_is_reported(assay: Assay, tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["X"], ["Y"], name="relu")]
    model = save(model_of(nodes, [value("X", FLOAT, (2,))], [value("Y", FLOAT, (3,))]), tmp_path)
    report = tmp_path / "report.html"
    backends = ("--backends", "planted", "--random")
    assert assay("compare", model, *backends, "--report", report).code == 1
    assert embedded(report)["findings"][0]["kind"] == "invalid-accepted"


def test_two_files_have_no_report(assay: Assay, network: Path, tmp_path: Path) -> None:
    done = assay("compare", network, network, "--random", "--report", tmp_path / "r.html")
    check_error(done, "--report is for one model on several backends")
