"""The command line: what each command prints, as JSON and for people, and how it exits."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import ASSAY, ROOT, Assay
from models import BOOL, INT64, check_error, check_json_error, constant, model_of, save, value
from onnx import TensorProto, helper

COMMANDS = ("run", "validate", "inspect", "convert", "conformance", "ops", "completion")


def log_model(folder: Path) -> Path:
    """Make a model whose log gives infinities and whose sqrt gives NaN that reaches no output."""
    nodes = [
        helper.make_node("Log", ["x"], ["a"], name="log"),
        helper.make_node("Neg", ["a"], ["y"], name="neg"),
        helper.make_node("Sub", ["x", "one"], ["b"], name="sub"),
        helper.make_node("Sqrt", ["b"], ["c"], name="sqrt"),
        helper.make_node("IsNaN", ["c"], ["z"], name="isnan"),
    ]
    outputs = [value("y", shape=(3,)), value("z", BOOL, (3,))]
    return save(
        model_of(nodes, [value("x", shape=(3,))], outputs, [constant("one", [1], np.float32)]),
        folder,
    )


def write_npz(path: Path, **arrays: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


# Usage


def test_help_lists_every_command_with_examples(assay: Assay) -> None:
    done = assay("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in done.out
        own = assay(command, "--help")
        assert own.code == 0
        assert "Example" in own.out
        assert "--json" in own.out
        assert "--memory-limit" in own.out
        assert "\n\n\n" not in own.out


def test_version(assay: Assay) -> None:
    done = assay("--version")
    assert done.code == 0
    assert done.out.startswith("assay ")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("runn",),
        ("--unknown",),
        ("run",),
        ("run", "a.onnx", "--unknown"),
        ("run", "a.onnx", "--threads", "many"),
        ("run", "a.onnx", "--timeout", "-1"),
        ("run", "a.onnx", "--dim", "n"),
        ("convert", "a.onnx"),
        ("completion", "tcsh"),
        ("ops", "NoSuchOperator"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(assay: Assay, arguments: tuple[str, ...]) -> None:
    check_error(assay(*arguments))
    done = assay(*arguments, "--json")
    check_json_error(done, "usage")


def test_a_misspelled_command_is_guessed(assay: Assay) -> None:
    assert "'validate'" in assay("valdate", "x.onnx").err


def test_missing_backend_is_exit_3(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))  # nothing is installed there
    done = assay("run", log_model(tmp_path), "--random", "--backend", "torch")
    assert done.code == 3
    assert len(done.err.splitlines()) == 1


# run


def test_run_prints_outputs_as_json(assay: Assay, tmp_path: Path) -> None:
    path = log_model(tmp_path)
    data = write_npz(tmp_path / "x.npz", x=np.array([1, np.e, 4], dtype=np.float32))
    document = assay("run", path, "--inputs", data, "--json").document
    assert document["command"] == "run"
    assert document["seconds"] >= 0
    assert document["peak_bytes"] > 0
    y = document["outputs"]["y"]
    assert (y["dtype"], y["shape"]) == ("f32", [3])
    np.testing.assert_allclose(y["values"], [0, -1, -np.log(4)], atol=1e-6)
    assert document["outputs"]["z"]["values"] == [False, False, False]
    assert document["nonfinite"] == []
    assert document["unknown"] == []


def test_run_names_what_makes_nan_and_infinity(assay: Assay, tmp_path: Path) -> None:
    path = log_model(tmp_path)
    data = write_npz(tmp_path / "x.npz", x=np.array([0, 1, 0.5], dtype=np.float32))
    done = assay("run", path, data, "--json")
    assert done.code == 0
    assert done.document["outputs"]["y"]["values"][0] == "Infinity"
    fields = ("node", "kind", "count", "inputs_finite", "reaches_output")
    found = [tuple(origin[field] for field in fields) for origin in done.document["nonfinite"]]
    assert found == [("log", "Infinity", 1, True, True), ("sqrt", "NaN", 2, True, False)]
    text = assay("run", path, data).out
    assert "first: log (Log) makes 1 infinite out of finite inputs; it reaches an output" in text
    assert "sqrt (Sqrt) makes 2 NaN out of finite inputs; it reaches no output" in text


def test_run_takes_data_in_several_forms(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Sub", ["a", "b"], ["y"], name="sub")
    path = save(model_of([node], [value("a"), value("b")], [value("y")]), tmp_path)
    a, b = np.array([5, 6], dtype=np.float32), np.array([1, 2], dtype=np.float32)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    folder = tmp_path / "set"
    folder.mkdir()
    for i, array in enumerate((a, b)):
        (folder / f"input_{i}.pb").write_bytes(
            onnx.numpy_helper.from_array(array).SerializeToString()
        )
    both = write_npz(tmp_path / "ab.npz", a=a, b=b)
    one = f"a={tmp_path / 'a.npy'}"
    other = f"b={tmp_path / 'b.npy'}"
    for data in (
        ["--inputs", both],
        ["--inputs", one, other],
        ["--inputs", one, "--inputs", other],
        [folder],
    ):
        done = assay("run", path, *data, "--json")
        assert done.code == 0, done
        assert done.document["outputs"]["y"]["values"] == [4, 4]
    check_error(assay("run", path, "--inputs", one), path.name, "b f32[2]")


def test_run_without_data_lists_what_it_needs(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Gather", ["x", "i"], ["y"], name="gather")
    model = model_of(
        [node], [value("x", shape=("batch", 3)), value("i", INT64, None)], [value("y", shape=None)]
    )
    done = assay("run", save(model, tmp_path))
    check_error(done, "x f32[batch,3]", "i i64", "--random")


def test_random_inputs_depend_on_the_seed_alone(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["x"], ["y"], name="same")
    path = save(
        model_of([node], [value("x", shape=("n", 2))], [value("y", shape=("n", 2))]), tmp_path
    )

    def draw(*arguments: object) -> list[float]:
        document = assay("run", path, "--random", "--json", *arguments).document
        values: list[float] = document["outputs"]["y"]["values"]
        return values

    assert draw() == draw()
    assert len(draw()) == 2
    assert len(draw("--dim", "n=5")) == 10
    assert draw("--seed", 1) != draw("--seed", 2)
    assert all(0 <= x < 1 for x in draw("--dim", "n=100"))


def test_hidden_values_have_names_inside_subgraphs(assay: Assay, tmp_path: Path) -> None:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Add", ["a", "a"], ["b"], name="double"),
        ],
        "body",
        [value("i", INT64, ()), value("go", BOOL, ()), value("a")],
        [value("go_on", BOOL, ()), value("b")],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    path = save(model_of([node], [value("x")], [value("y")], [constant("n", 3)]), tmp_path)
    data = write_npz(tmp_path / "x.npz", x=np.array([1, 2], dtype=np.float32))
    out = tmp_path / "out.npz"
    done = assay("run", path, "--inputs", data, "--hidden", "--outputs", out, "--json")
    hidden = done.document["hidden"]
    assert hidden["loop/body/b#0"]["values"] == [2, 4]
    assert hidden["loop/body/b#2"]["values"] == [8, 16]
    assert hidden["y"]["file"] == str(out)
    arrays = np.load(out)
    assert arrays["y"].tolist() == [8, 16]
    assert arrays["loop/body/b#1"].tolist() == [4, 8]


def test_large_outputs_stay_out_of_the_document(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    path = save(
        model_of([node], [value("x", shape=(1001,))], [value("y", shape=(1001,))]), tmp_path
    )
    y = assay("run", path, "--random", "--json").document["outputs"]["y"]
    assert "values" not in y
    assert y["shape"] == [1001]
    assert 0 <= y["minimum"] <= y["mean"] <= y["maximum"] < 1


def test_bounds_hold_the_value(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["a"], name="exp"),
        helper.make_node("ReduceSum", ["a"], ["y"], name="sum", keepdims=0),
    ]
    path = save(model_of(nodes, [value("x", shape=(100,))], [value("y", shape=())]), tmp_path)
    y = assay("run", path, "--random", "--bounds", "--json").document["outputs"]["y"]
    assert y["lower"][0] < y["values"][0] < y["upper"][0]
    assert y["upper"][0] - y["lower"][0] < 1e-2
    assert "±" in assay("run", path, "--random", "--bounds").out


def test_types_that_numpy_lacks_go_to_files_and_back(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["y"], name="cast", to=TensorProto.BFLOAT16),
    ]
    path = save(model_of(nodes, [value("x")], [value("y", TensorProto.BFLOAT16)]), tmp_path)
    data = write_npz(tmp_path / "x.npz", x=np.array([1.0, 3.14159], dtype=np.float32))
    out = tmp_path / "y.npz"
    done = assay("run", path, "--inputs", data, "--outputs", out, "--json")
    assert done.document["outputs"]["y"]["dtype"] == "bf16"
    assert done.document["outputs"]["y"]["values"] == [1.0, 3.140625]
    back = model_of(
        [helper.make_node("Cast", ["y"], ["z"], name="back", to=TensorProto.FLOAT)],
        [value("y", TensorProto.BFLOAT16)],
        [value("z")],
    )
    again = assay("run", save(back, tmp_path), "--inputs", out, "--json")
    assert again.document["outputs"]["z"]["values"] == [1.0, 3.140625]


def test_strings_and_sequences_are_printed(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("StringConcat", ["a", "a"], ["s"], name="join"),
        helper.make_node("SequenceConstruct", ["s", "a"], ["q"], name="list"),
    ]
    sequence = helper.make_tensor_sequence_value_info("q", TensorProto.STRING, None)
    model = model_of(
        nodes,
        [value("a", TensorProto.STRING, (1,))],
        [value("s", TensorProto.STRING, (1,)), sequence],
    )
    data = write_npz(tmp_path / "a.npz", a=np.array(["né"]))
    path = save(model, tmp_path)
    outputs = assay("run", path, "--inputs", data, "--json").document["outputs"]
    assert outputs["s"]["values"] == ["néné"]
    assert [element["values"] for element in outputs["q"]["elements"]] == [["néné"], ["né"]]
    assert "'néné'" in assay("run", path, "--inputs", data).out


# validate, inspect, convert


def test_validate_says_what_is_undecided(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    model = model_of(
        [node],
        [value("x", shape=("n",))],
        [value("y", shape=None)],
        [constant("w", [1, 2], np.float32)],
    )
    path = save(model, tmp_path)
    document = assay("validate", path, "--json").document
    assert document["valid"]
    assert document["findings"] == []
    assert [open_["layer"] for open_ in document["undecided"]] == ["add"]
    assert set(document["undecided"][0]) == {"layer", "rule", "needs"}
    assert "valid" in assay("validate", path).out


def test_validate_finding_has_every_field(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Softmax", ["x"], ["y"], name="softmax", axis=3)
    path = save(model_of([node], [value("x")], [value("y")]), tmp_path)
    done = assay("validate", path, "--json")
    assert done.code == 1
    finding = done.document["findings"][0]
    assert list(finding) == [
        "layer",
        "class",
        "kind",
        "rule",
        "expected",
        "found",
        "badness",
        "message",
    ]
    text = assay("validate", path)
    assert text.code == 1
    assert "softmax (Softmax)" in text.out
    assert "Softmax.axis-range" in text.out


def test_a_baseline_hides_known_findings(assay: Assay, tmp_path: Path) -> None:
    bad = helper.make_node("Softmax", ["x"], ["y"], name="softmax", axis=3)
    path = save(model_of([bad], [value("x")], [value("y")]), tmp_path)
    baseline = tmp_path / "known.json"
    baseline.write_text(assay("validate", path, "--json").out)
    assert assay("validate", path, "--baseline", baseline).code == 0
    worse = [bad, helper.make_node("Softmax", ["x"], ["z"], name="other", axis=4)]
    path = save(model_of(worse, [value("x")], [value("y"), value("z")]), tmp_path)
    done = assay("validate", path, "--baseline", baseline, "--json")
    assert done.code == 1
    assert [finding["layer"] for finding in done.document["findings"]] == ["other"]
    assert done.document["known"] == 1
    check_error(assay("validate", path, "--baseline", tmp_path / "none.json"), "none.json")
    check_error(assay("validate", path, "--baseline", path), path.name)


def test_fail_on_warning(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Mystery", ["x"], ["y"], name="mystery")
    path = save(model_of([node], [value("x")], [value("y")]), tmp_path)
    assert assay("validate", path).code == 0
    assert assay("validate", path, "--fail-on", "warning").code == 1


def test_inspect_tells_what_is_in_a_model(assay: Assay, tmp_path: Path) -> None:
    function = helper.make_function(
        "own",
        "Twice",
        ["a"],
        ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 21)],
    )
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["a"]),
        helper.make_node("Twice", ["a"], ["b"], domain="own"),
        helper.make_node("Mystery", ["b"], ["y"], domain="own"),
    ]
    model = model_of(
        nodes,
        [value("x", shape=("n", 2))],
        [value("y", shape=None)],
        [constant("w", [1, 2], np.float32)],
        functions=[function],
        domains=["own"],
    )
    helper.set_model_props(model, {"who": "a test"})
    path = save(model, tmp_path)
    document = assay("inspect", path, "--json").document
    assert document["opsets"] == {"ai.onnx": 21, "own": 1}
    assert document["inputs"] == [{"name": "x", "type": "f32[n,2]", "shape": ["n", 2]}]
    assert document["parameters"] == {"count": 2, "bytes": 8, "tensors": 1}
    known = {entry["name"]: entry["known"] for entry in document["operators"]}
    assert known == {"Mul": "yes", "Add": "yes", "Twice": "function", "Mystery": "no"}
    assert document["metadata"] == {"who": "a test"}
    text = assay("inspect", path).out
    assert "not in the catalogue" in text
    assert "f32[n,2]" in text


def test_convert_writes_a_model_that_the_checker_accepts(assay: Assay, tmp_path: Path) -> None:
    path = log_model(tmp_path)
    copy = tmp_path / "copy.onnx"
    done = assay("convert", path, "--output", copy, "--json")
    assert done.code == 0
    onnx.checker.check_model(str(copy), full_check=True)
    assert onnx.load(copy).graph == onnx.load(path).graph
    assert done.document["bytes"] == copy.stat().st_size


# ops, completion


def test_ops_prints_one_operator(assay: Assay) -> None:
    (operator,) = assay("ops", "AveragePool", "--json").document["operators"]
    assert operator["versions"] == [1, 7, 10, 11, 19, 22]
    assert {"value", "bounded", "interval", "shape", "roles"} <= set(operator["readings"])
    text = assay("ops", "AveragePool").out
    assert "kernel_shape" in text
    assert "required" in text


def test_ops_markdown_covers_the_catalogue(assay: Assay) -> None:
    page = assay("ops", "--markdown", cwd=ROOT).out
    for operator in assay("ops", "--json").document["operators"]:
        name = (
            f"{operator['domain']}.{operator['name']}" if operator["domain"] else operator["name"]
        )
        assert f"\n### {name}\n" in page
    assert "`AveragePool.positive`" in page


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_parse(assay: Assay, shell: str, tmp_path: Path) -> None:
    script = assay("completion", shell).out
    for word in (*COMMANDS, "memory-limit", "markdown"):
        assert word in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "script"
    file.write_text(script)
    assert subprocess.run([shell, "-n", str(file)], check=False).returncode == 0


def test_bash_completes_commands_and_options(assay: Assay, tmp_path: Path) -> None:
    file = tmp_path / "script"
    file.write_text(assay("completion", "bash").out)

    def complete(*words: str) -> set[str]:
        listed = " ".join(f"'{word}'" for word in words)
        command = (
            f"source {file}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; "
            '_assay; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    assert complete("assay", "va") == {"validate"}
    assert complete("assay", "run", "--hid") == {"--hidden"}
    assert complete("assay", "ops", "--mark") == {"--markdown"}


# Settings, colour


def test_settings_are_defaults_of_options(assay: Assay, tmp_path: Path) -> None:
    path = log_model(tmp_path)
    settings = tmp_path / "assay.toml"
    settings.write_text("seed = 5\n\n[run]\nrandom = true\n")
    done = assay("run", path, "--json", cwd=tmp_path)
    assert done.code == 0, done
    assert (
        done.out.split('"outputs"')[1]
        == assay("run", path, "--random", "--seed", 5, "--json").out.split('"outputs"')[1]
    )
    assert assay("validate", path, cwd=tmp_path).code == 0
    other = assay("run", path, "--seed", 6, "--json", cwd=tmp_path).out
    assert other.split('"outputs"')[1] != done.out.split('"outputs"')[1]
    settings.write_text("no-such-setting = 1\n")
    check_error(assay("run", path, "--random", cwd=tmp_path), "assay.toml", "no-such-setting")


def test_colour_only_on_a_terminal(assay: Assay, tmp_path: Path) -> None:
    path = log_model(tmp_path)
    assert "\x1b" not in assay("validate", path).out

    def on_terminal(environment: dict[str, str]) -> str:
        ours, theirs = pty.openpty()
        subprocess.run(
            [str(ASSAY), "validate", str(path)], stdout=theirs, env=environment, check=False
        )
        os.close(theirs)
        text = os.read(ours, 10_000).decode()
        os.close(ours)
        return text

    environment = {key: text for key, text in os.environ.items() if key != "NO_COLOR"}
    assert "\x1b[" in on_terminal(environment)
    assert "\x1b[" not in on_terminal({**environment, "NO_COLOR": "1"})


def test_conformance_says_the_same_by_any_number_of_threads(assay: Assay) -> None:
    def verdicts(*words: str) -> list[tuple[str, str, str]]:
        row = assay("conformance", ROOT / "tests/cases", *words, "--json").document["backends"][0]
        return [(one["id"], one["status"], one["detail"]) for one in row["cases"]]

    alone = verdicts("--jobs", "1")
    assert len(alone) > 1000
    assert verdicts("--jobs", "4", "--threads", "4") == alone
    assert verdicts("--threads", "1") == alone
