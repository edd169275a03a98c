"""Models that are broken get a one-line answer that names the file and the node."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import Assay
from models import (
    BOOL,
    FLOAT,
    INT64,
    MOST_SECONDS,
    check_error,
    check_json_error,
    check_wrong,
    constant,
    model_of,
    save,
    value,
)
from onnx import TensorProto, helper

# Bytes


GARBAGE: dict[str, bytes] = {
    "empty": b"",
    "noise": bytes(range(256)) * 4,
    "zeros": b"\0" * 1000,
    "text": b"this is no model\n" * 100,
    "zip": b"PK\x03\x04" + b"\0" * 100,
    "hdf5": b"\x89HDF\r\n\x1a\n" + b"\0" * 100,
    "ff": b"\xff" * 64,
}


@pytest.mark.parametrize("name", sorted(GARBAGE))
@pytest.mark.parametrize("command", ["validate", "run", "inspect"])
def test_garbage_is_unreadable(assay: Assay, tmp_path: Path, name: str, command: str) -> None:
    path = tmp_path / f"{name}.onnx"
    path.write_bytes(GARBAGE[name])
    check_error(assay(command, path), path.name)
    check_json_error(assay(command, path, "--json"), "unreadable", path.name)


def test_every_truncation_is_refused(assay: Assay, tmp_path: Path) -> None:
    model = model_of(
        [helper.make_node("Add", ["x", "w"], ["y"], name="add")],
        [value("x")],
        [value("y")],
        [constant("w", [1, 2], np.float32)],
    )
    data = model.SerializeToString()
    path = tmp_path / "cut.onnx"
    for length in range(0, len(data) - 1, 3):
        path.write_bytes(data[:length])
        done = assay("validate", path)
        assert done.code in (1, 2), (length, done)
        assert len(done.err.splitlines()) == (1 if done.code == 2 else 0), (length, done)


def test_missing_file_and_folder(assay: Assay, tmp_path: Path) -> None:
    check_error(assay("validate", tmp_path / "none.onnx"), "none.onnx")
    check_error(assay("validate", tmp_path), tmp_path.name)


# Names


def test_cycle(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
    ]
    path = save(model_of(nodes, [value("x")], [value("b")]), tmp_path)
    check_wrong(assay, path, "Graph.cycle", "first", "needs its own result")


def test_undefined_name(assay: Assay, tmp_path: Path) -> None:
    path = save(
        model_of(
            [helper.make_node("Add", ["x", "w"], ["y"], name="add")], [value("x")], [value("y")]
        ),
        tmp_path,
    )
    check_wrong(assay, path, "Graph.undefined", "add", "'w'")


def test_missing_initializer_of_a_convolution(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Conv", ["x", "weight"], ["y"], name="conv")
    path = save(
        model_of([node], [value("x", shape=(1, 1, 4, 4))], [value("y", shape=None)]), tmp_path
    )
    check_wrong(assay, path, "Graph.undefined", "conv", "'weight'")


def test_out_of_order(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["a"], ["y"], name="late"),
        helper.make_node("Abs", ["x"], ["a"], name="early"),
    ]
    path = save(model_of(nodes, [value("x")], [value("y")]), tmp_path)
    check_wrong(assay, path, "Graph.order", "late", "'early'")


def test_duplicated_name(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], name="one"),
        helper.make_node("Abs", ["x"], ["y"], name="two"),
    ]
    path = save(model_of(nodes, [value("x")], [value("y")]), tmp_path)
    check_wrong(assay, path, "Graph.duplicate", "two", "'y'")


def test_output_that_nothing_makes(assay: Assay, tmp_path: Path) -> None:
    path = save(
        model_of([helper.make_node("Relu", ["x"], ["y"], name="relu")], [value("x")], [value("z")]),
        tmp_path,
    )
    check_wrong(assay, path, "Graph.output", "", "'z'")


def test_missing_opset_import(assay: Assay, tmp_path: Path) -> None:
    model = model_of(
        [helper.make_node("Foo", ["x"], ["y"], name="foo", domain="other")],
        [value("x")],
        [value("y")],
    )
    check_wrong(assay, save(model, tmp_path), "Graph.opset", "foo", "'other'")


def test_opset_of_the_future(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    path = save(model_of([node], [value("x")], [value("y")], opset=999), tmp_path)
    check_wrong(assay, path, "Graph.opset-version", "", "999")


def test_operator_of_a_later_opset(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Gelu", ["x"], ["y"], name="gelu")
    path = save(model_of([node], [value("x")], [value("y")], opset=13), tmp_path)
    check_wrong(assay, path, "Graph.operator-version", "gelu", "20")


def test_operator_that_has_ended(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Upsample", ["x", "s"], ["y"], name="up")
    model = model_of(
        [node],
        [value("x", shape=(1, 1, 2, 2)), value("s", shape=(4,))],
        [value("y", shape=None)],
        opset=13,
    )
    check_wrong(assay, save(model, tmp_path), "Graph.operator-version", "up", "no longer")


def test_unknown_operator_is_no_finding(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["a"], name="mystery", domain="other"),
        helper.make_node("Relu", ["a"], ["y"], name="relu"),
        helper.make_node("Abs", ["x"], ["z"], name="abs"),
    ]
    model = model_of(nodes, [value("x")], [value("y"), value("z")], domains=["other"])
    path = save(model, tmp_path)
    done = assay("validate", path, "--json")
    assert done.code == 0, done
    assert done.document["unknown"] == [{"layer": "mystery", "class": "Mystery", "domain": "other"}]
    run = assay("run", path, "--random", "--json")
    assert run.code == 0, run
    assert run.document["outputs"]["y"] == {"unknown": True}
    assert len(run.document["outputs"]["z"]["values"]) == 2
    np.savez(tmp_path / "values.npz", a=np.array([-1.0, 3.0], dtype=np.float32))
    run = assay("run", path, "--random", "--values", tmp_path / "values.npz", "--json")
    assert run.document["outputs"]["y"]["values"] == [0.0, 3.0]


def test_names_with_control_characters_stay_on_one_line(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "no\nwhere\t"], ["y"], name="bad\nname\x1b[31m")
    path = save(model_of([node], [value("x")], [value("y")]), tmp_path)
    done = assay("run", path, "--random")
    check_error(done, path.name)
    assert "\x1b" not in done.err


# Types and shapes


def test_wrong_type(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "i"], ["y"], name="add")
    path = save(model_of([node], [value("x"), value("i", INT64)], [value("y")]), tmp_path)
    check_wrong(assay, path, "Add.same-type", "add")


def test_wrong_type_of_attribute(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Softmax", ["x"], ["y"], name="softmax", axis="last")
    path = save(model_of([node], [value("x")], [value("y")]), tmp_path)
    check_wrong(assay, path, "Softmax.attribute-kind", "softmax")


def test_shapes_that_do_not_broadcast(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    model = model_of(
        [node],
        [value("x", shape=(2, 3))],
        [value("y", shape=None)],
        [constant("w", [1, 2], np.float32)],
    )
    path = save(model, tmp_path)
    found = assay("validate", path, "--json").document["findings"]
    assert [(f["layer"], f["class"], f["kind"]) for f in found] == [
        ("add", "Add", "Inconsistent Input Shapes")
    ]
    assert found[0]["badness"] > 0


def test_declared_output_shape_is_contradicted(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    path = save(model_of([node], [value("x", shape=(2,))], [value("y", shape=(3,))]), tmp_path)
    check_wrong(assay, path, "Graph.declared-shape", "relu", "f32[3]")


def test_declared_type_of_an_initializer_is_contradicted(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["w"], ["y"], name="relu")
    model = model_of(
        [node], [value("w", FLOAT, (3,))], [value("y")], [constant("w", [1, 2], np.float32)]
    )
    check_wrong(assay, save(model, tmp_path), "Graph.declared-shape", "w", "f32[2]")


def test_first_finding_is_the_first_in_order_of_execution(assay: Assay, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="fine"),
        helper.make_node("Softmax", ["a"], ["b"], name="shape", axis=7),
        helper.make_node("Add", ["b", "nowhere"], ["c"], name="name"),
        helper.make_node("Transpose", ["a"], ["d"], name="axes", perm=[0, 0]),
    ]
    path = save(model_of(nodes, [value("x")], [value("c"), value("d")]), tmp_path)
    findings = assay("validate", path, "--json").document["findings"]
    assert [f["layer"] for f in findings] == ["shape", "name", "axes"]


def test_finding_inside_a_subgraph(assay: Assay, tmp_path: Path) -> None:
    inner = helper.make_graph(
        [helper.make_node("Softmax", ["x"], ["t"], name="deep", axis=5)], "then", [], [value("t")]
    )
    other = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["e"], name="relu")], "else", [], [value("e")]
    )
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=inner, else_branch=other)
    path = save(model_of([node], [value("c", BOOL, ()), value("x")], [value("y")]), tmp_path)
    check_wrong(assay, path, "Softmax.axis-range", "choice/then_branch/deep")


# Functions and nesting


def function(name: str, calls: Sequence[str]) -> onnx.FunctionProto:
    nodes = [
        helper.make_node(
            callee,
            ["a" if i == 0 else f"t{i}"],
            [f"t{i + 1}" if i + 1 < len(calls) else "b"],
            domain="f",
        )
        for i, callee in enumerate(calls)
    ] or [helper.make_node("Relu", ["a"], ["b"])]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    return helper.make_function("f", name, ["a"], ["b"], nodes, imports)


def call_model(callee: str, functions: Sequence[onnx.FunctionProto]) -> onnx.ModelProto:
    node = helper.make_node(callee, ["x"], ["y"], name="call", domain="f")
    return model_of([node], [value("x")], [value("y")], functions=functions, domains=["f"])


def test_recursion_of_functions(assay: Assay, tmp_path: Path) -> None:
    path = save(call_model("A", [function("A", ["B"]), function("B", ["A"])]), tmp_path)
    check_wrong(assay, path, "Graph.recursion", "f.A", "calls itself")


def test_functions_that_unfold_without_end(assay: Assay, tmp_path: Path) -> None:
    functions = [function("F0", [])]
    functions += [function(f"F{i}", [f"F{i - 1}"] * 10) for i in range(1, 30)]
    path = save(call_model("F29", functions), tmp_path)
    done = assay("validate", path, "--timeout", 30)
    assert done.code in (0, 1), done
    assert done.seconds < MOST_SECONDS
    done = assay("run", path, "--random", "--timeout", 2)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert done.seconds < MOST_SECONDS


def test_long_chain_of_functions(assay: Assay, tmp_path: Path) -> None:
    functions = [function("F0", [])] + [function(f"F{i}", [f"F{i - 1}"]) for i in range(1, 5000)]
    path = save(call_model("F4999", functions), tmp_path)
    done = assay("validate", path, "--json")
    assert done.code == 1, done
    assert done.document["findings"][0]["rule"] == "Graph.nesting"


def varint(number: int) -> bytes:
    digits = bytearray()
    while number >= 128:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def field(number: int, data: bytes) -> bytes:
    """Write a field of the wire format that has a length."""
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def model_bytes(graph: bytes) -> bytes:
    return b"\x08\x0a" + field(7, graph) + field(8, field(1, b"") + b"\x10\x15")


def nested_ifs(depth: int) -> bytes:
    """Nest Ifs inside Ifs, written by hand: the library itself refuses to write deep ones."""
    output = field(2, b"g") + field(12, field(1, b"y"))
    leaf = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Relu")) + output
    graph = leaf
    for _ in range(depth):
        attributes = b"".join(
            field(5, field(1, name) + field(6, body) + b"\xa0\x01\x05")
            for name, body in ((b"then_branch", graph), (b"else_branch", leaf))
        )
        node = field(1, b"c") + field(2, b"y") + field(4, b"If") + attributes
        graph = field(1, node) + output
    inputs = [value("c", BOOL, ()), value("x")]
    return model_bytes(graph + b"".join(field(11, v.SerializeToString()) for v in inputs))


def nested_attributes(depth: int) -> bytes:
    """Nest node, attribute, graph, node, … from the outside in, so that it stays linear."""
    lengths, length = [], 0
    for _ in range(3 * depth):
        lengths.append(length)
        length += 1 + len(varint(length))
    tags = [1 << 3 | 2, 5 << 3 | 2, 6 << 3 | 2]
    heads = (bytes([tags[i % 3]]) + varint(n) for i, n in enumerate(reversed(lengths)))
    return model_bytes(b"".join(heads))


@pytest.mark.parametrize("depth", [300, 2_000, 100_000])
def test_nested_subgraphs(assay: Assay, tmp_path: Path, depth: int) -> None:
    path = tmp_path / "deep.onnx"
    path.write_bytes(nested_ifs(depth) if depth < 100_000 else nested_attributes(depth))
    for command in (("validate", path), ("run", path, "--random"), ("inspect", path)):
        done = assay(*command)
        if depth > 500:
            check_error(done, path.name)
        assert done.code == (0 if depth < 500 else 2), done
        assert done.seconds < MOST_SECONDS


# External data


def external_model(location: str, folder: Path) -> Path:
    tensor = constant("w", [1, 2], np.float32)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("length", "8")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    node = helper.make_node("Relu", ["w"], ["y"], name="relu")
    return save(model_of([node], [], [value("y")], [tensor]), folder)


@pytest.mark.parametrize(
    "location",
    ["../secret.bin", "/etc/hostname", "a/../../secret.bin", "", "missing.bin", "link.bin", "fifo"],
)
def test_external_data_outside_the_folder(assay: Assay, tmp_path: Path, location: str) -> None:
    (tmp_path / "secret.bin").write_bytes(b"12345678")
    folder = tmp_path / "model"
    (folder / "a").mkdir(parents=True)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    os.mkfifo(folder / "fifo")
    path = external_model(location, folder)
    for command in ("validate", "run", "inspect"):
        check_error(assay(command, path), path.name)
    assert "error" in assay("run", path, "--json").document


def test_external_data_inside_the_folder(assay: Assay, tmp_path: Path) -> None:
    path = external_model("weights.bin", tmp_path)
    (tmp_path / "weights.bin").write_bytes(np.array([-1, 2], dtype=np.float32).tobytes())
    done = assay("run", path, "--json")
    assert done.code == 0, done
    assert done.document["outputs"]["y"]["values"] == [0.0, 2.0]


# Data files


def test_bad_data_files(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    path = save(model_of([node], [value("x")], [value("y")]), tmp_path)
    (tmp_path / "noise.npz").write_bytes(b"noise" * 20)
    np.savez(tmp_path / "other.npz", z=np.zeros(2, dtype=np.float32))
    np.savez(tmp_path / "double.npz", x=np.zeros(2))
    np.savez(tmp_path / "long.npz", x=np.zeros(3, dtype=np.float32))
    for name in ("noise.npz", "other.npz", "double.npz", "long.npz", "missing.npz"):
        check_error(assay("run", path, "--inputs", tmp_path / name), name)
    check_error(assay("run", path), path.name, "x f32[2]")
    check_error(assay("run", path, "--random", "--outputs", tmp_path / "no" / "out.npz"), "out.npz")
