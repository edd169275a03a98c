"""Write the small models of the tutorial: examples/make.py FOLDER."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def model(
    name: str, nodes: list[onnx.NodeProto], shape: list[int], out: list[int], opset: int = 22
) -> onnx.ModelProto:
    """Build a model with one input x and one output y."""
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", FLOAT, shape)],
        [helper.make_tensor_value_info("y", FLOAT, out)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def cross_entropy() -> onnx.ModelProto:
    """Write a classifier's loss out by hand: exp, sum, quotient, logarithm."""
    weights = np.random.default_rng(7).normal(size=(8, 4)).astype(np.float32)
    node = helper.make_node
    nodes = [
        node("MatMul", ["image", "weights"], ["z"], name="logits"),
        node("Exp", ["z"], ["e"], name="exp"),
        node("ReduceSum", ["e", "classes"], ["s"], name="sum"),
        node("Div", ["e", "s"], ["p"], name="probabilities"),
        node("Log", ["p"], ["l"], name="log"),
        node("Mul", ["label", "l"], ["terms"], name="terms"),
        node("ReduceSum", ["terms", "classes"], ["sums"], name="sums", keepdims=0),
        node("Neg", ["sums"], ["loss"], name="loss"),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "cross_entropy",
        [info("image", FLOAT, ["batch", 8]), info("label", FLOAT, ["batch", 4])],
        [info("loss", FLOAT, ["batch"])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.array([1], np.int64), "classes"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def main() -> int:
    """Write all of them."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "models")
    folder.mkdir(parents=True, exist_ok=True)
    hidden_nan = [
        helper.make_node("Sub", ["x", "x"], ["zero"], name="difference"),
        helper.make_node("Log", ["zero"], ["log"], name="logarithm"),
        helper.make_node("Softmax", ["log"], ["y"], name="probabilities"),
    ]
    too_large = [
        helper.make_node("Relu", ["x"], ["r"], name="activation"),
        helper.make_node("AveragePool", ["r"], ["y"], name="pool", kernel_shape=[5, 5]),
    ]
    pool = [
        helper.make_node(
            "AveragePool", ["x"], ["y"], name="pool", kernel_shape=[2, 2], pads=[1, 1, 0, 0]
        )
    ]
    padded_pool = [
        helper.make_node("Relu", ["x"], ["r"], name="activation"),
        helper.make_node("Constant", [], ["pads"], value_ints=[0, 0, 1, 1, 0, 0, 1, 1]),
        helper.make_node("Pad", ["r", "pads"], ["padded"], name="pad"),
        helper.make_node(
            "AveragePool", ["padded"], ["y"], name="pool", kernel_shape=[3, 3], strides=[2, 2]
        ),
    ]
    onnx.save(
        model("padded_pool", padded_pool, [1, 2, 8, 8], [1, 2, 4, 4], 17),
        folder / "padded_pool.onnx",
    )
    onnx.save(cross_entropy(), folder / "cross_entropy.onnx")
    (folder / "cross_entropy.json").write_text(
        json.dumps({"inputs": {"image": [0, 255], "label": [0, 1]}}) + "\n"
    )
    onnx.save(model("hidden_nan", hidden_nan, [1, 4], [1, 4]), folder / "hidden_nan.onnx")
    onnx.save(model("too_large", too_large, [1, 1, 4, 4], [1, 1, 1, 1]), folder / "too_large.onnx")
    onnx.save(model("pool", pool, [1, 1, 2, 2], [1, 1, 2, 2]), folder / "pool.onnx")
    return 0


if __name__ == "__main__":
    sys.exit(main())
