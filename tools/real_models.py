"""Real trained models inside PyPI wheels, their inputs, and ONNX Runtime's values of each node.

usage: real_models.py NAME F.npz: write a model's inputs, and print where the model is
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class RealModel:
    """A model file inside an installed package, and the shapes of its inputs."""

    name: str
    package: str
    file: str
    shapes: dict[str, tuple[int, ...]]
    convolutional: bool = False
    rate: int = 16000  # samples a second, where the model asks

    @property
    def path(self) -> Path:
        """Where the wheel keeps the file."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError(f"package {self.package} is not installed")
        return Path(spec.submodule_search_locations[0]) / self.file

    def inputs(self, seed: int = 0) -> Arrays:
        """Uniform [0, 1) for floats, small numbers for integers, in the order of the graph."""
        random = np.random.default_rng(seed)
        graph = onnx.load(str(self.path)).graph
        weights = {tensor.name for tensor in graph.initializer}
        arrays: Arrays = {}
        for given in graph.input:
            if given.name in weights:
                continue
            kind = onnx.helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
            if given.name == "sr":
                arrays[given.name] = np.array(self.rate, dtype=kind)
            elif np.issubdtype(kind, np.integer):
                arrays[given.name] = random.integers(0, 255, self.shapes[given.name]).astype(kind)
            else:
                arrays[given.name] = random.random(self.shapes[given.name]).astype(kind)
        return arrays


def _silero(file: str, shapes: dict[str, tuple[int, ...]]) -> RealModel:
    return RealModel(file.removesuffix(".onnx"), "silero_vad", f"data/{file}", shapes)


_STATE: dict[str, tuple[int, ...]] = {"input": (1, 576), "state": (2, 1, 128)}

MODELS = [
    RealModel(
        "basic_pitch",
        "basic_pitch",
        "saved_models/icassp_2022/nmp.onnx",
        {"serving_default_input_2:0": (1, 43844, 1)},
        convolutional=True,
    ),
    RealModel("magika", "magika", "models/standard_v3_3/model.onnx", {"bytes": (1, 2048)}),
    RealModel("nudenet", "nudenet", "320n.onnx", {"images": (1, 3, 320, 320)}, convolutional=True),
    RealModel(
        "ppocr_det",
        "rapidocr_onnxruntime",
        "models/ch_PP-OCRv4_det_infer.onnx",
        {"x": (1, 3, 640, 640)},
        convolutional=True,
    ),
    RealModel(
        "ppocr_rec",
        "rapidocr_onnxruntime",
        "models/ch_PP-OCRv4_rec_infer.onnx",
        {"x": (1, 3, 48, 320)},
        convolutional=True,
    ),
    RealModel(
        "ppocr_cls",
        "rapidocr_onnxruntime",
        "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        {"x": (1, 3, 48, 192)},
        convolutional=True,
    ),
    _silero("silero_vad.onnx", _STATE),
    _silero("silero_vad_16k_op15.onnx", _STATE),
    _silero(
        "silero_vad_16k_sequence.onnx", {"input": (1, 576), "h": (1, 1, 128), "c": (1, 1, 128)}
    ),
    _silero("silero_vad_half.onnx", _STATE),
    _silero("silero_vad_op18_ifless.onnx", _STATE),
    _silero("silero_vad_openvino_16k.onnx", _STATE),
]

# The same files where the rate of the samples takes the other branch.
OTHER_BRANCHES = [
    replace(
        _silero(file, {"input": (1, 288), "state": (2, 1, 128)}),
        name=f"{file.removesuffix('.onnx')}_8k",
        rate=8000,
    )
    for file in ("silero_vad.onnx", "silero_vad_op18_ifless.onnx")
]


def save(path: Path, arrays: Arrays) -> None:
    """Write arrays to an .npz file."""
    np.savez(path, allow_pickle=False, **arrays)


def session(
    path: Path | bytes, *, optimise: bool = True, threads: int = 1
) -> onnxruntime.InferenceSession:
    """Open a session of some threads; 0 means one for each core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    source = path if isinstance(path, bytes) else str(path)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def _scoped_names(graph: onnx.GraphProto) -> set[str]:
    """Return the names that a graph gives to values of its own."""
    names = {given.name for given in graph.input} | {weight.name for weight in graph.initializer}
    return names | {output for node in graph.node for output in node.output if output}


def _subgraphs(node: onnx.NodeProto) -> dict[str, onnx.GraphProto]:
    graphs = onnx.AttributeProto.GRAPH
    return {one.name: one.g for one in node.attribute if one.type == graphs}


def _rename(node: onnx.NodeProto, names: dict[str, str]) -> None:
    """Give values their new names, also where a subgraph reads them from around it."""
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
    for graph in _subgraphs(node).values():
        own = _scoped_names(graph)
        around = {old: new for old, new in names.items() if old not in own}
        for inner in graph.node:
            _rename(inner, around)
        for output in graph.output:
            output.name = around.get(output.name, output.name)


def _branch_nodes(chooser: onnx.NodeProto, taken: str) -> list[onnx.NodeProto]:
    """Return the nodes of a branch of an If, under the names that Assay has for their values."""
    branch = _subgraphs(chooser)[taken]
    path = f"{chooser.name}/{taken}/"
    names = {name: path + name for name in _scoped_names(branch)}
    nodes = [
        onnx.helper.make_node("Constant", [], [names[weight.name]], value=weight)
        for weight in branch.initializer
    ]
    for node in branch.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = path + node.name
        _rename(copy, names)
        nodes.append(copy)
    for output, result in zip(branch.output, chooser.output, strict=True):
        inner = names.get(output.name, output.name)
        nodes.append(onnx.helper.make_node("Identity", [inner], [result]))
    return nodes


def _put_branches(proto: onnx.ModelProto, known: Arrays) -> bool:
    """Put the branch that is taken in the place of each If; tell whether there was one."""
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in proto.graph.initializer}
    nodes = list(proto.graph.node)
    del proto.graph.node[:]
    for node in nodes:
        if node.op_type == "If":
            condition = {**weights, **known}[node.input[0]]
            taken = "then_branch" if condition.item() else "else_branch"
            proto.graph.node.extend(_branch_nodes(node, taken))
        else:
            proto.graph.node.append(node)
    return any(node.op_type == "If" for node in nodes)


def _main_values(proto: onnx.ModelProto, inputs: Arrays) -> Arrays:
    """Every value of the main graph as ONNX Runtime computes it, optimisations off."""
    exposed = onnx.ModelProto()
    exposed.CopyFrom(proto)
    known = {output.name for output in exposed.graph.output}
    for node in exposed.graph.node:
        for output in node.output:
            if output and output not in known:
                exposed.graph.output.append(onnx.ValueInfoProto(name=output))
                known.add(output)
    runner = session(exposed.SerializeToString(), optimise=False)
    names = [output.name for output in runner.get_outputs()]
    values = runner.run(names, inputs)
    return {
        name: value
        for name, value in zip(names, values, strict=True)
        if isinstance(value, np.ndarray)
    }


def hidden_values(model: RealModel, inputs: Arrays) -> Arrays:
    """Every value as ONNX Runtime computes it, also those inside the branches that are taken.

    ONNX Runtime shows no value of a subgraph, so branches are put in the place of their Ifs, one
    level after the other: which of them is taken shows in the values of the level before.
    """
    proto = onnx.load(str(model.path))
    values = _main_values(proto, inputs)
    while _put_branches(proto, {**inputs, **values}):
        values = _main_values(proto, inputs)
    return values


if __name__ == "__main__":
    asked = next(model for model in MODELS if model.name == sys.argv[1])
    save(Path(sys.argv[2]), asked.inputs())
    print(asked.path)
