"""Classifiers that are trained on real digits, compared on their real validation set."""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from frameworks import HOME, ROOT, assay, install
from onnx import TensorProto, helper, numpy_helper

BACKENDS = ["onnxruntime", "torch", "tensorflow", "jax"]
TRAINED = 1400  # the other 397 digits are for validation
TRAINING = Path(__file__).parent / "training"


def train(framework: str, script: str, *arguments: object) -> None:
    python = HOME / "environments" / framework / "bin" / "python"
    done = subprocess.run(
        [str(python), str(TRAINING / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def site_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def read_digits() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the pixels of the scikit-learn wheel's digits, and which digits they are."""
    with gzip.open(site_of("sklearn") / "datasets" / "data" / "digits.csv.gz") as file:
        table = np.loadtxt(file, delimiter=",")
    return (table[:, :64] / 16).astype(np.float32), table[:, 64].astype(np.int64)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the digits: for training, for validation, and labels."""
    folder = tmp_path_factory.mktemp("digits")
    pixels, labels = read_digits()
    np.savez(
        folder / "all.npz",
        train=pixels[:TRAINED],
        train_labels=labels[:TRAINED],
        X=pixels[TRAINED:],
    )
    np.savez(folder / "data.npz", X=pixels[TRAINED:])
    np.save(folder / "labels.npy", labels[TRAINED:])
    install(*BACKENDS)
    return folder


@pytest.fixture(scope="module")
def from_torch(digits: Path) -> Path:
    """Train in PyTorch and let it export."""
    packages = digits / "packages"
    packages.mkdir()
    site = site_of("onnx").parent
    for name in ("onnx", "google", "ml_dtypes", "typing_extensions.py"):
        (packages / name).symlink_to(site / name)
    model, outputs = digits / "torch.onnx", digits / "torch.npz"
    train("torch", "train_torch.py", digits / "all.npz", model, outputs, packages)
    return model


@pytest.fixture(scope="module")
def from_keras(digits: Path) -> Path:
    """Train in Keras and write its layers as ONNX: channels come first there."""
    train(
        "tensorflow", "train_keras.py", digits / "all.npz", digits / "w.npz", digits / "keras.npz"
    )
    kernel, bias, dense, offset = np.load(digits / "w.npz").values()
    nodes = [
        helper.make_node("Reshape", ["X", "image"], ["images"], name="reshape"),
        helper.make_node("Conv", ["images", "kernel", "bias"], ["conv"], name="conv"),
        helper.make_node("Relu", ["conv"], ["relu"], name="relu"),
        helper.make_node(
            "AveragePool", ["relu"], ["pool"], name="pool", kernel_shape=[2, 2], strides=[2, 2]
        ),
        helper.make_node("Transpose", ["pool"], ["last"], name="channels", perm=[0, 2, 3, 1]),
        helper.make_node("Flatten", ["last"], ["flat"], name="flatten"),
        helper.make_node("MatMul", ["flat", "dense"], ["product"], name="dense"),
        helper.make_node("Add", ["product", "offset"], ["scores"], name="offset"),
        helper.make_node("Softmax", ["scores"], ["Y"], name="softmax"),
    ]
    held = {"kernel": kernel.transpose(3, 2, 0, 1), "bias": bias, "dense": dense, "offset": offset}
    held["image"] = np.array([-1, 1, 8, 8])
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ("batch", size))
        for name, size in (("X", 64), ("Y", 10))
    ]
    weights = [numpy_helper.from_array(array, name) for name, array in held.items()]
    graph = helper.make_graph(nodes, "digits", ends[:1], ends[1:], weights)
    opsets = [helper.make_opsetid("", 17)]
    path = digits / "keras.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return path


def compare(
    model: Path, digits: Path, backends: list[str], **variables: str
) -> tuple[int, dict[str, Any]]:
    return assay(
        *("compare", model, "--backends", ",".join(backends), "--data", digits / "data.npz"),
        *("--labels", digits / "labels.npy"),
        **variables,
    )


@pytest.mark.parametrize("framework", ["torch", "keras"])
def test_frameworks_agree_on_real_digits(
    framework: str, digits: Path, request: pytest.FixtureRequest
) -> None:
    model: Path = request.getfixturevalue(f"from_{framework}")
    recorded = digits / f"{framework}.npz"
    answers, labels = np.load(recorded)["Y"], np.load(digits / "labels.npy")
    assert np.mean(answers.argmax(1) == labels) > 0.85, "the network has learned nothing"
    code, document = compare(model, digits, ["reference", *BACKENDS, f"file:{recorded}"])
    assert (code, document["findings"]) == (0, [])
    rows = {metric: [] for metric in ("bound", "mad", "class")}  # type: dict[str, list[Any]]
    for pair in document["pairs"]:
        rows[pair["metric"]].append(pair)
    assert {len(pairs) for pairs in rows.values()} == {15}  # six answers, the trainer's among them
    assert {pair["instances"] for pair in rows["class"]} == {len(labels)}
    assert not any(pair["inconsistent"] for pair in document["pairs"])


def test_a_planted_defect_shows_in_the_classes(from_keras: Path, digits: Path) -> None:
    """A flipped kernel ruins real answers: the class distance sees it, and where it is."""
    workers, files = ROOT / "tests" / "workers", digits / "environments"
    files.mkdir()
    text = (workers / "faulty.toml").read_text().replace("PYTHON", sys.executable)
    (files / "faulty.toml").write_text(text)
    code, document = compare(
        *(from_keras, digits, ["reference", "faulty"]),
        ASSAY_ENVIRONMENTS=str(files),
        PYTHONPATH=f"{ROOT / 'workers'}:{workers}",
        PLANTED="flipped-kernel@conv",
    )
    assert code == 1
    finding = document["findings"][0]
    assert (finding["backend"], finding["node"]) == ("faulty", "conv")
    ruined = next(pair for pair in document["pairs"] if pair["metric"] == "class")
    assert ruined["inconsistent"] and ruined["threshold"] == 8 and ruined["max"] > 8
    assert sum(ruined["pattern"]) == ruined["instances"] == 397
