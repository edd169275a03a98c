"""Writes graphs with what TensorFlow itself computes in them.

usage: record.py FOLDER [NAME…]

For each graph: NAME.pb, NAME.pbtxt, NAME.inputs.npz (what is fed, and the variables) and
NAME.values.npz (every value, by the name that Assay has for it). Runs in the environment of the
backend tensorflow.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf
from families import FAMILIES, Fed
from nets import NETS

V1 = tf.compat.v1
# Operations that change a variable are run one by one, each on the values from the start.
CHANGES = ("Assign", "Apply", "Scatter")
CHANGES_NOTHING = {"ScatterNd", "TensorArrayScatterV3"}


def value_name(tensor: Any) -> str:
    """Return Assay's name of a value."""
    return tensor.op.name if tensor.value_index == 0 else tensor.name


def is_random(op: Any) -> bool:
    """Tell whether an operation draws random numbers."""
    return any(part in op.type for part in ("Random", "TruncatedNormal", "Multinomial"))


def has_one_value(op: Any) -> bool:
    """Tell whether an operation is outside of branches and loops, or leads out of them."""
    leads_out = op.type in {"Exit", "Merge"}
    return op.graph.is_fetchable(op) and (leads_out or op._get_control_flow_context() is None)


def changes(op: Any) -> bool:
    """Tell whether an operation changes a variable."""
    return op.type not in CHANGES_NOTHING and any(part in op.type for part in CHANGES)


def before(op: Any) -> list[Any]:
    """Return all operations that run before one."""
    found: dict[str, Any] = {}
    asked = [op]
    while asked:
        last = asked.pop()
        for other in [tensor.op for tensor in last.inputs] + list(last.control_inputs):
            if other.name not in found:
                found[other.name] = other
                asked.append(other)
    return list(found.values())


def is_left_unset(tensor: Any) -> bool:
    """Tell whether the kernel for a processor leaves an output as the memory was.

    It hands statistics to the gradient only in training, and never what another device would
    keep.
    """
    if not tensor.op.type.startswith("FusedBatchNorm") or "Grad" in tensor.op.type:
        return False
    first = 3 if not tensor.op.get_attr("is_training") else 5
    return bool(tensor.value_index >= first)


def is_flow(tensor: Any) -> bool:
    """Tell whether a number only stands for an array of tensors: Assay has the array there."""
    if tensor.op.type in {"Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch"}:
        return is_flow(tensor.op.inputs[0])
    array = tensor.op.type in {"TensorArrayScatterV3", "TensorArrayWriteV3"}
    return array or (tensor.op.type == "TensorArrayV3" and tensor.value_index == 1)


def is_index_of_branch(tensor: Any) -> bool:
    """Tell whether a number says which branch was taken."""
    return bool(tensor.op.type == "Merge" and tensor.value_index == 1)


def reads_what_was_changed(op: Any, earlier: list[Any]) -> bool:
    """Tell whether a variable is read after a change, where Assay reads what it began with."""
    return op.type == "ReadVariableOp" and any(
        changes(other) and other.inputs[0] is op.inputs[0] for other in earlier
    )


def is_compared(tensor: Any) -> bool:
    """Tell whether a value can be held against Assay's."""
    nobodys = not tensor.consumers()
    if nobodys and (tensor.op.type == "Const" or is_index_of_branch(tensor)):
        return False  # a model does not have it
    if tensor.dtype.base_dtype in (tf.resource, tf.variant, tf.string):
        return False
    return not (changes(tensor.op) or is_left_unset(tensor) or is_flow(tensor))


class Recorder:
    """One graph, running, and its variables."""

    def __init__(self, graph: tf.Graph, feeds: dict[str, Any]) -> None:
        """Start it and give the variables their values."""
        self.graph = graph
        config = V1.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        self.running = V1.Session(graph=graph, config=config)
        self.variables = V1.global_variables()
        self.feeds = {graph.get_tensor_by_name(name + ":0"): v for name, v in feeds.items()}
        self.loads = []
        for v in self.variables:
            place = V1.placeholder(v.dtype.base_dtype, v.shape)
            self.loads.append((V1.assign(v, place).op, place))
        self.running.run(V1.global_variables_initializer())
        self.start = self.running.run(self.variables)

    def reset(self) -> None:
        """Give the variables the values they began with."""
        places = {place: v for (_, place), v in zip(self.loads, self.start, strict=True)}
        self.running.run([load for load, _ in self.loads], places)

    def all_values(self, ops: list[Any]) -> dict[str, np.ndarray]:
        """Return every value of the operations that has one."""
        together, values = [], {}
        for op in ops:
            earlier = before(op)
            tensors = [tensor for tensor in op.outputs if is_compared(tensor)]
            if changes(op):
                values.update(self.changed(op))
            elif reads_what_was_changed(op, earlier):
                continue
            elif any(changes(other) or other.type == "Switch" for other in [*earlier, op]):
                values.update(self.alone(tensors))
            else:
                together += tensors
        found = self.running.run(together, self.feeds)
        return values | dict(zip(map(value_name, together), found, strict=True))

    def alone(self, tensors: list[Any]) -> dict[str, np.ndarray]:
        """Return values one by one: a branch that is not taken has none."""
        values = {}
        for tensor in tensors:
            try:
                values[value_name(tensor)] = self.running.run(tensor, self.feeds)
            except tf.errors.InvalidArgumentError as failed:
                if "does not have value" not in str(failed):
                    raise
            self.reset()
        return values

    def changed(self, op: Any) -> dict[str, np.ndarray]:
        """Return the value of the variable after the operation."""
        self.reset()
        if op.outputs and op.outputs[0].dtype.base_dtype != tf.resource:
            result = {op.name: self.running.run(op.outputs[0], self.feeds)}
        else:
            self.running.run(op, self.feeds)
            place = [v for v in self.variables if v.op.name == op.inputs[0].op.name]
            result = {op.name: self.running.run(place[0])} if place else {}
        self.reset()
        return result


def depends_on_random(ops: list[Any]) -> set[str]:
    """Return the names of all operations whose values differ from run to run."""
    found: set[str] = set()
    for op in ops:
        if is_random(op) or any(tensor.op.name in found for tensor in op.inputs):
            found.add(op.name)
    return found


def record(name: str, build: Any, folder: Path) -> None:
    """Build a graph, write it, and write what TensorFlow computes."""
    with tf.Graph().as_default() as graph:
        fed = Fed()
        build(fed)
        definition = graph.as_graph_def()
        ops = [op for op in graph.get_operations() if has_one_value(op)]
        recorder = Recorder(graph, fed.feeds)
        (folder / f"{name}.pb").write_bytes(definition.SerializeToString())
        tf.io.write_graph(definition, str(folder), f"{name}.pbtxt", as_text=True)
        inputs = dict(fed.feeds)
        for v, value in zip(recorder.variables, recorder.start, strict=True):
            inputs[v.op.name] = value
        values = recorder.all_values([op for op in ops if op.type not in {"NoOp"}])
        random = depends_on_random(ops)
        kept = {key: value for key, value in values.items() if key.split(":")[0] not in random}
        np.savez(folder / f"{name}.inputs.npz", **inputs)
        np.savez(folder / f"{name}.values.npz", **kept)
        drawn = {f"{key}": value for key, value in values.items() if key not in kept}
        np.savez(folder / f"{name}.drawn.npz", **drawn)


def main() -> None:
    """Record all graphs, or those that are named."""
    V1.disable_v2_behavior()
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    graphs: dict[str, Any] = {family.__name__: family for family in FAMILIES} | NETS
    for name in names or graphs:
        record(name, graphs[name], folder)


if __name__ == "__main__":
    main()
