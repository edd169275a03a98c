"""What runtimes that take a whole ONNX file share: names of operators, and added outputs."""

import importlib.util

from .arrays import Array, from_numpy
from .messages import Script
from .onnx_messages import GraphProto, ModelProto, ValueInfoProto
from .wire import TEXT, Message, decode, encode

_ONNX = "from onnx import TensorProto, helper as make, numpy_helper as arrays"


class _Node(Message):
    """A node's outputs only: the rest of a file is passed over."""

    FIELDS = {2: ("output", TEXT, True)}


class _Tensor(Message):
    """A tensor's name."""

    FIELDS = {8: ("name", TEXT, False)}


class _Graph(Message):
    """The names in a graph."""

    FIELDS = {
        1: ("node", _Node, True),
        5: ("initializer", _Tensor, True),
        11: ("input", ValueInfoProto, True),
        12: ("output", ValueInfoProto, True),
    }


class _Model(Message):
    """A file's graph."""

    FIELDS = {7: ("graph", _Graph, False)}


def script(imports, lines):
    """Return a Script of lines that read `model`, an ONNX file's bytes, and `feed`, its inputs."""
    there = importlib.util.find_spec("onnx") is not None
    return Script(imports=imports, lines=lines, model=1, onnx=_ONNX if there else "")


def node_outputs(data):
    """Return the names of all that the nodes of a file's main graph compute, in order."""
    graph = decode(_Model, data).graph
    return [] if graph is None else [n for node in graph.node for n in node.output if n]


def graph_inputs(data):
    """Return the names of the inputs that have to be given, in order."""
    graph = decode(_Model, data).graph
    held = set() if graph is None else {one.name for one in graph.initializer}
    return [] if graph is None else [one.name for one in graph.input if one.name not in held]


def graph_outputs(data):
    """Return the names of a file's outputs."""
    graph = decode(_Model, data).graph
    return [] if graph is None else [one.name for one in graph.output]


def with_outputs(data, names, known=None):
    """Return a file that has more outputs: a message after another is merged into it.

    `known` are those that it has, if somebody knows them.
    """
    old = set(graph_outputs(data) if known is None else known)
    added = [ValueInfoProto(name=name) for name in names if name not in old]
    return bytes(data) + encode(ModelProto(graph=GraphProto(output=added)))


def to_python(value):
    """Return an Array, list, pair or None with numpy's arrays and dictionaries in their place."""
    if isinstance(value, Array):
        return value.numpy()
    if isinstance(value, list):
        return [to_python(one) for one in value]
    if isinstance(value, tuple):
        keys, values = (to_python(one).tolist() for one in value)
        return dict(zip(keys, values))
    return value


def from_python(value):
    """Return numpy's arrays, lists, dictionaries and None as Arrays, lists, pairs and None."""
    if isinstance(value, dict):
        return from_numpy(list(value)), from_numpy(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [from_python(one) for one in value]
    return value if value is None else from_numpy(value)
