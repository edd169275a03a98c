"""Keras' random layers in training: honest draws are no findings, and others are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import assay, install
from keras_known import Array, Config, Network

BACKENDS = ["keras-tensorflow", "keras-jax", "keras-torch"]
RATE = {"rate": 0.3, "training": True}
LAYERS: dict[str, tuple[Config, tuple[int, ...]]] = {  # a class, or a class and what is special
    "Dropout": (RATE, (8, 100)),
    "AlphaDropout": (RATE, (8, 100)),
    "GaussianDropout": (RATE, (8, 100)),
    "GaussianNoise": ({"stddev": 0.5, "training": True}, (8, 100)),
    "Dropout of rows": ({**RATE, "noise_shape": [None, 1, 40]}, (8, 5, 40)),
    "AlphaDropout of rows": ({**RATE, "noise_shape": [8, 1, None]}, (8, 5, 40)),
    "SpatialDropout1D": (RATE, (8, 5, 40)),
    "SpatialDropout2D": (RATE, (8, 5, 4, 40)),
    "SpatialDropout3D": (RATE, (8, 3, 4, 2, 40)),
}


def network_of(layer: str) -> Network:
    """Return a network of one layer on ordinary numbers."""
    config, shape = LAYERS[layer]
    x = np.random.default_rng(3).uniform(0.5, 2, shape).astype(np.float32)
    return Network(x, [(layer.partition(" ")[0], config)])


def compare(network: Network, folder: Path, *backends: str) -> list[dict[str, Any]]:
    """Return the findings."""
    words = ["compare", *network.write(folder), "--backends", ",".join(["reference", *backends])]
    _, document = assay(*words)
    assert "error" not in document, document["error"]
    assert all(one["judged"] >= 1 for one in document["backends"][1:]), document["backends"]
    findings: list[dict[str, Any]] = document["findings"]
    return findings


@pytest.mark.parametrize("layer", LAYERS)
def test_honest_draws_are_no_findings(tmp_path: Path, layer: str) -> None:
    install(*BACKENDS)
    assert compare(network_of(layer), tmp_path, *BACKENDS) == []


def dropped(x: Array, rate: float, scale: float, shape: tuple[int, ...]) -> Array:
    """Drop what a draw of the shape says, and scale what is left."""
    kept = np.random.default_rng(4).random(shape) >= rate
    return x.astype(np.float64) * kept * scale


def record(folder: Path, network: Network, drawn: Array) -> None:
    """Write what somebody drew."""
    values: dict[str, Any] = {network.name(0): drawn}
    np.savez(folder / "drawn.npz", **values)


@pytest.mark.parametrize("layer", ["SpatialDropout1D", "Dropout of rows"])
@pytest.mark.parametrize("wrong", ["rate", "scale", "elements instead of channels"])
def test_wrong_draws_are_found(tmp_path: Path, wrong: str, layer: str) -> None:
    network = network_of(layer)
    x = network.x
    drawn = {
        "rate": dropped(x, 0.7, 1 / 0.7, (8, 1, 40)),
        "scale": dropped(x, 0.3, 1, (8, 1, 40)),
        "elements instead of channels": dropped(x, 0.3, 1 / 0.7, (8, 5, 40)),
    }
    record(tmp_path, network, drawn[wrong])
    (finding,) = compare(network, tmp_path, f"file:{tmp_path / 'drawn.npz'}")
    assert (finding["kind"], finding["node"]) == ("inconsistency", network.name(0))


def test_a_right_draw_is_right(tmp_path: Path) -> None:
    network = network_of("SpatialDropout1D")
    right = dropped(network.x, 0.3, 1 / 0.7, (8, 1, 40))
    record(tmp_path, network, right)
    assert compare(network, tmp_path, f"file:{tmp_path / 'drawn.npz'}") == []
