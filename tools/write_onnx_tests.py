"""Write the backend test suites of the installed onnx package as folders.

usage: write_onnx_tests.py [FOLDER]      (default: build/onnx-tests)

Each test becomes SUITE/NAME/ with model.onnx, test_data_set_N/input_M.pb and output_M.pb, and a
data.json where the test has tolerances of its own: the layout of onnx's own `generate-data`
command, which by itself covers only the suite `simple`.

node              made by the package's Python cases, with the random seeds they set themselves
simple            the package's data folder (its `collect_testcases` adds three cases of Mod that
                  the package's runner does not run)
light             the models of the suite `real`, with weights replaced by constants; the inputs
                  are the ramp that the package's runner feeds, the expected outputs are its files
pytorch-*         the package's data folders

Nothing is done when FOLDER holds what this script wrote from this version of the package.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnx.backend.test
import onnx.backend.test.case.node as node_cases
from onnx import TensorProto, numpy_helper

EXPECTED = {
    "node": 1884,
    "simple": 23,
    "light": 9,
    "pytorch-converted": 82,
    "pytorch-operator": 35,
}
DEFAULT_TOLERANCES = {"rtol": 1e-3, "atol": 1e-7}


def serialized(value: Any, kind: str, name: str) -> bytes:
    """Return the bytes of a value of the given kind (a field's name in TypeProto)."""
    if isinstance(value, TensorProto):
        message: Any = value
    elif kind == "sequence_type":
        message = numpy_helper.from_list(value, name)
    elif kind == "optional_type":
        message = numpy_helper.from_optional(value, name)
    elif kind == "map_type":
        message = numpy_helper.from_dict(value, name)
    else:
        message = numpy_helper.from_array(np.asarray(value), name)
    return bytes(message.SerializeToString())


def write_values(folder: Path, stem: str, values: Iterable[Any], infos: Iterable[Any]) -> None:
    """Write values as STEM_0.pb, STEM_1.pb, ... in the order of the graph's declarations."""
    for i, (value, info) in enumerate(zip(values, infos, strict=True)):
        kind = info.type.WhichOneof("value")
        (folder / f"{stem}_{i}.pb").write_bytes(serialized(value, kind, info.name))


def write_tolerances(folder: Path, tolerances: dict[str, float]) -> None:
    """Write data.json if the tolerances are not those of every test."""
    if tolerances != DEFAULT_TOLERANCES:
        (folder / "data.json").write_text(json.dumps(tolerances, sort_keys=True) + "\n")


def write_node(suite: Path) -> None:
    """Make and write the node tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the cases overflow on purpose
        tests = node_cases.collect_testcases()
    for test in tests:
        if test.model is None or test.data_sets is None:
            raise ValueError(f"{test.name} has no model or no data")
        folder = suite / test.name
        folder.mkdir()
        (folder / "model.onnx").write_bytes(test.model.SerializeToString())
        write_tolerances(folder, {"rtol": test.rtol, "atol": test.atol})
        for i, (inputs, outputs) in enumerate(test.data_sets):
            data = folder / f"test_data_set_{i}"
            data.mkdir()
            write_values(data, "input", inputs, test.model.graph.input)
            write_values(data, "output", outputs, test.model.graph.output)


def ramp(info: Any) -> Any:
    """Return the float32 input that the package's runner feeds to a light model."""
    tensor = info.type.tensor_type
    if tensor.elem_type != TensorProto.FLOAT:
        raise ValueError(f"the input {info.name} is not of type float32")
    shape = tuple(d.dim_value if d.HasField("dim_value") else 1 for d in tensor.shape.dim)
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) / count).astype(np.float32)


def write_light(suite: Path, data: Path) -> None:
    """Write the light models; `data` is the package's folder of test data."""
    for description in sorted(data.glob("real/*/data.json")):
        settings = json.loads(description.read_text())
        source = data / "light" / Path(settings["url"]).name
        folder = suite / description.parent.name
        values = folder / "test_data_set_0"
        values.mkdir(parents=True)
        shutil.copyfile(source, folder / "model.onnx")
        write_tolerances(folder, {key: settings[key] for key in DEFAULT_TOLERANCES})
        graph = onnx.load(source).graph
        weights = {tensor.name for tensor in graph.initializer}
        fed = [info for info in graph.input if info.name not in weights]
        write_values(values, "input", [ramp(info) for info in fed], fed)
        for i in range(len(graph.output)):
            expected = source.with_name(f"{source.stem}_output_{i}.pb")
            shutil.copyfile(expected, values / f"output_{i}.pb")


def copy_suite(suite: Path, source: Path) -> None:
    """Copy the tests of a suite that the package holds as folders."""
    for test in sorted(source.iterdir()):
        if test.is_dir():
            shutil.copytree(test, suite / test.name, copy_function=shutil.copyfile)


def check(folder: Path) -> None:
    """Raise unless each suite has as many whole tests as are expected."""
    for suite, count in EXPECTED.items():
        tests = list((folder / suite).iterdir())
        if len(tests) != count:
            raise ValueError(f"{suite} has {len(tests)} tests, expected {count}")
        for test in tests:
            outputs = list(test.glob("test_data_set_*/output_0.pb"))
            if not (test / "model.onnx").is_file() or not outputs:
                raise ValueError(f"{suite}/{test.name} has no model or no expected output")


def write_all(folder: Path, data: Path) -> None:
    """Write all suites into an empty folder."""
    for name in EXPECTED:
        suite = folder / name
        suite.mkdir(parents=True)
        if name == "node":
            write_node(suite)
        elif name == "light":
            write_light(suite, data)
        else:
            copy_suite(suite, data / name)
    check(folder)


def stamp_text() -> str:
    """Return what the folder depends on: this script and the package's version."""
    script = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return f"onnx {version('onnx')} numpy {version('numpy')} script {script}\n"


def main(arguments: Sequence[str]) -> int:
    """Write the suites, unless they are up to date."""
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    default = Path(__file__).resolve().parent.parent / "build" / "onnx-tests"
    folder = Path(arguments[0]) if arguments else default
    stamp = folder / "stamp.txt"
    if stamp.is_file() and stamp.read_text() == stamp_text():
        return 0

    data = Path(onnx.backend.test.__file__).parent / "data"
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    write_all(fresh, data)
    (fresh / "stamp.txt").write_text(stamp_text())
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    total = sum(EXPECTED.values())
    print(f"wrote {total} tests to {folder}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
