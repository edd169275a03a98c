"""Comparing backends: planted defects are found where they are, and rounding is no defect."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Assay
from models import FLOAT, constant, model_of, save, value
from onnx import helper

WIDTH = 6
pytestmark = pytest.mark.usefixtures("nothing_planted")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Write a small classifier that takes any number of instances."""
    return write_network(tmp_path, "batch")


def write_network(folder: Path, instances: int | str) -> Path:
    """Write two dense layers, normalization, Relu and Softmax."""
    random = np.random.default_rng(0)

    def weights(name: str, *shape: int) -> Any:
        return constant(name, random.normal(size=shape), np.float32)

    positive = constant("variance", random.random(WIDTH) * 1e-4 + 1e-4, np.float32)
    nodes = [
        helper.make_node("MatMul", ["X", "w1"], ["a"], name="dense1"),
        helper.make_node("Add", ["a", "b1"], ["b"], name="bias1"),
        helper.make_node(
            "BatchNormalization",
            ["b", "scale", "shift", "mean", "variance"],
            ["c"],
            name="norm",
            epsilon=1e-3,
        ),
        helper.make_node("Relu", ["c"], ["d"], name="relu"),
        helper.make_node("MatMul", ["d", "w2"], ["e"], name="dense2"),
        helper.make_node("Softmax", ["e"], ["Y"], name="softmax"),
    ]
    initializers = [weights("w1", WIDTH, WIDTH), weights("w2", WIDTH, WIDTH), positive]
    initializers += [weights(n, WIDTH) for n in ("b1", "scale", "shift", "mean")]
    shape = (instances, WIDTH)
    model = model_of(
        nodes, [value("X", FLOAT, shape)], [value("Y", FLOAT, shape)], initializers, opset=17
    )
    return save(model, folder)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write ten instances and their labels."""
    random = np.random.default_rng(1)
    np.savez(tmp_path / "data.npz", X=random.normal(size=(10, WIDTH)).astype(np.float32))
    np.save(tmp_path / "labels.npy", random.integers(0, WIDTH, 10))
    return tmp_path / "data.npz"


def compare(assay: Assay, network: Path, data: Path, *more: object) -> tuple[int, dict[str, Any]]:
    """Compare the reference with the framework."""
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", data, "--json", *more)
    )
    return done.code, done.document


def test_an_honest_framework_is_consistent(assay: Assay, network: Path, data: Path) -> None:
    code, document = compare(assay, network, data)
    assert (code, document["findings"]) == (0, [])
    assert not any(pair["inconsistent"] for pair in document["pairs"])
    assert document["backends"][1]["judged"] == 6
    assert 0 < document["outputs"]["Y"]["rtol"] < 1e-2


@pytest.mark.parametrize(
    ("defect", "node", "reason"),
    [
        ("dropped-bias", "bias1", None),
        ("epsilon-outside-the-root", "norm", "epsilon-outside-the-root"),
        ("half-products", "dense1", "tf32"),
        ("transposed-weights", "dense1", None),
        ("leaking-threshold", "relu", None),
        ("wrong-axis", "softmax", None),
    ],
)
def test_a_planted_defect_is_found_where_it_is(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path, tmp_path: Path,
    defect: str, node: str, reason: str | None,
) -> None:  # fmt: skip
    monkeypatch.setenv("PLANTED", defect)
    code, document = compare(assay, network, data, "--output", tmp_path / "suspects")
    assert code == 1
    first = document["findings"][0]
    assert (first["kind"], first["backend"], first["node"]) == ("inconsistency", "planted", node)
    assert first.get("variant", first.get("profile")) == reason
    assert first["verdict"] == ("difference" if reason else "defect")
    bound = document["pairs"][0]
    assert bound["metric"] == "bound" and bound["inconsistent"]
    # The smallest model that shows it: the reference passes it, the framework does not.
    for backend, passed in (("reference", 1), ("planted", 0)):
        row = assay("conformance", first["test"], "--backend", backend, "--json").document
        assert row["backends"][0]["passed"] == passed


def test_the_published_distances_with_labels(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path
) -> None:
    labels = data.parent / "labels.npy"
    _, document = compare(assay, network, data, "--labels", labels)
    metrics = {pair["metric"]: pair for pair in document["pairs"]}
    assert set(metrics) == {"bound", "mad", "class"}
    assert metrics["class"]["instances"] == 10 and metrics["class"]["max"] == 0
    monkeypatch.setenv("PLANTED", "transposed-weights")
    _, document = compare(assay, network, data, "--labels", labels)
    metrics = {pair["metric"]: pair for pair in document["pairs"]}
    assert metrics["class"]["triggering"] > 0 and metrics["class"]["threshold"] == 8
    assert sum(metrics["class"]["pattern"]) == 10
    assert document["unique"] >= 1
    assay("compare", network, "--backends", "reference,planted", "--data", data, "--labels", labels)


def test_the_rate_map_of_two_backends(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path, own_folders: Path
) -> None:
    words = ["env", "PLANTED=", sys.executable, "-m", "assay_worker", "planted_backend"]
    (own_folders / "right.toml").write_text(f"command = {words}\nshared_memory = true\n")
    monkeypatch.setenv("PLANTED", "leaking-threshold")
    done = assay("compare", network, "--backends", "right,planted", "--data", data, "--json")
    layers = done.document["localisation"][0]["layers"]
    assert [layer["name"] for layer in layers if layer["highlighted"]] == ["relu"]
    relu = next(layer for layer in layers if layer["name"] == "relu")
    assert relu["verdict"] == "defect" and relu["rate"] > 1000


def test_a_backend_that_dies_does_not_stop_the_others(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path
) -> None:
    monkeypatch.setenv("PLANTED", "crash")
    code, document = compare(assay, network, data)
    assert code == 1
    assert document["crashes"][0]["backend"] == "planted"
    assert document["findings"][0]["signal"] == 6
    assert [b["answered"] for b in document["backends"]] == [True, False]


@pytest.mark.parametrize("shared", [True, False])
def test_instances_one_by_one(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: Path, own_folders: Path,
    shared: bool,
) -> None:  # fmt: skip
    file = own_folders / "planted.toml"
    file.write_text(file.read_text().replace("memory = true", f"memory = {str(shared).lower()}"))
    single = write_network(tmp_path, 1)
    for defect, triggering in (("", 0), ("transposed-weights", 10)):
        monkeypatch.setenv("PLANTED", defect)
        code, document = compare(assay, single, data)
        assert code == int(triggering > 0)
        bound = document["pairs"][0]
        assert (bound["instances"], bound["triggering"]) == (10, triggering)


def test_a_crash_at_one_of_many_instances_is_told(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLANTED", "crash-of-large")
    numbers = np.random.default_rng(2).normal(size=(10, WIDTH)).astype(np.float32)
    single = write_network(tmp_path, 1)
    for place in (None, 0, 7):
        if place is not None:
            numbers[place] = 1e6
        np.savez(tmp_path / "data.npz", X=numbers)
        code, document = compare(assay, single, tmp_path / "data.npz")
        assert code == int(place is not None)
        assert [finding["kind"] for finding in document["findings"]] == ["crash"] * code
        assert all(finding["signal"] == 6 for finding in document["findings"])


def test_tolerances_take_the_place_of_the_bound(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path
) -> None:
    monkeypatch.setenv("PLANTED", "half-products")
    for tolerance in ("0.5", "Y=0.5"):
        code, document = compare(assay, network, data, "--rtol", tolerance, "--atol", tolerance)
        assert (code, document["findings"]) == (0, [])
    code, document = compare(assay, network, data, "--rtol", "1e-9")
    assert code == 1 and document["pairs"][0]["inconsistent"]
    monkeypatch.setenv("PLANTED", "transposed-weights")
    assert compare(assay, network, data, "--rtol", "1e-3")[0] == 1


def test_metrics_that_are_asked_for(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path
) -> None:
    words = ("--metric", "l2", "--metric", "Y=cosine")
    code, document = compare(assay, network, data, *words)
    assert code == 0
    assert [(row["metric"], row["output"]) for row in document["pairs"]] == [
        ("l2", "Y"),
        ("cosine", "Y"),
    ]
    assert all(row["max"] <= row["threshold"] for row in document["pairs"])
    monkeypatch.setenv("PLANTED", "transposed-weights")
    _, document = compare(assay, network, data, *words)
    assert all(row["inconsistent"] for row in document["pairs"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rtol", "Z=1"), "there is no output Z; there is Y"),
        (("--rtol", "-1"), "expected a tolerance of 0 or more"),
        (("--atol", "much"), "expected a tolerance of 0 or more"),
        (("--metric", "euclid"), "expected bound, mad, class, l2 or cosine"),
        (("--metric", "class"), "the metric class needs a class for each instance"),
    ],
)
def test_criteria_that_are_none(
    assay: Assay, network: Path, data: Path, words: tuple[str, str], message: str
) -> None:
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", data),
        f"{words[0]}={words[1]}",
    )
    assert done.code == 2 and message in done.err


def test_every_output_counts(assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Softmax", ["X"], ["A"], name="first"),
        helper.make_node("Relu", ["X"], ["B"], name="second"),
    ]
    outputs = [value("A", FLOAT, (4,)), value("B", FLOAT, (4,))]
    model = save(model_of(nodes, [value("X", FLOAT, (4,))], outputs, [], opset=17), tmp_path)
    np.savez(tmp_path / "x.npz", X=np.array([-1, -2, 3, 4], np.float32))
    monkeypatch.setenv("PLANTED", "leaking-threshold")
    code, document = compare(assay, model, tmp_path / "x.npz")
    assert code == 1 and document["pairs"][0]["inconsistent"]


def test_a_folder_of_tests(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, network: Path, data: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLANTED", "dropped-bias")
    compare(assay, network, data, "--output", tmp_path / "suspects")
    words = ("compare", tmp_path / "suspects", "--tests", "--backends", "reference,planted")
    done = assay(*words, "--json")
    assert done.code == 1
    assert [one["node"] for one in done.document["tests"][0]["findings"]] == ["bias1"]
    assert done.document["backends"][1]["verdicts"] == {"defect": 1}
    monkeypatch.delenv("PLANTED")
    done = assay(*words)
    assert done.code == 0 and "1 of 1 answered" in done.out
    assert assay("compare", tmp_path / "none", "--tests", "--backends", "reference").code == 2


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(10, WIDTH), f"class {WIDTH}, but the first output has classes 0 to {WIDTH - 1}"),
        (np.full(10, -1), f"class -1, but the first output has classes 0 to {WIDTH - 1}"),
        (np.zeros((10, 2), np.float32), "20 true values for 60 elements of the first output"),
    ],
)
def test_labels_that_do_not_fit_the_output(
    assay: Assay, network: Path, data: Path, tmp_path: Path, labels: Any, message: str
) -> None:
    np.save(tmp_path / "odd.npy", labels)
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", data),
        *("--labels", tmp_path / "odd.npy"),
    )
    assert done.code == 2 and message in done.err


def test_what_does_not_fit(assay: Assay, network: Path, data: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "few.npy", np.zeros(3, np.int64))
    done = assay(
        *("compare", network, "--backends", "reference,planted", "--data", data),
        *("--labels", tmp_path / "few.npy"),
    )
    assert done.code == 2 and "3 labels for 10 instances" in done.err
    assert assay("compare", network, "--backends", "reference,nobody", "--random").code == 3
    assert assay("compare", network, "--backends", "reference,planted").code == 2  # no data


def test_more_inner_values_than_memory_holds(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    length, rows, columns, wrong = 240, 100, 100, 170
    total = length * rows * columns * 4
    half = constant("half", 0.5, np.float32)
    bias = constant("bias", np.arange(columns), np.float32)
    nodes = [
        helper.make_node(
            "Add", [f"v{i}", "bias" if i == wrong else "half"], [f"v{i + 1}"], name=f"add{i}"
        )
        for i in range(length)
    ]
    ends = [value(name, FLOAT, (rows, columns)) for name in ("v0", f"v{length}")]
    model = save(model_of(nodes, ends[:1], ends[1:], [half, bias], opset=17), tmp_path)
    monkeypatch.setenv("PLANTED", "dropped-bias")
    limit = ("--memory-limit", total // 10)
    done = assay(
        *("compare", model, "--backends", "reference,planted", "--random", "--json", *limit)
    )
    document = done.document
    assert [one["node"] for one in document["findings"]] == [f"add{wrong}"]
    assert document["backends"][1]["judged"] == length
    (pair,) = document["localisation"]
    assert len(pair["layers"]) == length
    assert [one["name"] for one in pair["layers"] if one["rate"] > 1000] == [f"add{wrong}"]
