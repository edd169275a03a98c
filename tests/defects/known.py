"""Known defects of frameworks as small models, in the words of the standard."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]


@dataclass
class Defect:
    """A model, its data, and what has to be said of a backend."""

    backend: str
    nodes: list[onnx.NodeProto]
    inputs: dict[str, Array]
    node: str  # to which it is localised
    constants: dict[str, Array] = field(default_factory=dict)
    outputs: tuple[str, ...] = ("Y",)
    kind: str = "inconsistency"
    variant: str | None = None
    opset: int = 21
    type: int = TensorProto.FLOAT  # of the outputs

    def model(self) -> onnx.ModelProto:
        """Return the model, without the library's own checks."""
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in self.inputs.items()
        ]
        outputs = [helper.make_tensor_value_info(name, self.type, None) for name in self.outputs]
        held = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, held)
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def call(op: str, *inputs: str, outputs: tuple[str, ...] = ("Y",), **more: Any) -> onnx.NodeProto:
    """Return a node that has its operator's name in small letters."""
    node = helper.make_node(op, inputs, outputs, name=op.lower())
    node.attribute.extend(helper.make_attribute(key, value) for key, value in more.items())
    return node


def counted(*shape: int) -> Array:
    """Return 0, 1, 2, … in a shape."""
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


def floats(*values: float) -> Array:
    """Return a list of numbers."""
    return np.array(values, np.float32)


def scanning_loop() -> onnx.NodeProto:
    """Return three rounds, each of which negates a row and shows it."""
    one = helper.make_tensor_value_info
    row: tuple[int, list[int]] = (TensorProto.FLOAT, [1, 2])
    truth: tuple[int, list[int]] = (TensorProto.BOOL, [])
    body = helper.make_graph(
        [
            call("Identity", "again", outputs=("goes_on",)),
            call("Neg", "before", outputs=("after",)),
            call("Identity", "after", outputs=("row",)),
        ],
        "body",
        [one("round", TensorProto.INT64, []), one("again", *truth), one("before", *row)],
        [one("goes_on", *truth), one("after", *row), one("row", *row)],
    )
    return call("Loop", "rounds", "yes", "X", outputs=("last", "Y"), body=body)


CEIL: dict[str, Any] = {"kernel_shape": [3], "strides": [2], "ceil_mode": 1, "count_include_pad": 1}
NAN = float("nan")

# In releases that CI installs anyway.
CURRENT = {
    "GlobalMaxPool of rank 3 reduces the channels as well": Defect(
        "onnx-reference",
        [call("GlobalMaxPool", "X")],
        {"X": counted(2, 2, 3)},
        "globalmaxpool",
        variant="over-last-two-axes",
    ),
    "Loop joins what it should stack": Defect(
        *("onnx-reference", [scanning_loop()], {"X": counted(1, 2)}, "loop"),
        constants={"rounds": np.array(3, np.int64), "yes": np.array(True)},
    ),
    "a one-sided DFT keeps the axis of real parts": Defect(
        *("openvino", [call("DFT", "X", axis=1, onesided=1)], {"X": counted(1, 10, 2, 1)}, "dft"),
        opset=17,
    ),
    "division of int32 in single precision": Defect(
        *("openvino", [call("Div", "X", "eleven")]),
        {"X": np.array([777777777, 1111111111, 1900000000, -2000000000], np.int32)},
        "div",
        constants={"eleven": np.array(11, np.int32)},
        type=TensorProto.INT32,
        variant="in-single-precision",
    ),
    "remainders of int64 in single precision": Defect(
        *("openvino", [call("Mod", "X", "thirteen")]),
        {"X": np.array([16, 1000000007, 2000000011, 2147483647, 1234567891], np.int64)},
        "mod",
        constants={"thirteen": np.array(13, np.int64)},
        type=TensorProto.INT64,
    ),
    "windows of MaxPool outside the image": Defect(
        "openvino",
        [call("MaxPool", "X", kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)],
        {"X": counted(1, 1, 2, 2)},
        "maxpool",
        variant="windows-in-the-padding",
    ),
    "RNN takes the batch for time": Defect(
        "openvino",
        [call("RNN", "X", "W", "R", outputs=("", "Y"), hidden_size=4, layout=1)],
        {"X": counted(3, 1, 2) / 6},
        "rnn",
        constants={"W": counted(1, 4, 2) / 8, "R": counted(1, 4, 4) / 16},
        variant="layout-ignored",
    ),
    "Add of uint8 saturates": Defect(
        "openvino",
        [call("Add", "A", "B")],
        {"A": np.array([200, 255, 9, 100], np.uint8), "B": np.array([100, 45, 0, 228], np.uint8)},
        "add",
        type=TensorProto.UINT8,
        variant="saturates",
    ),
    "division by a constant zero is a product": Defect(
        *("tflite", [call("Div", "X", "zero")], {"X": floats(-0.5, 0.5, 2, 0)}, "div"),
        constants={"zero": floats(0)},
        variant="finite-reciprocal",
    ),
    "the minimum loses NaN": Defect(
        "tflite",
        [call("Min", "X", "Z")],
        {"X": floats(NAN, 1, 3), "Z": floats(2, NAN, 1)},
        "min",
        variant="nan-on-the-left-is-lost",
    ),
    "the maximum of a row loses NaN": Defect(
        *("tflite", [call("ReduceMax", "X", "axes", keepdims=0)], {"X": floats(NAN, 1, -1, 2)}),
        "reducemax",
        constants={"axes": np.array([0], np.int64)},
    ),
}

# In releases that are installed for this.
OLD = {
    "AveragePool divides a cut-off window by all of its size": Defect(
        *("onnxruntime-1.28.0", [call("AveragePool", "X", **CEIL)], {"X": counted(1, 1, 4) + 1}),
        "averagepool",
        opset=11,
        variant="divides-by-whole-kernel",
    ),
    "the reference did so too": Defect(
        *("onnx-reference-1.17.0", [call("AveragePool", "X", **CEIL)]),
        {"X": counted(1, 1, 4) + 1},
        "averagepool",
        opset=19,
        variant="divides-by-whole-kernel",
    ),
    "MaxPool has windows in the padding alone": Defect(
        "onnxruntime-1.20.1",
        [call("MaxPool", "X", kernel_shape=[3, 3], strides=[3, 3], pads=[1] * 4, ceil_mode=1)],
        {"X": counted(1, 1, 2, 2)},
        "maxpool",
        variant="windows-in-the-padding",
    ),
    "AveragePool has windows in the padding alone": Defect(
        "onnxruntime-1.20.1",
        [call("AveragePool", "X", kernel_shape=[3, 3], strides=[3, 3], pads=[1] * 4, ceil_mode=1)],
        {"X": counted(1, 1, 2, 2)},
        "averagepool",
    ),
    "ReduceMean ignores axes that are an input": Defect(
        "openvino-2024.0.0",
        [call("ReduceMean", "X", "axes")],
        {"X": counted(1, 2, 2, 4)},
        "reducemean",
        constants={"axes": np.array([2, 3], np.int64)},
        opset=18,
    ),
    "AveragePool without padding divides 0 by 0": Defect(
        "torch-1.4",
        [call("AveragePool", "X", kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)],
        {"X": counted(1, 1, 4, 4)},
        "averagepool",
    ),
    "MaxPool without padding has the maximum of nothing": Defect(
        "torch-1.4",
        [call("MaxPool", "X", kernel_shape=[1, 1], strides=[2, 2], ceil_mode=1)],
        {"X": counted(1, 1, 4, 4)},
        "maxpool",
    ),
    "a stride of zero kills": Defect(
        "torch-1.4",
        [call("AveragePool", "X", kernel_shape=[2, 2], strides=[0, 0])],
        {"X": counted(1, 1, 5, 5)},
        "",
        kind="crash",
    ),
    "no groups kill": Defect(
        *("torch-1.4", [call("Conv", "X", "W", group=0)], {"X": counted(1, 1, 5, 5)}, ""),
        constants={"W": counted(1, 1, 3, 3)},
        kind="crash",
    ),
    "no groups kill MXNet as well": Defect(
        "mxnet-1.6",
        [call("GroupNormalization", "X", "scale", "bias", num_groups=0)],
        {"X": counted(1, 4, 2, 2)},
        "",
        constants={"scale": counted(4), "bias": counted(4)},
        kind="crash",
    ),
    "Gather takes indices that are not there": Defect(
        *("mxnet-1.6", [call("Gather", "X", "I")], {"X": counted(3, 2)}, ""),
        constants={"I": np.array([7, -9], np.int64)},
        kind="invalid-accepted",
    ),
}
