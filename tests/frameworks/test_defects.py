"""Every known defect whose operator is the standard's is found, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from frameworks import assay, install
from known import CURRENT, OLD, Defect


def check(defect: Defect, folder: Path) -> None:
    """Compare the backend with the reference; the finding names the node and the reason."""
    install(defect.backend)
    (folder / "model.onnx").write_bytes(defect.model().SerializeToString())
    data: dict[str, Any] = dict(defect.inputs)
    np.savez(folder / "data.npz", **data)
    backends = f"reference,{defect.backend}"
    code, document = assay(
        *("compare", folder / "model.onnx", "--backends", backends, "--data", folder / "data.npz")
    )
    assert code == 1, document
    found = document["findings"][0]
    assert (found["kind"], found["backend"]) == (defect.kind, defect.backend), document["findings"]
    assert found["verdict"] in {"defect", "difference"}
    assert found.get("variant") == defect.variant, found
    if defect.node:
        assert found["node"] == defect.node, found


@pytest.mark.parametrize("name", CURRENT)
def test_a_defect_of_today(tmp_path: Path, name: str) -> None:
    check(CURRENT[name], tmp_path)


@pytest.mark.old
@pytest.mark.parametrize("name", OLD)
def test_a_defect_of_an_old_release(tmp_path: Path, name: str) -> None:
    check(OLD[name], tmp_path)


def test_the_models_are_what_they_seem() -> None:
    for defect in [*CURRENT.values(), *OLD.values()]:
        assert onnx.load_from_string(defect.model().SerializeToString()).graph.node
