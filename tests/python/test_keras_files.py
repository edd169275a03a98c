"""Keras models in files: what Keras gives, what ONNX Runtime gives, and files that are wrong."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from conftest import ROOT, Assay
from keras_python import run_in_keras

SOURCES = ROOT / "tests" / "keras"
NAMES = [
    "convolutional",
    "shared",
    "recurrent",
    "nested",
    "embedded",
    "masked",
    "passed_on",
    "without_names",
    "half",
    "attention",
    "modern",
    "prepared",
    "grouped",
    "masked_merges",
    "seen",
]
# Half precision: what Keras computes in one step is rounded once.
LOOSE = {"half": 2e-3}


def write(script: str, folder: Path) -> Path:
    """Run a script where Keras is."""
    run_in_keras(str(SOURCES / script), str(folder))
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with models that Keras 3 has written."""
    return write("write_files.py", tmp_path_factory.mktemp("keras"))


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files that are wrong inside."""
    return write("break_files.py", tmp_path_factory.mktemp("broken"))


def outputs_of(files: Path, name: str) -> list[np.ndarray]:
    """Return what Keras gave."""
    return list(np.load(files / f"{name}.outputs.npz").values())


def same(found: list[np.ndarray], wanted: list[np.ndarray], name: str) -> bool:
    """Whether values agree within float32's rounding."""
    slack = LOOSE.get(name, 2e-5)
    return len(found) == len(wanted) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=slack, atol=slack)
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_means_what_keras_computes(
    assay: Assay, files: Path, name: str, ending: str
) -> None:
    done = assay(
        "run", files / f"{name}.{ending}", "--inputs", files / f"{name}.inputs.npz", "--json"
    )
    assert done.code == 0, done.err
    found = [
        np.array(one["values"], "float64").reshape(one["shape"])
        for one in done.document["outputs"].values()
    ]
    assert same(found, outputs_of(files, name), name)


@pytest.mark.parametrize("name", NAMES)
def test_the_converted_model_gives_the_same_in_onnx_runtime(
    assay: Assay, files: Path, tmp_path: Path, name: str
) -> None:
    target = tmp_path / "model.onnx"
    done = assay("convert", files / f"{name}.keras", "--output", target)
    assert done.code == 0, done.err
    session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    found = session.run(None, dict(np.load(files / f"{name}.inputs.npz")))
    assert same(list(found), outputs_of(files, name), name)


@pytest.mark.parametrize("name", NAMES)
def test_a_config_alone_asks_for_its_weights(assay: Assay, files: Path, name: str) -> None:
    assert assay("validate", files / f"{name}.json").code == 0
    done = assay("run", files / f"{name}.json", "--random", "--dim", "batch=2", "--json")
    assert done.code == 0, done.err
    shapes = [tuple(one["shape"]) for one in done.document["outputs"].values()]
    assert shapes == [value.shape for value in outputs_of(files, name)]


@pytest.mark.parametrize(
    ("file", "layer", "kind", "rule"),
    [
        ("shape.h5", "first", "Weight Shape Error", "Dense.weight-shape"),
        ("fewer.h5", "first", "Weight Shape Error", "Dense.weight-missing"),
        ("type.h5", "first", "Type Error", "Dense.type"),
        ("circle.keras", "first", "Graph Error", "Graph.cycle"),
        ("undefined.keras", "second", "Graph Error", "Graph.undefined"),
        ("custom.keras", "first", "Graph Error", "Keras.unknown-layer"),
        ("lambda.keras", "first", "Graph Error", "Keras.unknown-layer"),
    ],
)
def test_a_wrong_model_is_named_with_its_layer(
    assay: Assay, broken: Path, file: str, layer: str, kind: str, rule: str
) -> None:
    done = assay("validate", broken / file, "--json")
    assert done.code == 1
    first = done.document["findings"][0]
    assert (first["layer"], first["kind"], first["rule"]) == (layer, kind, rule)
    ran = assay("run", broken / file, "--random")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("missing.h5", "no 'model_weights/first/first/kernel' is in it"),
        ("bomb.h5", "but only 0 are stored"),
        ("outside.h5", "which is not followed"),
        ("no_config.h5", "no model_config"),
        ("bad_config.h5", "its config is no JSON"),
    ],
)
def test_a_broken_file_is_refused_with_one_reason(
    assay: Assay, broken: Path, file: str, reason: str
) -> None:
    done = assay("validate", broken / file)
    assert done.code == 2
    assert reason in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("file", ["sound.h5", "sound.keras"])
def test_no_cut_or_changed_file_breaks_the_reader(
    assay: Assay, broken: Path, tmp_path: Path, file: str
) -> None:
    sound = (broken / file).read_bytes()
    random = np.random.default_rng(0)
    target = tmp_path / file
    for attempt in range(40):
        data = bytearray(sound)
        if attempt % 4 == 0:
            del data[int(random.integers(len(data))) :]
        else:
            for place in random.integers(len(data), size=4**attempt % 4 + 1):
                data[place] = int(random.integers(256))
        target.write_bytes(data)
        done = assay("validate", target, timeout=10)
        assert done.code in (0, 1, 2), (attempt, done.code, done.err)
        assert done.code != 2 or len(done.err.splitlines()) == 1


def nested(depth: int) -> str:
    """Return a network inside a network inside …."""
    text = '{"class_name": "Sequential", "config": {"name": "n", "layers": []}}'
    for _ in range(depth):
        text = f'{{"class_name": "Sequential", "config": {{"name": "n", "layers": [{text}]}}}}'
    return text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "its config is no JSON"),
        ("[]", "its config describes no model"),
        ("{}", "a layer has no class_name"),
        ('{"class_name": "Mine", "config": {}}', "what it computes stands in Python code"),
        ('{"class_name": "Sequential", "config": {}}', "the network has no layers"),
        ('{"class_name": "Sequential", "config": {"layers": []}}', "the network has no layers"),
        ('{"class_name": "Functional", "config": {"layers": []}}', "what it takes and gives"),
        (nested(60), "networks are nested too deep"),
        (nested(2000), "its config is no JSON"),
    ],
)
def test_a_config_that_is_none_is_refused(
    assay: Assay, tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    done = assay("validate", path)
    assert done.code == 2
    assert reason in done.err or (text == "" and "empty" in done.err)
    assert len(done.err.splitlines()) == 1


def test_a_bomb_of_an_archive_is_refused(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "bomb.keras"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("config.json", "w", force_zip64=True) as entry,
    ):
        for _ in range(1100):
            entry.write(b" " * (1 << 20))
    done = assay("validate", path)
    assert done.code == 2
    assert "are allowed" in done.err


def test_networks_that_call_networks_twice_do_not_explode(assay: Assay, tmp_path: Path) -> None:
    def reference(name: str) -> list[object]:
        return [name, 0, 0, {}]

    layer = {"class_name": "Dense", "config": {"name": "last", "units": 1}, "name": "last"}
    for level in range(40):
        config = {
            "name": f"level{level}",
            "layers": [
                {"class_name": "InputLayer", "config": {"name": "x"}, "name": "x"},
                {
                    **layer,
                    "inbound_nodes": [[reference("x")], [[layer["name"], 0, 0, {}]]],
                },
            ],
            "input_layers": [["x", 0, 0]],
            "output_layers": [[layer["name"], 1, 0]],
        }
        layer = {"class_name": "Functional", "config": config, "name": f"level{level}"}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(layer))
    done = assay("validate", path, "--memory-limit", 4 << 30)
    assert done.code == 2
    assert "more than" in done.err
