"""Models that an optimiser of a release gets wrong, each with the pass that is to blame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
node = helper.make_node


@dataclass
class Network:
    """Nodes with the data they run on; what is not fed is part of the file."""

    nodes: Sequence[NodeProto]
    outputs: Sequence[tuple[str, int]]
    feed: dict[str, Array]
    held: dict[str, Array]
    opset: int = 17

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write model.onnx and data.npz."""
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in self.feed.items()
        ]
        outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in self.outputs]
        held = [numpy_helper.from_array(array, name) for name, array in self.held.items()]
        graph = helper.make_graph(list(self.nodes), "network", inputs, outputs, held)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8
        )
        onnx.save(model, folder / "model.onnx")
        np.savez(folder / "data.npz", allow_pickle=False, **self.feed)
        return folder / "model.onnx", folder / "data.npz"


@dataclass
class Case:
    """A network, where it goes wrong, and what cures it."""

    backend: str
    network: Callable[[], Network]
    passes: set[str]
    operators: str  # of the smallest segment
    kind: str = "optimiser"
    verdict: str = "optimiser"


def reals(*numbers: float) -> Array:
    """Return a vector of float32."""
    return np.array(numbers, np.float32)


def drawn(*shape: int, seed: int = 0) -> Array:
    """Return random float32 numbers in [0, 1)."""
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def requantised_weights() -> Network:
    """Return negative int8 weights without a zero point, dequantised and then reshaped."""
    held: dict[str, Array] = {
        "w": np.array([12, -45, 7, -3], np.int8),
        "scale": np.array(0.02, np.float32),
        "shape": np.array([2, 2], np.int64),
    }
    nodes = [
        node("DequantizeLinear", ["w", "scale"], ["f"], name="dequantize"),
        node("Reshape", ["f", "shape"], ["r"], name="reshape"),
        node("MatMul", ["x", "r"], ["y"], name="product"),
    ]
    return Network(nodes, [("y", TensorProto.FLOAT)], {"x": np.eye(2, dtype=np.float32)}, held, 13)


def idle_transpose(first: bool) -> Network:
    """Return a Transpose that moves nothing, before one of the factors of a Gemm."""
    factors = ["t", "w"] if first else ["x", "t"]
    nodes = [
        node("Transpose", ["x" if first else "w"], ["t"], perm=[0, 1], name="idle"),
        node("Gemm", [*factors, "b"], ["y"], name="gemm"),
    ]
    feed = {"x": drawn(3, 4), "w": drawn(4, 5, seed=1)}
    return Network(nodes, [("y", TensorProto.FLOAT)], feed, {"b": drawn(5, seed=2)}, 13)


def padded_pool(op: str, x: Array, around: Sequence[int], **attributes: Any) -> Network:
    """Return a Pad with zeros before a pool, in the middle of a network."""
    nodes = [
        node("Abs", ["x"], ["a"], name="before"),
        node("Neg", ["a"], ["n"], name="negate"),
        node("Pad", ["n", "pads"], ["p"], name="pad"),
        node(op, ["p"], ["q"], name="pool", **attributes),
        node("Relu", ["q"], ["r"], name="relu"),
        node("Sub", ["q", "r"], ["y"], name="after"),
    ]
    held = {"pads": np.array(around, np.int64)}
    return Network(nodes, [("y", TensorProto.FLOAT)], {"x": x}, held, 13)


def permuted_key() -> Network:
    """Return attention whose key is permuted by more than a transposition."""
    nodes = [
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 3, 1], name="permute"),
        node("MatMul", ["q", "kt"], ["s"], name="scores"),
        node("Div", ["s", "two"], ["d"], name="scale"),
        node("Softmax", ["d"], ["p"], axis=-1, name="softmax"),
        node("MatMul", ["p", "v"], ["y"], name="mix"),
    ]
    feed = {name: 4 * drawn(1, 4, 4, 8, seed=i) - 2 for i, name in enumerate("qkv")}
    return Network(nodes, [("y", TensorProto.FLOAT)], feed, {"two": np.array(2, np.float32)})


def inverse_pair(nodes: Sequence[NodeProto], x: Array) -> Network:
    """Return operators that undo each other over the real numbers, but not here."""
    return Network(nodes, [("y", TensorProto.FLOAT)], {"x": x}, {})


def log_of_exp() -> Network:
    """Return a pair of which the exponential overflows."""
    nodes = [node("Exp", ["x"], ["e"], name="exp"), node("Log", ["e"], ["y"], name="log")]
    return inverse_pair(nodes, reals(88, 89, 200))


def root_of_square() -> Network:
    """Return a pair of which the square overflows."""
    nodes = [
        node("Mul", ["x", "x"], ["s"], name="square"),
        node("Abs", ["s"], ["a"], name="abs"),
        node("Sqrt", ["a"], ["y"], name="root"),
    ]
    return inverse_pair(nodes, reals(1e19, 1e20, -3e38))


def log_of_power() -> Network:
    """Return a pair whose power is no number, of a negative one."""
    nodes = [node("Pow", ["x", "x"], ["p"], name="power"), node("Log", ["p"], ["y"], name="log")]
    return inverse_pair(nodes, reals(-1.5))


def overflowed_product() -> Network:
    """Return the absolute value of an int8 product that has overflowed."""
    nodes = [
        node("Mul", ["b", "b"], ["p"], name="product"),
        node("Less", ["p", "zero"], ["c"], name="negative"),
        node("Abs", ["p"], ["a"], name="abs"),
        node("Where", ["c", "a", "p"], ["y"], name="choose"),
    ]
    feed = {"b": np.array([12, 7, 20, 15, 11], np.int8)}
    return Network(nodes, [("y", TensorProto.INT8)], feed, {"zero": np.zeros((), np.int8)})


def variance_of_equals() -> Network:
    """Return the variance of large numbers that are all the same."""
    nodes = [
        node("ReduceMean", ["x"], ["m"], axes=[1], keepdims=1, name="mean"),
        node("Sub", ["x", "m"], ["d"], name="deviation"),
        node("Mul", ["d", "d"], ["s"], name="square"),
        node("ReduceMean", ["s"], ["y"], axes=[1], keepdims=0, name="variance"),
    ]
    return inverse_pair(nodes, np.full((1, 3), 7.5e10, np.float32))


def square_pool(op: str, size: int, pads: Sequence[int] = (), **attributes: Any) -> Network:
    """Return a padded square before a pool of 2 by 2."""
    more = {"pads": list(pads)} if pads else {}
    x = np.full((1, 1, size, size), 5, np.float32)
    return padded_pool(op, x, [0, 0, 1, 1, 0, 0, 1, 1], kernel_shape=[2, 2], **more, **attributes)


CASES = {
    "ort-dequantize-reshape-constant": Case(
        "onnxruntime-1.26.0", requantised_weights, {"QDQPropagationTransformer"},
        "DequantizeLinear+Reshape",
    ),
    "ort-gemmtranspose-identity-a": Case(
        "onnxruntime-1.29.0", lambda: idle_transpose(True), {"GemmTransposeFusion"},
        "Transpose+Gemm", "valid-refused",
    ),
    "ort-gemmtranspose-identity-b": Case(
        "onnxruntime-1.29.0", lambda: idle_transpose(False), {"GemmTransposeFusion"},
        "Transpose+Gemm", "valid-refused",
    ),
    "ort-padfusion-averagepool": Case(
        "onnxruntime-1.20.1", lambda: square_pool("AveragePool", 2), {"Pad_Fusion"},
        "Pad+AveragePool",
    ),
    "ort-padfusion-averagepool-refused": Case(
        "onnxruntime-1.20.1", lambda: square_pool("AveragePool", 3, [1, 1, 1, 1]), {"Pad_Fusion"},
        "Pad+AveragePool", "valid-refused",
    ),
    "ort-padfusion-maxpool-ceil-shape": Case(
        "onnxruntime",
        lambda: padded_pool(
            "MaxPool", reals(1, 2, 3, 4).reshape(1, 1, 4), [0, 0, 0, 0, 0, 1],
            kernel_shape=[2], strides=[2], ceil_mode=1,
        ),
        {"Pad_Fusion"}, "Pad+MaxPool",
    ),
    "ort-padfusion-maxpool-zero": Case(
        "onnxruntime", lambda: square_pool("MaxPool", 2), {"Pad_Fusion"}, "Pad+MaxPool"
    ),
    "torch-compile-sdpa-permuted-key": Case(
        "torch-2.12.0-compile", permuted_key,
        {"pattern_matcher (fuse_attention)", "pass_pattern_0"},  # the one runs inside the other
        "Transpose+MatMul+Div+Softmax+MatMul",
    ),
    "xla-jax-log-exp-folded": Case(
        "jax-jit", log_of_exp, {"algsimp"}, "Exp+Log", verdict="difference"
    ),
    "xla-jax-sqrt-square-folded": Case(
        "jax-jit", root_of_square, {"algsimp"}, "Mul+Abs+Sqrt", verdict="difference"
    ),
    "xla-tf-int8-where-abs": Case(
        "tensorflow-xla", overflowed_product, {"algsimp"}, "Mul+Abs"
    ),
    "xla-tf-log-pow-nan": Case("tensorflow-xla", log_of_power, {"algsimp"}, "Pow+Log"),
    "xla-tf-moments-variance": Case(
        "tensorflow-xla", variance_of_equals, {"algsimp", "constant_folding"}, "ReduceMean+Sub",
        verdict="precision",
    ),
}  # fmt: skip
