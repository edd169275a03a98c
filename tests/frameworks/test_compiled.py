"""Models that a framework compiles as a whole, where the engine has them from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from frameworks import assay, installed
from onnx import TensorProto, helper, numpy_helper


def test_a_compiler_need_not_look_into_the_tensors_of_a_file(tmp_path: Path) -> None:
    """The number that ConstantOfShape gives is known before torch.compile reads the model."""
    backend = installed("torch-compile")
    two = numpy_helper.from_array(np.full(1, 2, np.float32))
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["twos"], value=two),
        helper.make_node("Mul", ["x", "twos"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (3, 4)) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    code, document = assay(
        "compare", tmp_path / "model.onnx", "--random", "--backends", f"reference,{backend}"
    )
    assert code == 0, document
    assert document["backends"][1]["answered"]
    assert document["findings"] == []
