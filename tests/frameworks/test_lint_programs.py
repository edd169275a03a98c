"""Programs with one numerical bug each, and their fixed twins: all are found, no twin is blamed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from frameworks import HOME, ROOT, assay, install

SOURCES = ROOT / "tests" / "lint_programs"
PROGRAMS = {
    "tensorflow": [
        "adversarial_loss",
        "angle_between",
        "attention_over_nothing",
        "batch_of_nothing",
        "broken_power",
        "clipped_below_the_format",
        "clipped_to_zero",
        "deviation_by_squares",
        "dice",
        "distance_to_mean",
        "epsilon_that_vanishes",
        "gradient_of_a_distance",
        "half_precision_sum",
        "halved_in_a_loop",
        "integer_share",
        "log_of_softmax",
        "logarithm_of_the_rest",
        "normalised_batch",
        "softmax_by_hand",
        "squashed_action",
        "temperature",
        "unbounded_exponential",
        "unit_length",
        "variational_autoencoder",
        "window_of_a_signal",
    ],
    "keras": [
        "convolution_divided_by_norm",
        "own_binary_loss",
        "own_layer_normalization",
        "pooled_by_weights",
        "relu_before_a_logarithm",
        "sampling_layer",
    ],
    "torch": [
        "between_the_extremes",
        "cosine_of_vectors",
        "entropy_of_a_policy",
        "gaussian_policy",
        "haversine",
        "log_sum_exp",
        "masked_attention",
        "poisson_likelihood",
        "relative_entropy",
        "softplus_deviation",
        "standardised_rows",
    ],
}
NAMES = [(framework, name) for framework, names in PROGRAMS.items() for name in names]
ENVIRONMENTS = {"tensorflow": "tensorflow", "keras": "tensorflow", "torch": "torch"}
WITNESSED, FIXED = 0.8, 0.9  # of all bugs, at least


def exporter_packages(folder: Path) -> Path:
    """Return a folder with the packages that PyTorch's exporter lacks, and nothing else."""
    spec = importlib.util.find_spec("onnx")
    assert spec is not None and spec.submodule_search_locations
    site = Path(spec.submodule_search_locations[0]).parent
    packages = folder / "packages"
    packages.mkdir()
    for name in ("onnx", "google", "ml_dtypes", "typing_extensions.py"):
        (packages / name).symlink_to(site / name)
    return packages


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of folders, one for each framework, with all programs as files."""
    install("tensorflow", "torch")
    root = tmp_path_factory.mktemp("programs")
    packages = exporter_packages(root)
    for framework, environment in ENVIRONMENTS.items():
        folder = root / framework
        folder.mkdir()
        done = subprocess.run(
            [
                str(HOME / "environments" / environment / "bin" / "python"),
                str(SOURCES / f"{framework}_programs.py"),
                str(folder),
                str(packages),
            ],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert sorted(path.stem for path in folder.glob("*.json")) == sorted(PROGRAMS[framework])
    return root


def lint(folder: Path, file: str, ranges: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the unsafe nodes of a program by name."""
    given = folder / f"{file}.ranges"
    given.write_text(json.dumps(ranges))
    _, document = assay("lint", folder / file, "--ranges", given)
    assert "error" not in document, document["error"]
    unsafe = [node for node in document["nodes"] if node["verdict"] in {"warning", "error"}]
    return {node["name"]: node for node in unsafe}


@pytest.fixture(scope="module")
def found(programs: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what lint says of the faulty operation of each program."""
    answers = {}
    for framework, name in NAMES:
        folder = programs / framework
        expected = json.loads((folder / f"{name}.json").read_text())
        unsafe = lint(folder, expected["file"], expected["ranges"])
        answers[framework, name] = unsafe.get(expected["at"], {}) | {"expected": expected}
    return answers


@pytest.mark.parametrize(("framework", "name"), NAMES)
def test_the_bug_is_found(
    framework: str, name: str, found: dict[tuple[str, str], dict[str, Any]]
) -> None:
    node = found[framework, name]
    assert node.get("check") == node["expected"]["check"]


@pytest.mark.parametrize(("framework", "name"), NAMES)
def test_the_fixed_twin_is_proved(framework: str, name: str, programs: Path) -> None:
    folder = programs / framework
    expected = json.loads((folder / f"{name}.json").read_text())
    unsafe = lint(folder, expected["fixed"], expected["ranges"])
    assert {node["name"]: node["why"] for node in unsafe.values()} == {}


def test_most_bugs_are_seen_to_happen(found: dict[tuple[str, str], dict[str, Any]]) -> None:
    only_warned = [key for key, node in found.items() if "witness" not in node]
    assert len(only_warned) <= (1 - WITNESSED) * len(found), only_warned


def test_most_bugs_come_with_what_prevents_them(
    found: dict[tuple[str, str], dict[str, Any]],
) -> None:
    unfixed = [key for key, node in found.items() if "fix" not in node]
    assert len(unfixed) <= (1 - FIXED) * len(found), unfixed
