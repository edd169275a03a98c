"""What compare does with models, data, labels and backends that are not as they should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import Assay
from models import FLOAT, check_error, check_json_error, constant, model_of, save, value
from onnx import helper

WIDTH = 6
pytestmark = pytest.mark.usefixtures("nothing_planted")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    nodes = [
        helper.make_node("MatMul", ["X", "w"], ["a"], name="dense"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Softmax", ["b"], ["Y"], name="softmax"),
    ]
    weights = constant("w", np.random.default_rng(0).normal(size=(WIDTH, WIDTH)), np.float32)
    shape = ("batch", WIDTH)
    model = model_of(nodes, [value("X", FLOAT, shape)], [value("Y", FLOAT, shape)], [weights])
    return save(model, tmp_path)


@pytest.fixture
def invalid(tmp_path: Path) -> Path:
    """Write a model that declares another output than it computes."""
    nodes = [helper.make_node("Relu", ["X"], ["Y"], name="relu")]
    model = model_of(nodes, [value("X", FLOAT, (2, 3))], [value("Y", FLOAT, (2, 4))])
    (tmp_path / "invalid.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "invalid.onnx"


def data(folder: Path, **arrays: object) -> Path:
    path = folder / "data.npz"
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return path


def test_a_backend_that_accepts_an_invalid_model_is_a_finding(assay: Assay, invalid: Path) -> None:
    words = ("compare", invalid, "--backends", "reference,planted", "--random")
    done = assay(*words, "--json")
    document = done.document
    assert (done.code, document["valid"]) == (1, False)
    assert document["validation"] == assay("validate", invalid, "--json").document["findings"]
    assert [b["answered"] for b in document["backends"]] == [False, True]
    (finding,) = document["findings"]
    assert (finding["kind"], finding["backend"]) == ("invalid-accepted", "planted")
    assert finding["verdict"] == "defect"
    assert document["crashes"] == document["pairs"] == []
    text = assay(*words)
    assert text.code == 1 and "accepts it" in text.out and "refuses it" in text.out


def test_a_backend_that_dies_of_an_invalid_model(
    assay: Assay, invalid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED", "crash")
    done = assay("compare", invalid, "--backends", "planted", "--random", "--json")
    assert (done.code, done.document["findings"][0]["kind"]) == (1, "crash")
    assert done.document["crashes"][0]["backend"] == "planted"


def test_backends_that_refuse_an_invalid_model_are_right(assay: Assay, tmp_path: Path) -> None:
    nodes = [helper.make_node("Sin", ["X"], ["Y"], name="nobody")]  # that has no rows for it
    model = model_of(nodes, [value("X")], [value("Y", FLOAT, (3,))])
    path = save(model, tmp_path)
    done = assay("compare", path, "--backends", "reference,planted", "--random", "--json")
    assert (done.code, done.document["findings"]) == (0, [])
    assert not done.document["valid"]


def test_an_invalid_model_whose_inputs_cannot_be_drawn(assay: Assay, tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["X", "X"], ["Y"], name="relu")]
    path = save(model_of(nodes, [value("X", FLOAT, None)], [value("Y", FLOAT, None)]), tmp_path)
    words = ("compare", path, "--backends", "planted", "--random")
    check_error(assay(*words), "model.onnx", "not valid", "relu", "cannot be run", "'X'")
    path.write_bytes(b"\x08")
    check_error(assay(*words), "model.onnx")


def test_data_that_do_not_fit(assay: Assay, network: Path, tmp_path: Path) -> None:
    def run(file: Path, *more: str) -> tuple[object, ...]:
        return ("compare", network, "--backends", "reference,planted", "--data", file, *more)

    right = np.zeros((4, WIDTH), np.float32)
    check_error(assay(*run(data(tmp_path, Z=right))), "'Z'", "X")
    check_error(assay(*run(data(tmp_path, X=right[:, :3]))), "f32[4,3]", f"{WIDTH}]")
    check_error(assay(*run(data(tmp_path, X=right.astype(np.float64)))), "f64", "f32")
    check_json_error(assay(*run(data(tmp_path, X=right[0]), "--json")), "invalid", "X")
    check_error(assay(*run(tmp_path / "none.npz")), "none.npz")


def test_nan_in_the_data_is_noted(assay: Assay, network: Path, tmp_path: Path) -> None:
    array = np.ones((4, WIDTH), np.float32)
    array[1, 2] = np.nan
    words = ("compare", network, "--backends", "reference,planted", "--data")
    done = assay(*words, data(tmp_path, X=array), "--json")
    assert (done.code, done.document["findings"]) == (0, [])
    assert done.document["notes"] == ["the data for input 'X' have 1 NaN and 0 infinities"]
    assert "1 NaN" in assay(*words, data(tmp_path, X=array)).out


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.zeros(3, np.int64), ("3 labels for 4 instances",)),
        (np.array(1), ("0 labels for 4 instances",)),
        (np.array([0, 1, 2, WIDTH]), ("instance 3", f"class {WIDTH}", f"0 to {WIDTH - 1}")),
        (np.array([0, -1, 2, 3]), ("instance 1", "class -1")),
        (np.array(["a", "b", "c", "d"]), ("string",)),
        (np.zeros((4, 2), np.float32), ("8 true values", f"{4 * WIDTH} elements")),
        (np.zeros(4, np.float32), ("4 true values",)),
    ],
)
def test_labels_that_do_not_fit(
    assay: Assay, network: Path, tmp_path: Path, labels: object, words: tuple[str, ...]
) -> None:
    np.save(tmp_path / "labels.npy", np.asarray(labels))
    given = data(tmp_path, X=np.ones((4, WIDTH), np.float32))
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", given),
        *("--labels", tmp_path / "labels.npy"),
    )
    check_error(done, *words)


def test_true_values_as_labels(assay: Assay, network: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", np.full((4, WIDTH), 0.5, np.float32))
    given = data(tmp_path, X=np.ones((4, WIDTH), np.float32))
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", given),
        *("--labels", tmp_path / "labels.npy", "--json"),
    )
    assert done.code == 0
    assert {pair["metric"] for pair in done.document["pairs"]} == {"bound", "mad"}


def test_instances_that_do_not_divide(assay: Assay, tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["X"], ["Y"], name="relu")]
    path = save(model_of(nodes, [value("X", FLOAT, (4, 2))], [value("Y", FLOAT, (4, 2))]), tmp_path)
    words = ("compare", path, "--backends", "reference,planted", "--data")
    check_error(assay(*words, data(tmp_path, X=np.ones((10, 2), np.float32))), "10 instances", "4")
    assert assay(*words, data(tmp_path, X=np.ones((8, 2), np.float32))).code == 0


@pytest.mark.parametrize(
    ("backends", "code", "word"),
    [
        ("reference,reference", 2, "'reference' is given twice"),
        ("planted,planted", 2, "'planted' is given twice"),
        ("", 2, "--backends"),
        (",", 2, "--backends"),
        ("reference,no such framework", 3, "no such framework"),
        ("nobody", 3, "nobody"),
    ],
)
def test_backends_that_are_none(
    assay: Assay, network: Path, backends: str, code: int, word: str
) -> None:
    done = assay("compare", network, "--random", "--backends", backends)
    assert (done.code, done.out) == (code, ""), done
    assert word in done.err and len(done.err.splitlines()) == 1


def test_no_backends_at_all(assay: Assay, network: Path) -> None:
    check_error(assay("compare", network, "--random"), "--backends")


def test_no_backend_is_left(assay: Assay, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "crash")
    words = ("compare", network, "--random", "--backends", "planted")
    done = assay(*words, "--json")
    assert (done.code, done.document["pairs"]) == (1, [])
    assert [one["kind"] for one in done.document["findings"]] == ["crash"]
    text = assay(*words)
    assert text.code == 1 and "no backend is left" in text.out
