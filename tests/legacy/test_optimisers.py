"""Defects of optimisers: each is found, cut out, and blamed on the right pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from optimiser_cases import CASES
from test_known_defects import assay, installed

FOUND = 1


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
    assert (code, again["backends"][0]["total"]) == (FOUND, 1)
