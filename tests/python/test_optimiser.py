"""Where an optimiser goes wrong: a planted fusion is cut out and blamed on its passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Assay
from models import FLOAT, model_of, save, value
from onnx import helper


@pytest.fixture(autouse=True)
def folders(own_folders: Path) -> Path:
    """Have the frameworks of tests/workers."""
    return own_folders


def compare(assay: Assay, folder: Path, operators: list[str], *more: object) -> dict[str, Any]:
    """Compare a chain of operators on the reference and on the optimising framework."""
    nodes = [
        helper.make_node(op, [f"v{i}"], [f"v{i + 1}"], name=f"n{i}")
        for i, op in enumerate(operators)
    ]
    ends = [value("v0", FLOAT, (4,)), value(f"v{len(operators)}", FLOAT, (4,))]
    model = save(model_of(nodes, ends[:1], ends[1:], [], opset=17), folder)
    np.savez(folder / "data.npz", v0=np.array([-2, -1, 1, 3], np.float32))
    done = assay(
        *("compare", model, "--data", folder / "data.npz", "--json"),
        *("--backends", "reference,fusing-fuse", *more),
    )
    return done.document


CHAIN = ["Neg", "Relu", "Abs", "Neg", "Relu"]


@pytest.mark.parametrize(
    ("how", "kind", "passes", "cure"),
    [
        ("one", "optimiser", ["first"], "any"),
        ("both", "optimiser", ["first", "second"], "all"),
        ("restart", "optimiser", ["first"], "any"),
        ("refuse", "valid-refused", ["first"], "any"),
    ],
)
def test_the_segment_and_the_passes_are_named(
    assay: Assay,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    kind: str,
    passes: list[str],
    cure: str,
) -> None:
    monkeypatch.setenv("FUSING", how)
    document = compare(assay, tmp_path, CHAIN, "--output", tmp_path / "tests")
    [finding] = document["findings"]
    assert (finding["kind"], finding["verdict"]) == (kind, "optimiser")
    assert (finding["passes"], finding["passes_cure"]) == (passes, cure)
    assert (finding["node"], finding["op"]) == ("n2..n3", "Abs+Neg")
    done = assay("conformance", finding["test"], "--backend", "fusing-fuse", "--json")
    assert (done.code, done.document["backends"][0]["total"]) == (1, 1)


def test_a_model_without_the_pair_is_right(assay: Assay, tmp_path: Path) -> None:
    assert compare(assay, tmp_path, ["Neg", "Abs", "Relu", "Neg"])["findings"] == []


@pytest.mark.parametrize(
    ("framework", "releases", "kind"),
    [
        ("onnxruntime", "1.19", "usage"),
        ("fusing", "1.1..1.2", "usage"),
        ("nosuch", "1.1..1.2", "environment"),
    ],
)
def test_ranges_that_are_none(
    assay: Assay, tmp_path: Path, framework: str, releases: str, kind: str
) -> None:
    document = compare(assay, tmp_path, ["Neg"], "--bisect", framework, releases)
    assert document["error"]["kind"] == kind
