"""Two files of one network: what a conversion changed, and whether weights or operators did it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import ROOT, Assay
from models import FLOAT, check_error, check_json_error, constant, model_of, value
from onnx import helper, numpy_helper, version_converter

sys.path.insert(0, str(ROOT / "tools"))

from real_models import RealModel, save

Array = np.ndarray[Any, Any]
Change = Callable[[onnx.ModelProto], None]
SHAPE = (1, 3, 8, 8)


def node(op: str, inputs: list[str], output: str, name: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, [output], name=name, **attributes)


def network(seed: int = 0) -> onnx.ModelProto:
    """Make a convolution, its normalization, Relu, a pool, and two dense layers."""
    random = np.random.default_rng(seed)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return constant(name, random.normal(size=shape), np.float32)

    nodes = [
        node("Conv", ["X", "w", "b"], "conv", "conv1", kernel_shape=[3, 3]),
        node("BatchNormalization", ["conv", "scale", "shift", "mean", "var"], "norm", "norm1"),
        node("Relu", ["norm"], "relu", "relu1"),
        node("GlobalAveragePool", ["relu"], "pool", "pool1"),
        node("Flatten", ["pool"], "flat", "flat1"),
        node("Gemm", ["flat", "w1", "b1"], "hidden", "dense1"),
        node("Tanh", ["hidden"], "tanh", "tanh1"),
        node("Gemm", ["tanh", "w2", "b2"], "Y", "dense2"),
    ]
    initializers = [
        weights("w", 8, 3, 3, 3),
        *(weights(name, 8) for name in ("b", "scale", "shift", "mean")),
        constant("var", random.random(8) + 0.5, np.float32),
        weights("w1", 8, 8),
        weights("b1", 8),
        weights("w2", 8, 1),
        weights("b2", 1),
    ]
    return model_of(
        nodes,
        [value("X", FLOAT, SHAPE)],
        [value("Y", FLOAT, (1, 1))],
        initializers,
        opset=13,
    )


def weight_of(model: onnx.ModelProto, name: str) -> onnx.TensorProto:
    found: onnx.TensorProto = next(w for w in model.graph.initializer if w.name == name)
    return found


def node_of(model: onnx.ModelProto, name: str) -> onnx.NodeProto:
    found: onnx.NodeProto = next(one for one in model.graph.node if one.name == name)
    return found


def put(model: onnx.ModelProto, name: str, array: Array) -> None:
    weight_of(model, name).CopyFrom(numpy_helper.from_array(array, name))


def rename(model: onnx.ModelProto) -> None:
    """Give everything but inputs and outputs another name."""
    kept = {"X", "Y"}
    for one in model.graph.node:
        one.name = f"other_{one.name}"
        one.input[:] = [n if n in kept else f"v.{n}" for n in one.input]
        one.output[:] = [n if n in kept else f"v.{n}" for n in one.output]
    for weight in model.graph.initializer:
        weight.name = f"v.{weight.name}"


def transpose(model: onnx.ModelProto) -> None:
    put(model, "w1", numpy_helper.to_array(weight_of(model, "w1")).T.copy())
    node_of(model, "dense1").attribute.append(helper.make_attribute("transB", 1))


def to_constants(model: onnx.ModelProto) -> None:
    """Put Constant nodes in the place of initializers."""
    nodes = [
        helper.make_node("Constant", [], [one.name], value=one) for one in model.graph.initializer
    ]
    nodes += list(model.graph.node)
    del model.graph.initializer[:]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def fold(model: onnx.ModelProto) -> None:
    """Fold the normalization into the convolution before it."""
    read = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    factor = read["scale"] / np.sqrt(read["var"] + np.float32(1e-5))
    put(model, "w", read["w"] * factor[:, None, None, None])
    put(model, "b", (read["b"] - read["mean"]) * factor + read["shift"])
    model.graph.node.remove(node_of(model, "norm1"))
    for name in ("scale", "shift", "mean", "var"):
        model.graph.initializer.remove(weight_of(model, name))
    node_of(model, "conv1").output[0] = "norm"


def channels_last(model: onnx.ModelProto) -> None:
    """Normalize with the channels at the end, as other frameworks do."""
    nodes = list(model.graph.node)
    del model.graph.node[:]
    nodes[1:3] = [
        node("Transpose", ["conv"], "t", "to_last", perm=[0, 2, 3, 1]),
        node("Sub", ["t", "mean"], "centered", "sub"),
        node("Add", ["var", "epsilon"], "wide", "add"),
        node("Sqrt", ["wide"], "root", "sqrt"),
        node("Div", ["centered", "root"], "unit", "div"),
        node("Mul", ["unit", "scale"], "scaled", "mul"),
        node("Add", ["scaled", "shift"], "n", "add2"),
        node("Relu", ["n"], "r", "relu1"),
        node("Transpose", ["r"], "relu", "to_first", perm=[0, 3, 1, 2]),
    ]
    model.graph.node.extend(nodes)
    model.graph.initializer.append(constant("epsilon", 1e-5, np.float32))


def join(model: onnx.ModelProto) -> None:
    """Keep the weights of a dense layer in two parts, which the file joins."""
    both = numpy_helper.to_array(weight_of(model, "w1"))
    model.graph.initializer.remove(weight_of(model, "w1"))
    model.graph.initializer.append(constant("top", both[:5], np.float32))
    model.graph.initializer.append(constant("bottom", both[5:], np.float32))
    model.graph.node.insert(0, node("Concat", ["top", "bottom"], "w1", "join", axis=0))


def change_weight(model: onnx.ModelProto) -> None:
    put(model, "w1", numpy_helper.to_array(weight_of(model, "w1")) + np.float32(0.1))


def change_first_channel(model: onnx.ModelProto) -> None:
    array = numpy_helper.to_array(weight_of(model, "w1")).copy()
    array[0] += 0.1
    put(model, "w1", array)


def change_bias(model: onnx.ModelProto) -> None:
    put(model, "b2", numpy_helper.to_array(weight_of(model, "b2")) + np.float32(0.5))


def change_operator(model: onnx.ModelProto) -> None:
    node_of(model, "tanh1").op_type = "Softsign"


def change_attribute(model: onnx.ModelProto) -> None:
    node_of(model, "norm1").attribute.append(helper.make_attribute("epsilon", 1e-2))


def round_weights(model: onnx.ModelProto) -> None:
    """Keep the weights of a dense layer in half precision."""
    put(model, "w1", numpy_helper.to_array(weight_of(model, "w1")).astype(np.float16))
    weight_of(model, "w1").name = "w1_half"
    model.graph.node.insert(0, node("Cast", ["w1_half"], "w1", "widen", to=FLOAT))


def files(folder: Path, *changes: Change, seed: int = 0) -> tuple[Path, Path]:
    """Write the network, and what the changes make of it."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(network().SerializeToString())
    changed = network(seed)
    for change in changes:
        change(changed)
    after.write_bytes(changed.SerializeToString())
    return before, after


def compare(assay: Assay, *arguments: object) -> tuple[int, dict[str, Any]]:
    done = assay("compare", *arguments, "--json")
    return done.code, done.document


@pytest.mark.parametrize(
    ("changes", "relations"),
    [
        ((), {"same"}),
        ((rename,), {"same"}),
        ((transpose,), {"same", "permuted"}),
        ((to_constants,), {"same"}),
        ((channels_last,), {"same"}),
        ((join,), {"same", "joined"}),
        ((transpose, channels_last, rename, to_constants), {"same", "permuted"}),
    ],
)
def test_a_right_conversion_changes_nothing(
    assay: Assay, tmp_path: Path, changes: tuple[Change, ...], relations: set[str]
) -> None:
    code, document = compare(assay, *files(tmp_path, *changes), "--random")
    found = document["files"]
    assert (code, found["same_network"], found["blame"]) == (0, True, "none")
    assert document["findings"] == [] and document["unique"] == 0
    assert found["weights"]["differing"] == 0
    assert found["weights"]["only_a"] == found["weights"]["only_b"] == []
    assert {one["relation"] for one in found["weights"]["list"]} == relations
    assert found["values"]["first_difference"] is None
    text = assay("compare", *files(tmp_path, *changes), "--random")
    assert text.code == 0 and "one network" in text.out


def test_values_are_matched_through_other_names_and_axes(assay: Assay, tmp_path: Path) -> None:
    _, document = compare(assay, *files(tmp_path, channels_last, rename), "--random")
    values = document["files"]["values"]
    assert values["total_a"] == 8
    assert values["agreeing"] >= 7  # all but the single number at the end, which is an output


@pytest.mark.parametrize("opset", [14, 17, 21])
def test_another_opset_is_the_same_network(assay: Assay, tmp_path: Path, opset: int) -> None:
    before, after = files(tmp_path)
    converted = version_converter.convert_version(onnx.load(before), opset)
    after.write_bytes(converted.SerializeToString())
    code, document = compare(assay, before, after, "--random")
    assert (code, document["files"]["weights"]["differing"]) == (0, 0)


def test_weights_that_were_folded(assay: Assay, tmp_path: Path) -> None:
    before, after = files(tmp_path, fold)
    code, document = compare(assay, before, after, "--random")
    found = document["files"]
    assert (code, found["same_network"], found["blame"]) == (0, True, "none")
    assert found["weights"]["differing"] == 2
    assert found["weights"]["only_a"] == ["scale", "shift", "mean", "var"]
    assert "folded" in assay("compare", before, after, "--random").out


@pytest.mark.parametrize(
    ("changes", "blame", "node_name"),
    [
        ((change_weight,), "weights", "dense1"),
        ((change_weight, rename, to_constants), "weights", "dense1"),
        ((change_bias, rename), "weights", "dense2"),
        ((change_operator,), "operators", "tanh1"),
        ((change_operator, rename), "operators", "tanh1"),
        ((change_attribute,), "operators", "norm1"),
        ((change_attribute, rename), "operators", "norm1"),
        ((fold, change_weight), "weights", "dense1"),
        ((change_attribute, change_weight), "weights and operators", "norm1"),
        ((round_weights,), "weights", "dense1"),
    ],
)
def test_a_wrong_conversion_is_found_where_it_is(
    assay: Assay, tmp_path: Path, changes: tuple[Change, ...], blame: str, node_name: str
) -> None:
    code, document = compare(assay, *files(tmp_path, *changes), "--random")
    found = document["files"]
    assert (code, found["same_network"], found["blame"]) == (1, True, blame)
    finding = document["findings"][0]
    assert (finding["kind"], finding["node"]) == ("inconsistency", node_name)
    assert finding["verdict"] == ("difference" if blame == "weights" else "defect")
    assert document["pairs"][0]["inconsistent"] and document["unique"] == 1
    text = assay("compare", *files(tmp_path, *changes), "--random")
    assert f"{blame} are to blame" in text.out


def test_rounded_weights_are_called_so(assay: Assay, tmp_path: Path) -> None:
    before, after = files(tmp_path, round_weights)
    _, document = compare(assay, before, after, "--random")
    rounded = [w for w in document["files"]["weights"]["list"] if w["relation"] == "rounded"]
    assert [(w["a"], w["b"], w["rounded_to"]) for w in rounded] == [
        (["w1"], ["w1_half"], "float16")
    ]
    assert "rounded to float16" in assay("compare", before, after, "--random").out


def close_first_channel(model: onnx.ModelProto) -> None:
    """Let Relu give zeros there, whatever the data."""
    array = numpy_helper.to_array(weight_of(model, "shift")).copy()
    array[0] = -100
    put(model, "shift", array)


def test_weights_that_differ_where_the_data_do_not_show_it(assay: Assay, tmp_path: Path) -> None:
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    model = network()
    close_first_channel(model)
    before.write_bytes(model.SerializeToString())
    change_first_channel(model)
    after.write_bytes(model.SerializeToString())
    code, document = compare(assay, before, after, "--random")
    found = document["files"]
    assert (code, found["same_outputs"], found["blame"]) == (1, True, "weights")
    assert document["findings"][0]["node"] == "dense1"
    assert "w1" in document["findings"][0]["detail"]
    assert "do not show it" in assay("compare", before, after, "--random").out


def test_other_names_and_types_of_inputs(assay: Assay, tmp_path: Path) -> None:
    """An input may be renamed, and be given as other integers."""

    def write(name: str, file: str, kind: type, declared: int) -> Path:
        nodes = [node("Gather", ["table", name], "Y", "pick")]
        table = constant("table", np.random.default_rng(0).normal(size=(9, 4)), np.float32)
        inputs = [value(name, declared, (3,))]
        model = model_of(nodes, inputs, [value("Y", FLOAT, (3, 4))], [table])
        (tmp_path / file).write_bytes(model.SerializeToString())
        save(tmp_path / f"{file}.npz", {name: np.array([8, 0, 3], kind)})
        return tmp_path / file

    a = write("ids", "a.onnx", np.int64, onnx.TensorProto.INT64)
    b = write("tokens", "b.onnx", np.int32, onnx.TensorProto.INT32)
    code, document = compare(assay, a, b, "--data", f"{a}.npz")
    assert (code, document["pairs"][0]["max"]) == (0, 0)


def test_a_backend_runs_both_or_one_each(
    assay: Assay, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    weights = [constant("w", random.normal(size=(6, 6)), np.float32)]
    nodes = [
        node("MatMul", ["X", "w"], "a", "dense"),
        node("Relu", ["a"], "Y", "relu"),
    ]
    shapes = value("X", FLOAT, (2, 6)), value("Y", FLOAT, (2, 6))
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(nodes, [shapes[0]], [shapes[1]], weights).SerializeToString())
    for backends in ("planted", "planted,planted", "reference,planted"):
        code, document = compare(assay, path, path, "--random", "--backends", backends)
        assert (code, document["files"]["values"]["agreeing"]) == (0, 2), backends
    monkeypatch.setenv("PLANTED", "leaking-threshold")
    code, document = compare(assay, path, path, "--random", "--backends", "reference,planted")
    assert (code, document["files"]["blame"]) == (1, "operators")
    assert document["findings"][0]["node"] == "relu"
    monkeypatch.setenv("PLANTED", "crash")
    code, document = compare(assay, path, path, "--random", "--backends", "reference,planted")
    assert (code, document["findings"][0]["kind"]) == (1, "crash")
    assert document["crashes"][0]["backend"] == "planted" and "files" not in document
    text = assay("compare", path, path, "--random", "--backends", "reference,planted")
    assert text.code == 1 and "crash" in text.out


def test_files_that_are_not_one_network(assay: Assay, tmp_path: Path) -> None:
    before, after = files(tmp_path)
    other = model_of(
        [node("MatMul", ["X", "m"], "Y", "product")],
        [value("X", FLOAT, SHAPE)],
        [value("Y", FLOAT, (1, 3, 8, 5))],
        [constant("m", np.random.default_rng(1).normal(size=(8, 5)), np.float32)],
    )
    after.write_bytes(other.SerializeToString())
    words = ("not one network", "weights", "0 %", "inner values matched")
    check_error(assay("compare", before, after, "--random"), *words)
    check_json_error(assay("compare", before, after, "--random", "--json"), "usage", *words)


def test_bad_input_of_two_files(assay: Assay, tmp_path: Path) -> None:
    before, after = files(tmp_path)
    check_error(assay("compare", before, after), "X", "--random")
    check_error(assay("compare", before, tmp_path / "none.onnx", "--random"), "none.onnx")
    three = "reference,onnxruntime,torch"
    check_error(assay("compare", before, after, "--random", "--backends", three), "one each")
    labels = tmp_path / "labels.npy"
    np.save(labels, np.zeros(1, np.int64))
    check_error(assay("compare", before, after, "--random", "--labels", labels), "--labels")
    np.savez(tmp_path / "wrong.npz", Z=np.zeros(SHAPE, np.float32))
    check_error(assay("compare", before, after, "--data", tmp_path / "wrong.npz"), "'Z'", "X")
    (tmp_path / "broken.onnx").write_bytes(b"\x08")
    check_error(assay("compare", before, tmp_path / "broken.onnx", "--random"), "broken.onnx")
    invalid = network()
    node_of(invalid, "relu1").op_type = "Conv"
    after.write_bytes(invalid.SerializeToString())
    check_error(assay("compare", before, after, "--random"), "after.onnx", "relu1")


def silero(name: str, rate: int, folder: Path) -> tuple[Path, Path]:
    """Return a model of the silero-vad wheel, and data at a sampling rate."""
    shapes = {"input": (1, 9 * rate // 250), "state": (2, 1, 128)}
    model = RealModel(name, "silero_vad", f"data/{name}.onnx", shapes, rate=rate)
    save(folder / "data.npz", model.inputs())
    return model.path, folder / "data.npz"


def test_real_files_of_one_network(assay: Assay, tmp_path: Path) -> None:
    """A recurrent layer in one file is matrix products and gates in the other."""
    path, data = silero("silero_vad", 16000, tmp_path)
    other = path.with_name("silero_vad_op18_ifless.onnx")
    code, document = compare(assay, path, other, "--data", data)
    found = document["files"]
    assert (code, found["same_network"], found["blame"]) == (0, True, "none")
    assert (found["weights"]["matched"], found["weights"]["differing"]) == (15, 0)
    # The same file for 8 kHz was trained again: its weights are others.
    assert found["weights"]["unread"] == {"matched": 1, "differing": 13}
    path, data = silero("silero_vad", 8000, tmp_path)
    code, document = compare(assay, path, other, "--data", data)
    assert (code, document["files"]["blame"]) == (1, "weights")


def test_real_files_with_other_weights(assay: Assay, tmp_path: Path) -> None:
    path, data = silero("silero_vad_16k_op15", 16000, tmp_path)
    code, document = compare(assay, path, path.with_name("silero_vad_half.onnx"), "--data", data)
    found = document["files"]
    assert (code, found["same_network"], found["blame"]) == (1, True, "weights")
    assert found["weights"]["matched"] == 1 and found["weights"]["differing"] >= 13
    first = found["values"]["first_difference"]
    assert first["a"]["op"] == first["b"]["op"] == "Conv"
