"""Backends from the command line: what is there, what is missing, and what misbehaves."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Assay
from models import FLOAT, check_json_error, model_of, save, value
from onnx import helper

ENVIRONMENT = 3
pytestmark = pytest.mark.usefixtures("own_folders")


def one_node(path: Path, op: str, inputs: int = 1, shape: tuple[int, ...] = (3,)) -> Path:
    """Write a model of one node."""
    names = ["X", "Z"][:inputs]
    node = helper.make_node(op, names, ["Y"], name="the_node")
    graph = model_of([node], [value(n, FLOAT, shape) for n in names], [value("Y", FLOAT, shape)])
    return save(graph, path)


def left_running(folder: Path) -> list[str]:
    """Return the processes that still use a folder's workers."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in environment and "assay_worker" in command:
            found.append(command)
    return found


def test_the_list_says_what_is_there(assay: Assay) -> None:
    rows = {row["name"]: row for row in assay("backends", "--json").document["backends"]}
    assert rows["reference"]["installed"]
    assert len(rows["reference"]["operators"]) > 200
    for name in ("onnxruntime", "onnxruntime-noopt", "torch-1.4", "jax-jit", "tflite", "mxnet-1.6"):
        assert not rows[name]["installed"]
    assert rows["unruly"]["installed"]


def test_a_name_that_is_none_gets_the_names_that_are(assay: Assay) -> None:
    for command in (("backends", "check"), ("backends", "install"), ("backends",)):
        done = assay(*command, "torhc")
        assert done.code == ENVIRONMENT
        assert "torhc" in done.err and "onnxruntime" in done.err
    assert assay("backends", "check", "torch-cuda").code == 2
    assert assay("backends", "install").code == 2


def test_what_is_not_installed_says_how_to_get_it(assay: Assay, tmp_path: Path) -> None:
    model = one_node(tmp_path, "Abs")
    for command in (("run", model, "--random"), ("conformance", ROOT / "tests/cases/Abs.txt")):
        done = assay(*command, "--backend", "jax")
        assert done.code == ENVIRONMENT
        assert "assay backends install jax" in done.err


def test_a_release_that_is_none_is_refused_with_the_installer_s_words(assay: Assay) -> None:
    done = assay("backends", "install", "onnxruntime-99.9", timeout=300)
    assert done.code == ENVIRONMENT
    assert "onnxruntime==99.9" in done.err and len(done.err.strip().splitlines()) == 1


def test_a_python_that_is_none_is_said(assay: Assay, own_folders: Path) -> None:
    (own_folders / "ancient.toml").write_text('python = "2.4"\npackages = []\n')
    done = assay("backends", "install", "ancient", timeout=300)
    assert done.code == ENVIRONMENT
    assert "Python 2.4" in done.err and "ASSAY_PYTHON_2_4" in done.err
    (own_folders / "told.toml").write_text('python = "3.3"\npackages = []\n')
    os.environ["ASSAY_PYTHON_3_3"] = sys.executable
    done = assay("backends", "install", "told")
    del os.environ["ASSAY_PYTHON_3_3"]
    assert done.code == ENVIRONMENT and "is no Python 3.3" in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("python = ", "line 1"),
        ("nonsense = 1\npython = '3.11'", "nonsense"),
        ("packages = [1, 2]\npython = '3.11'", "packages"),
        ("packages = []", "'python' is missing"),
        ("python = '3.11'\nvariables = { A = 1 }", "variable A"),
    ],
)
def test_an_environment_file_that_is_wrong(
    assay: Assay, own_folders: Path, text: str, words: str
) -> None:
    (own_folders / "broken.toml").write_text(text)
    done = assay("backends", "check", "broken")
    assert done.code == 2
    assert "broken.toml" in done.err and words in done.err
    assert assay("backends").code == 0  # the others are still there


def test_a_framework_of_one_s_own(assay: Assay, own_folders: Path) -> None:
    for file in (ROOT / "examples" / "backend").iterdir():
        (own_folders / file.name).write_bytes(file.read_bytes())
    done = assay("backends", "install", "plain", timeout=300)
    assert done.code == 0, done.err
    assert "5 operators" in done.out
    assert assay("backends", "check", "plain").code == 0
    cases = assay("conformance", ROOT / "tests/cases/Add.txt", "--backend", "plain", "--json")
    row = cases.document["backends"][0]
    assert row["passed"] > 5 and row["crashed"] == 0


def run_unruly(assay: Assay, model: Path, *more: object) -> dict[str, object]:
    """Run a model on the framework that misbehaves."""
    done = assay("run", model, "--random", "--backend", "unruly", "--json", *more)
    assert done.out, done.err
    return {"code": done.code, **done.document}


@pytest.mark.parametrize(
    "expected",
    [
        ("Abs", "ok", 0, ""),
        ("Cos", "ok", 0, ""),
        ("Ceil", "crashed", 1, "SIGSEGV"),
        ("Floor", "failed", 1, "ValueError: no floor in this house"),
        ("Sin", "crashed", 1, "exited with 7"),
        ("Neg", "hung", 1, "no answer within 0.5 s"),
        ("Exp", "memory", 1, "bytes"),
        ("Tanh", "unsupported", ENVIRONMENT, "Tanh"),
    ],
)
def test_each_misbehavior_has_its_outcome(
    assay: Assay, tmp_path: Path, own_folders: Path, expected: tuple[str, str, int, str]
) -> None:
    op, outcome, code, words = expected
    more: tuple[object, ...] = ()
    if op == "Neg":
        more = ("--worker-timeout", 0.5)
    if op == "Exp":
        more = ("--memory-limit", 300_000_000)
    found = run_unruly(assay, one_node(tmp_path, op), *more)
    assert (found["outcome"], found["code"]) == (outcome, code)
    assert words in str(found.get("message", ""))
    time.sleep(0.1)
    assert left_running(own_folders) == []


def test_a_crash_does_not_end_the_tests_after_it(assay: Assay, tmp_path: Path) -> None:
    cases = tmp_path / "mixed.txt"
    cases.write_text(
        "".join(
            f"case {op.lower()}{i}\nnode {op}\nin X f32[2] = 0 0\nout Y f32[2] = {result}\n"
            for i in range(3)
            for op, result in (("Abs", "0 0"), ("Ceil", "0 0"), ("Sin", "0 0"), ("Tan", "0 0"))
        )
    )
    row = assay("conformance", cases, "--backend", "unruly", "--json").document["backends"][0]
    assert (row["passed"], row["crashed"], row["unsupported"]) == (3, 6, 3)


def test_killed_from_outside_nothing_stays(tmp_path: Path, own_folders: Path) -> None:
    model = one_node(tmp_path, "Neg")
    command = [str(ROOT / "build" / "assay"), "run", str(model), "--random", "--backend", "unruly"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as engine:
        deadline = time.monotonic() + 20
        while not left_running(own_folders) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        engine.kill()
    time.sleep(0.3)
    assert left_running(own_folders) == []


def test_the_whole_time_limit_ends_everything(
    assay: Assay, tmp_path: Path, own_folders: Path
) -> None:
    model = one_node(tmp_path, "Neg")
    done = assay("run", model, "--random", "--backend", "unruly", "--timeout", 3, "--json")
    check_json_error(done, "timeout", model.name)
    time.sleep(0.3)
    assert left_running(own_folders) == []


def test_data_that_does_not_fit(assay: Assay, tmp_path: Path) -> None:
    model = one_node(tmp_path, "Add", inputs=2)
    np.savez(tmp_path / "name.npz", Q=np.zeros(3, np.float32))
    np.savez(tmp_path / "shape.npz", X=np.zeros(4, np.float32), Z=np.zeros(3, np.float32))
    np.savez(tmp_path / "type.npz", X=np.zeros(3, np.int64), Z=np.zeros(3, np.float32))
    for name, words in (("name", "no input 'Q'"), ("shape", "f32[4]"), ("type", "i64[3]")):
        done = assay("run", model, "--inputs", tmp_path / f"{name}.npz", "--backend", "unruly")
        assert done.code == 2
        assert words in done.err
    assert "no data for inputs" in assay("run", model, "--backend", "unruly").err


def test_without_shared_memory(assay: Assay, tmp_path: Path, own_folders: Path) -> None:
    """A worker behind another command, with an environment of its own, as through ssh."""
    (own_folders / "remote.toml").write_text(
        f'command = ["env", "-i", "PYTHONPATH={os.environ["PYTHONPATH"]}", "{sys.executable}", '
        '"-m", "assay_worker", "unruly_backend"]\n'
    )
    model = one_node(tmp_path, "Add", inputs=2, shape=(300, 1000))
    data = {n: np.random.default_rng(0).random((300, 1000), np.float32) for n in "XZ"}
    np.savez(tmp_path / "in.npz", X=data["X"], Z=data["Z"])
    for backend in ("remote", "unruly"):
        out = tmp_path / f"{backend}.npz"
        done = assay(
            "run", model, "--inputs", tmp_path / "in.npz", "--outputs", out, "--backend", backend
        )
        assert done.code == 0, done.err
        assert np.array_equal(np.load(out)["Y"], data["X"] + data["Z"])


def test_values_recorded_elsewhere(assay: Assay, tmp_path: Path) -> None:
    model = one_node(tmp_path, "Abs")
    np.savez(tmp_path / "gpu.npz", Y=np.array([1, 2, 3], np.float32))
    backend = f"file:{tmp_path / 'gpu.npz'}"
    found = assay("run", model, "--random", "--backend", backend, "--json").document
    assert found["outputs"]["Y"]["values"] == [1, 2, 3]
    assert assay("run", model, "--random", "--backend", "file:none.npz").code == 2


def test_a_large_model_costs_the_engine_no_copy(assay: Assay, tmp_path: Path) -> None:
    weights = np.ones((200, 250_000), np.float32)  # 200 MB
    initializer = helper.make_tensor("W", FLOAT, weights.shape, weights.tobytes(), raw=True)
    node = helper.make_node("Add", ["X", "W"], ["Z"])
    slim = helper.make_node("Abs", ["X"], ["Y"])
    graph = model_of([node, slim], [value("X", FLOAT, (1,))], [value("Y", FLOAT, (1,))])
    graph.graph.initializer.append(initializer)
    path = save(graph, tmp_path)
    found = assay("run", path, "--random", "--backend", "unruly", "--json").document
    assert found["outcome"] == "ok"
    assert found["peak_bytes"] < 60_000_000
