"""Trained networks of published kinds on Keras 2: who differs, where, and why."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import HOME, assay, install
from test_digits import TRAINED, TRAINING, read_digits

pytestmark = pytest.mark.old

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
    "lstm": {"keras2-cntk": ("LSTM", "cell-state-returned")},
    "gru": {},
    "rnn": {},
}


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train all of them on digits, and write a few digits that they have not seen."""
    install(*BACKENDS)
    folder = tmp_path_factory.mktemp("networks")
    pixels, labels = read_digits()
    np.savez(folder / "all.npz", train=pixels[:TRAINED], train_labels=labels[:TRAINED])
    np.save(folder / "digits.npy", pixels[TRAINED : TRAINED + 40].reshape(-1, 8, 8, 1))
    np.save(folder / "labels.npy", labels[TRAINED : TRAINED + 40])
    python = HOME / "environments" / "keras2-tensorflow" / "bin" / "python"
    script = [TRAINING / "train_networks.py", folder / "all.npz", folder]
    done = subprocess.run(
        [str(python), *map(str, script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def first_findings(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return, by backend, the operator and variant of the first finding."""
    found: dict[str, tuple[str, str]] = {}
    for one in document["findings"]:
        found.setdefault(one["backend"], (one["op"], one.get("variant", "")))
    return found


@pytest.mark.parametrize("name", EXPECTED)
def test_a_trained_network(networks: Path, name: str) -> None:
    _, document = assay(
        *("compare", networks / f"{name}.h5", "--backends", ",".join(["reference", *BACKENDS])),
        *("--data", networks / "digits.npy", "--labels", networks / "labels.npy"),
    )
    assert "error" not in document, document["error"]
    assert first_findings(document) == EXPECTED[name]
