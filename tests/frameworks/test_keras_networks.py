"""Trained networks of published kinds on Keras 2 and 3: who differs, where, and why."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import HOME, assay, install
from test_digits import TRAINED, TRAINING, read_digits

BACKENDS = ["keras2-tensorflow", "keras2-theano", "keras2-cntk"]
OTHER_SIDE = "pads-on-the-other-side"
# By network: the first layer at which a backend differs, and the variant that explains it.
EXPECTED: dict[str, dict[str, tuple[str, str]]] = {
    "lenet": {
        "keras2-theano": ("AveragePooling2D", OTHER_SIDE),
        "keras2-cntk": ("AveragePooling2D", OTHER_SIDE),
    },
    "vgg": {},
    "mobilenet": {
        "keras2-theano": ("Conv2D", OTHER_SIDE),
        "keras2-cntk": ("Conv2D", OTHER_SIDE),
    },
    "resnet": {},
    "xception": {},
    "lstm": {"keras2-cntk": ("LSTM", "cell-state-returned")},
    "gru": {},
    "rnn": {},
}


# Networks that Keras 3 trains and all its backends run.
NEW = ["keras-tensorflow", "keras-jax", "keras-torch"]
NEW_NETWORKS = ["xception", "lstm"]


def train(folder: Path, backend: str, *names: str) -> Path:
    """Train networks on digits, and write a few digits that they have not seen."""
    pixels, labels = read_digits()
    np.savez(folder / "all.npz", train=pixels[:TRAINED], train_labels=labels[:TRAINED])
    np.save(folder / "digits.npy", pixels[TRAINED : TRAINED + 40].reshape(-1, 8, 8, 1))
    np.save(folder / "labels.npy", labels[TRAINED : TRAINED + 40])
    python = HOME / "environments" / backend / "bin" / "python"
    script = [TRAINING / "train_networks.py", folder / "all.npz", folder, *names]
    done = subprocess.run(
        [str(python), *map(str, script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all networks, trained by Keras 2."""
    install(*BACKENDS)
    return train(tmp_path_factory.mktemp("networks"), BACKENDS[0])


@pytest.fixture(scope="module")
def new_networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with some, trained by Keras 3."""
    install(*NEW)
    return train(tmp_path_factory.mktemp("networks"), NEW[0], *NEW_NETWORKS)


def first_findings(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return, by backend, the operator and variant of the first finding."""
    found: dict[str, tuple[str, str]] = {}
    for one in document["findings"]:
        found.setdefault(one["backend"], (one["op"], one.get("variant", "")))
    return found


def compare(folder: Path, file: str, backends: list[str]) -> dict[str, Any]:
    """Return what a comparison on the digits says."""
    _, document = assay(
        *("compare", folder / file, "--backends", ",".join(["reference", *backends])),
        *("--data", folder / "digits.npy", "--labels", folder / "labels.npy"),
    )
    assert "error" not in document, document["error"]
    return document


@pytest.mark.old
@pytest.mark.parametrize("name", EXPECTED)
def test_a_trained_network(networks: Path, name: str) -> None:
    assert first_findings(compare(networks, f"{name}.h5", BACKENDS)) == EXPECTED[name]


@pytest.mark.parametrize("name", NEW_NETWORKS)
def test_a_network_that_keras_3_trained(new_networks: Path, name: str) -> None:
    document = compare(new_networks, f"{name}.keras", NEW)
    assert first_findings(document) == {}
    judged = {one["name"]: one["judged"] for one in document["backends"]}
    assert all(judged[backend] > 0 for backend in NEW), judged
