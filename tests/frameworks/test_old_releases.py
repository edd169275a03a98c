"""Defects that are known to live in old releases: each is met, named, and outlived."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from frameworks import assay, installed
from onnx import TensorProto, helper

pytestmark = pytest.mark.old


@pytest.fixture(scope="module")
def torch14() -> str:
    """Return the name of an old PyTorch, installed."""
    return installed("torch-1.4")


@pytest.fixture(scope="module")
def mxnet16() -> str:
    """Return the name of an old MXNet, installed."""
    return installed("mxnet-1.6")


class Case:
    """A model of one node, with its data."""

    def __init__(self, op: str, arrays: dict[str, np.ndarray[Any, Any]], **attributes: Any) -> None:
        """Take the inputs by name, in order."""
        self.op, self.arrays, self.attributes = op, arrays, attributes

    def run(self, folder: Path, backend: str) -> tuple[int, dict[str, Any]]:
        """Write it, and run it whether it is valid or not."""
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in self.arrays.items()
        ]
        node = helper.make_node(self.op, list(self.arrays), ["Y"], name="the_node")
        node.attribute.extend(helper.make_attribute(k, v) for k, v in self.attributes.items())
        outputs = [helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)]
        graph = helper.make_graph([node], "g", inputs, outputs)
        opsets = [helper.make_opsetid("", 21)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "m.onnx")
        data: dict[str, Any] = dict(self.arrays)
        np.savez(folder / "in.npz", **data)
        more = ("--backend", backend, "--unchecked")
        return assay("run", folder / "m.onnx", "--inputs", folder / "in.npz", *more)


def image(*shape: int) -> np.ndarray[Any, Any]:
    """Return 0, 1, 2, … in a shape."""
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


CRASHES = {
    "torch-1.4 divides by a stride of zero": (
        "torch-1.4",
        Case("AveragePool", {"X": image(1, 1, 5, 5)}, kernel_shape=[2, 2], strides=[0, 0]),
    ),
    "torch-1.4 divides by no groups": (
        "torch-1.4",
        Case("Conv", {"X": image(1, 1, 5, 5), "W": image(1, 1, 3, 3)}, group=0),
    ),
    "mxnet-1.6 divides by no groups": (
        "mxnet-1.6",
        Case(
            "GroupNormalization",
            {"X": image(1, 4, 2, 2), "scale": image(4), "bias": image(4)},
            num_groups=0,
        ),
    ),
}


@pytest.mark.parametrize("name", sorted(CRASHES))
def test_a_crash_is_named_with_its_signal(tmp_path: Path, name: str) -> None:
    backend, case = CRASHES[name]
    code, document = case.run(tmp_path, installed(backend))
    assert (code, document["outcome"]) == (1, "crashed")
    assert "SIGFPE" in document["message"]


def test_a_refusal_is_a_refusal(tmp_path: Path, torch14: str) -> None:
    case = Case("Conv", {"X": image(1, 1, 5, 5), "W": image(1, 1, 3, 3)}, strides=[0, 0])
    code, document = case.run(tmp_path, torch14)
    assert (code, document["outcome"]) == (1, "failed")
    assert "stride" in document["message"]


@pytest.mark.parametrize(("op", "filler"), [("AveragePool", "NaN"), ("MaxPool", "-Infinity")])
def test_windows_that_begin_outside(tmp_path: Path, torch14: str, op: str, filler: str) -> None:
    case = Case(op, {"X": image(1, 1, 4, 4)}, kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)
    code, document = case.run(tmp_path, torch14)
    assert code == 0
    assert document["outputs"]["Y"]["shape"] == [1, 1, 3, 3]  # the standard: 2 by 2
    assert document["outputs"]["Y"]["values"].count(filler) == 5
    assert document["nonfinite"][0]["count"] == 5


def test_indices_outside_are_accepted(tmp_path: Path, mxnet16: str) -> None:
    data = {"X": image(3, 2), "I": np.array([7, -9], np.int64)}
    code, document = Case("Gather", data, axis=0).run(tmp_path, mxnet16)
    assert (code, document["outcome"]) == (0, "ok")  # the standard: an error
    assert document["outputs"]["Y"]["shape"] == [2, 2]


def test_the_campaign_goes_on(tmp_path: Path, torch14: str) -> None:
    lines = []
    for i in range(6):
        stride = 0 if i % 2 else 1
        lines.append(
            f"case pool{i}\nopset 21\nnode AveragePool kernel_shape=[1,1] strides=[{stride},1]\n"
            "in X f32[1,1,1,2] = 1 2\nout Y f32[1,1,1,2] = 1 2\n"
        )
    (tmp_path / "pools.txt").write_text("".join(lines))
    _, document = assay("conformance", tmp_path / "pools.txt", "--backend", torch14)
    statuses = [case["status"] for case in document["backends"][0]["cases"]]
    assert statuses == ["passed", "crashed"] * 3
