"""assay validate --repair on models of Keras layers."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Assay


def write_case(folder: Path, layers: list[dict[str, object]], shape: list[int]) -> str:
    """Write a case without recorded values, and return its name."""
    case = {
        "id": "one",
        "layers": layers,
        "weights": {},
        "inputs": {},
        "model_inputs": ["in0"],
        "output": layers[-1]["name"],
        "input_shapes": {"in0": shape},
    }
    path = folder / "cases.jsonl"
    path.write_text(json.dumps(case) + "\n")
    return f"{path}#one"


def layer(name: str, kind: str, source: str, **config: object) -> dict[str, object]:
    """Return a layer of a case."""
    return {"class": kind, "config": config, "name": name, "inputs": [source]}


def test_two_faults_are_repaired_one_after_the_other(assay: Assay, tmp_path: Path) -> None:
    model = write_case(
        tmp_path,
        [
            layer("crop", "Cropping2D", "in0", cropping=[[2, 2], [0, 0]]),
            layer("pool", "MaxPooling1D", "crop", pool_size=2),
        ],
        [4, 3, 2],
    )
    target = tmp_path / "repaired.onnx"
    done = assay("validate", model, "--repair", target, "--json")
    assert done.code == 1
    document = done.document
    assert document["findings"][0]["layer"] == "crop"
    assert document["findings"][0]["kind"] == "Empty Output"
    assert document["repair"]["found"]
    assert [change["layer"] for change in document["repair"]["changes"]] == ["crop", "pool"]
    assert assay("validate", target).code == 0


def test_a_person_reads_what_was_changed(assay: Assay, tmp_path: Path) -> None:
    model = write_case(tmp_path, [layer("pool", "MaxPooling1D", "in0", pool_size=5)], [4, 3])
    done = assay("validate", model, "--repair", tmp_path / "repaired.onnx")
    assert done.code == 1
    assert "pool: pool_size: 4 in place of 5" in done.out


def test_what_cannot_be_repaired_is_said_and_nothing_is_written(
    assay: Assay, tmp_path: Path
) -> None:
    model = write_case(tmp_path, [layer("code", "Lambda", "in0")], [4, 3])
    target = tmp_path / "repaired.onnx"
    done = assay("validate", model, "--repair", target)
    assert done.code == 1
    assert "no repair was found" in done.out
    assert not target.exists()


def test_a_valid_model_needs_no_repair(assay: Assay, tmp_path: Path) -> None:
    model = write_case(tmp_path, [layer("flat", "Flatten", "in0")], [4, 3])
    target = tmp_path / "repaired.onnx"
    assert assay("validate", model, "--repair", target).code == 0
    assert not target.exists()
