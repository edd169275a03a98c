"""Every layer of the catalogue, with every argument varied, means what Keras 3 computes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from frameworks import HOME, ROOT, assay, install
from keras_arguments import (
    ELSEWHERE,
    NO_KERNEL,
    NOT_VARIED,
    OF_KERAS_2,
    ON_JAX,
    OPEN,
    REFUSED,
    UNNAMED,
    WITHOUT_MEANING,
    Case,
    all_layers,
    cases_of,
)

sys.path.insert(0, str(ROOT / "tests" / "keras"))
new_cases = import_module("new_cases")

CASES = [one for layer in all_layers() for one in cases_of(layer)]
RECORDER = ROOT / "tests" / "keras" / "record_arguments.py"
QUIET = {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_ENABLE_X64": "1"}
Lines = dict[str, list[dict[str, Any]]]


def backend_of(case: Case) -> str:
    """Return who records a case."""
    changed = ["*", *case.changed.split(",")]
    on_jax = any((case.layer.name, one) in ON_JAX for one in changed)
    return "keras-jax" if on_jax else "keras-tensorflow"


def start(backend: str, folder: Path) -> subprocess.Popen[str]:
    """Start recording the cases of a backend."""
    cases = [one.document(i) for i, one in enumerate(CASES) if backend_of(one) == backend]
    asked = folder / f"{backend}.json"
    asked.write_text(json.dumps(cases))
    python = HOME / "environments" / backend / "bin" / "python"
    return subprocess.Popen(
        [str(python), str(RECORDER), str(asked)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **QUIET, "KERAS_BACKEND": backend.removeprefix("keras-")},
    )


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """Return what real Keras has recorded, by backend."""
    backends = ["keras-tensorflow", "keras-jax"]
    install(*backends)
    folder = tmp_path_factory.mktemp("arguments")
    started = {backend: start(backend, folder) for backend in backends}
    found: Lines = {}
    for backend, process in started.items():
        printed, _ = process.communicate()
        assert process.returncode == 0
        found[backend] = [json.loads(line) for line in printed.splitlines()]
    assert sum(map(len, found.values())) == len(CASES)
    return found


def without_number(name: str) -> str:
    """Return what a case is of."""
    return name.rpartition("#")[0]


def disagreements(lines: list[dict[str, Any]], folder: Path, *more: str) -> dict[str, str]:
    """Return the cases that do not pass, each with the reason."""
    file = folder / "cases.jsonl"
    kept = [one for one in lines if "refused" not in one]
    file.write_text("".join(json.dumps(one) + "\n" for one in kept))
    _, document = assay("conformance", file, *more)
    assert "error" not in document, document["error"]
    (backend,) = document["backends"]
    found = zip(kept, backend["cases"], strict=True)
    return {
        without_number(one["id"]): case["detail"]
        for one, case in found
        if case["status"] != "passed"
    }


def all_configs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each layer with arguments that it is tried with, here and in new_cases.py."""
    for case in CASES:
        yield case.layer.name, {**case.config, **({"masked": True} if case.masked else {})}
    plain = [(name, config) for name, config, _ in new_cases.new_cases()]
    masked = [(name, {**config, "masked": True}) for name, config, *_ in new_cases.masked_cases()]
    for name, config in plain + masked:
        inner = config.get("cell", {})
        stacked = inner.get("class_name") == "StackedRNNCells"
        yield ("StackedRNNCells", {**config, **inner["config"]}) if stacked else (name, config)


def test_every_argument_of_every_layer_is_varied() -> None:
    _, document = assay("ops", "--layers")
    tried: dict[str, list[dict[str, Any]]] = {}
    for name, config in all_configs():
        tried.setdefault(name, []).append(config)
    missing = []
    for layer in document["layers"]:
        name = layer["name"]
        if name in OF_KERAS_2 | WITHOUT_MEANING:
            continue
        missing += [name] if name not in tried else []
        for argument in layer["arguments"]:
            values = {json.dumps(one.get(argument), sort_keys=True) for one in tried.get(name, ())}
            told = {(name, argument), ("*", argument)} & set(ELSEWHERE)
            missing += [f"{name}.{argument}"] if len(values) < 2 and not told else []
    assert set(missing) == NOT_VARIED


def test_what_keras_refuses(lines: Lines) -> None:
    refused = {
        one["id"]: one["refused"] for some in lines.values() for one in some if "refused" in one
    }
    assert {without_number(one) for one in refused} == REFUSED, refused


def test_the_reference_gives_what_keras_gives(lines: Lines, tmp_path: Path) -> None:
    found = disagreements([one for some in lines.values() for one in some], tmp_path)
    assert set(found) == set(OPEN), found


def test_the_worker_gives_what_keras_gives(lines: Lines, tmp_path: Path) -> None:
    names = {one["id"]: without_number(one["id"]) for one in lines["keras-tensorflow"]}
    known = [one for one in lines["keras-tensorflow"] if names[one["id"]] not in OPEN]
    found = disagreements(known, tmp_path, "--backend", "keras-tensorflow")
    lacking = {one for one in names.values() if one.partition(".")[0] in NO_KERNEL}
    assert set(found) == lacking | UNNAMED, found
    assert all(reason.startswith("unsupported: ") for reason in found.values())
