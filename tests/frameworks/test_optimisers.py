"""Defects of optimisers: each is found, cut out, and blamed on the right pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from frameworks import assay, installed
from optimiser_cases import CASES

pytestmark = pytest.mark.old

FOUND = 1
MOST_TRIED = 6  # both ends, and four of eleven between


@pytest.mark.parametrize("name", CASES)
def test_the_pass_is_named(name: str, tmp_path: Path) -> None:
    """The finding names the pass and the segment, and is written as a test that shows it."""
    case = CASES[name]
    backend = installed(case.backend)
    model, data = case.network().write(tmp_path)
    code, document = assay(
        "compare", model, "--data", data, "--backends", f"reference,{backend}",
        "--output", tmp_path / "tests",
    )  # fmt: skip
    assert code == FOUND, document
    [finding] = document["findings"]
    assert finding["kind"] == case.kind
    assert set(finding["passes"]) == case.passes
    assert finding["passes_cure"] == "any"
    assert finding["op"] == case.operators
    assert finding["verdict"] == case.verdict
    code, again = assay("conformance", finding["test"], "--backend", backend)
    assert again["backends"][0]["total"] == 1
    # What rounding or exact arithmetic explains may pass the test.
    assert code == FOUND or case.verdict != "optimiser"


def test_the_releases_are_named(tmp_path: Path) -> None:
    """Only one release pools so; the bisection installs no more than it needs."""
    case = CASES["ort-padfusion-averagepool"]
    backend = installed(case.backend)
    model, data = case.network().write(tmp_path)
    code, document = assay(
        "compare", model, "--data", data, "--backends", f"reference,{backend}",
        "--bisect", "onnxruntime", "1.19..1.31",
    )  # fmt: skip
    assert code == FOUND, document
    releases = document["releases"]
    assert (releases["first_bad"], releases["first_good"]) == ("1.20.1", "1.21.1")
    tried = {one["release"]: one["verdict"] for one in releases["tried"]}
    assert set(tried.values()) == {"good"}
    assert len(tried) <= MOST_TRIED
