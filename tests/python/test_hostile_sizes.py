"""Models that ask for absurd amounts of memory or time get a one-line answer instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

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
    constant,
    model_of,
    save,
    value,
)
from onnx import TensorProto, helper


def sized(op: str, shape: Sequence[int]) -> onnx.ModelProto:
    """Build a model whose output is as large as constants say."""
    inputs = {
        "ConstantOfShape": ["s"],
        "Expand": ["x", "s"],
        "Tile": ["x", "s"],
        "Reshape": ["x", "s"],
    }[op]
    node = helper.make_node(op, inputs, ["y"], name="big")
    given = [value("x", shape=(1,) * len(shape))] if "x" in inputs else []
    return model_of([node], given, [value("y", shape=None)], [constant("s", list(shape))])


OVERFLOWING = {
    "ConstantOfShape": sized("ConstantOfShape", [1 << 40, 1 << 40]),
    "Expand": sized("Expand", [1 << 40, 1 << 40]),
    "Tile": sized("Tile", [1 << 40, 1 << 40]),
    "negative": sized("ConstantOfShape", [-5]),
    "negative repeats": sized("Tile", [-1]),
}


@pytest.mark.parametrize("name", sorted(OVERFLOWING))
def test_overflowing_shapes(assay: Assay, tmp_path: Path, name: str) -> None:
    path = save(OVERFLOWING[name], tmp_path)
    found = assay("validate", path, "--json")
    assert found.code == 1, found
    assert found.document["findings"][0]["layer"] == "big"
    check_error(assay("run", path, "--random"), path.name, "big")


def pad_model(amount: int) -> onnx.ModelProto:
    node = helper.make_node("Pad", ["x", "p"], ["y"], name="big")
    return model_of(
        [node],
        [value("x", shape=(1, 1))],
        [value("y", shape=None)],
        [constant("p", [0, 0, amount, amount])],
    )


def range_model(limit: int) -> onnx.ModelProto:
    node = helper.make_node("Range", ["a", "b", "c"], ["y"], name="big")
    starts = [constant("a", 0), constant("b", limit), constant("c", 1)]
    return model_of([node], [], [value("y", INT64, None)], starts)


def resize_model(size: int) -> onnx.ModelProto:
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], name="big")
    return model_of(
        [node],
        [value("x", shape=(1, 1, 2, 2))],
        [value("y", shape=None)],
        [constant("s", [1, 1, size, size])],
    )


def one_hot_model(depth: int) -> onnx.ModelProto:
    node = helper.make_node("OneHot", ["i", "d", "v"], ["y"], name="big")
    return model_of(
        [node],
        [value("i", INT64, (4,))],
        [value("y", INT64, None)],
        [constant("d", depth), constant("v", [0, 1])],
    )


def eye_model(side: int) -> onnx.ModelProto:
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["z"], name="zeros"),
        helper.make_node("EyeLike", ["z"], ["y"], name="big"),
    ]
    return model_of(nodes, [], [value("y", shape=None)], [constant("s", [side, side])])


def doubling_model(times: int) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], name=f"cat{i}", axis=0)
        for i in range(times)
    ]
    return model_of(nodes, [value("v0", shape=("n",))], [value(f"v{times}", shape=None)])


def outer_model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["a"], name="line"),
        helper.make_node("Transpose", ["a"], ["b"], name="turn"),
        helper.make_node("Add", ["a", "b"], ["y"], name="big"),
    ]
    return model_of(nodes, [], [value("y", shape=None)], [constant("s", [1, 3_000_000])])


def sequence_model(count: int) -> onnx.ModelProto:
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["a"], name="zeros"),
        helper.make_node("SplitToSequence", ["a"], ["q"], name="pieces", keepdims=1),
        helper.make_node("SequenceLength", ["q"], ["y"], name="count"),
    ]
    return model_of(nodes, [], [value("y", INT64, ())], [constant("s", [count])])


ABSURD: dict[str, tuple[Callable[[], onnx.ModelProto], str]] = {
    "constant-of-shape": (lambda: sized("ConstantOfShape", [1 << 34]), "big"),
    "expand": (lambda: sized("Expand", [1 << 34]), "big"),
    "tile": (lambda: sized("Tile", [1 << 34]), "big"),
    "pad": (lambda: pad_model(1 << 20), "big"),
    "pad-far": (lambda: pad_model(1 << 62), "big"),
    "range": (lambda: range_model(1 << 40), "big"),
    "resize": (lambda: resize_model(1 << 20), "big"),
    "one-hot": (lambda: one_hot_model(1 << 36), "big"),
    "eye": (lambda: eye_model(1 << 17), "zeros"),
    "doubling": (lambda: doubling_model(40), "cat"),
    "broadcast": (outer_model, "big"),
    "sequence": (lambda: sequence_model(1 << 34), "zeros"),
}


@pytest.mark.parametrize("name", sorted(ABSURD))
def test_absurd_sizes_breach_the_limit(assay: Assay, tmp_path: Path, name: str) -> None:
    build, node = ABSURD[name]
    path = save(build(), tmp_path)
    limit = ("--memory-limit", 200_000_000)
    done = assay("run", path, "--random", *limit)
    check_error(done, path.name, node)
    error = assay("run", path, "--random", *limit, "--json").document["error"]
    assert error["kind"] in ("limit", "invalid"), error
    assert node in error["where"], error
    checked = assay("validate", path, *limit)
    assert checked.code in (0, 1), checked
    assert checked.seconds < MOST_SECONDS


def test_input_larger_than_the_limit(assay: Assay, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    path = save(
        model_of([node], [value("x", shape=(1 << 20, 1 << 20))], [value("y", shape=None)]), tmp_path
    )
    check_error(assay("run", path, "--random", "--memory-limit", 10_000_000), path.name, "'x'")


def test_initializer_that_claims_to_be_huge(assay: Assay, tmp_path: Path) -> None:
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[1 << 40, 1 << 40], raw_data=b"1234")
    node = helper.make_node("Relu", ["w"], ["y"], name="relu")
    path = save(model_of([node], [], [value("y", shape=None)], [tensor]), tmp_path)
    done = assay("validate", path)
    assert done.code in (1, 2), done
    assert done.seconds < MOST_SECONDS
    check_error(assay("run", path), path.name, "'w'")


def test_negative_dimensions_of_an_initializer(assay: Assay, tmp_path: Path) -> None:
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[-1], raw_data=b"1234")
    node = helper.make_node("Relu", ["w"], ["y"], name="relu")
    path = save(model_of([node], [], [value("y", shape=None)], [tensor]), tmp_path)
    check_error(assay("run", path), path.name, "'w'")


# Time


def loop_model(trips: int) -> onnx.ModelProto:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Abs", ["a"], ["b"], name="step"),
        ],
        "body",
        [value("i", INT64, ()), value("go", BOOL, ()), value("a")],
        [value("go_on", BOOL, ()), value("b")],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    return model_of([node], [value("x")], [value("y")], [constant("n", trips)])


def test_endless_loop_meets_the_timeout(assay: Assay, tmp_path: Path) -> None:
    path = save(loop_model((1 << 63) - 1), tmp_path)
    assert assay("validate", path).code == 0
    done = assay("run", path, "--random", "--timeout", 1)
    check_error(done, path.name, "1 s")
    assert done.seconds < 5
    check_json_error(assay("run", path, "--random", "--timeout", 1, "--json"), "timeout")


def test_loop_that_collects_without_end_breaches_the_limit(assay: Assay, tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Abs", ["x"], ["scan"])],
        "body",
        [value("i", INT64, ()), value("go", BOOL, ())],
        [value("go_on", BOOL, ()), value("scan", shape=(100_000,))],
    )
    node = helper.make_node("Loop", ["n", ""], ["y"], name="loop", body=body)
    model = model_of(
        [node], [value("x", shape=(100_000,))], [value("y", shape=None)], [constant("n", 1 << 40)]
    )
    done = assay(
        "run", save(model, tmp_path), "--random", "--memory-limit", 100_000_000, "--timeout", 8
    )
    check_error(done, "model.onnx", "loop")
