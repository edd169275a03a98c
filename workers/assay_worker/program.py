"""An ONNX model as a program over a framework's table, evaluated node by node."""

from . import arrays
from .failure import Failed, NodeError, Unsupported
from .onnx_messages import ModelProto
from .wire import decode

_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS = range(1, 9)
_DEFAULT_DOMAINS = ("", "ai.onnx")


class Node(object):
    """A call of an operator: what a row of a table sees of it."""

    def __init__(self, proto, attributes, opset):
        """Take an operator's name, its attributes as Python values, and the opset's version."""
        self.op, self.name = proto.op_type, proto.name or (proto.output or [""])[0]
        self.domain = "" if proto.domain in _DEFAULT_DOMAINS else proto.domain
        self.inputs, self.outputs = list(proto.input), list(proto.output)
        self.attributes, self.opset = attributes, opset
        self.metadata = {one.key: one.value for one in proto.metadata_props}

    def get(self, name, default=None):
        """Return an attribute: a number, a text, a list of them, an Array, or a callable Body."""
        return self.attributes.get(name, default)

    def __getitem__(self, name):
        """Return an attribute that has to be there."""
        if name not in self.attributes:
            raise Failed("attribute %s is missing" % name)
        return self.attributes[name]

    def wants(self, output):
        """Tell whether somebody reads an output."""
        return output < len(self.outputs) and self.outputs[output] != ""


class Graph(object):
    """Nodes in order, with the tensors that the file holds."""

    def __init__(self, nodes, inputs, outputs, initializers):
        """Take names and nodes; `initializers` are pairs of a name and an Array."""
        self.nodes, self.inputs, self.outputs = nodes, inputs, outputs
        self.initializers = initializers


class Program(object):
    """A model read from its bytes."""

    def __init__(self, data, folder):
        """Decode; tensors whose data lie apart are looked for in a folder."""
        model = decode(ModelProto, data)
        if model.graph is None:
            raise Failed("the model has no graph")
        self.folder = folder
        self.functions = {(f.domain, f.name): f for f in model.functions}
        self.graph = self._graph(model.graph, _opsets(model.opset_import))

    def _graph(self, proto, opsets):
        nodes = [self._node(node, opsets, None) for node in proto.node]
        initializers = [(t.name, arrays.from_proto(t, self.folder)) for t in proto.initializer]
        if proto.sparse_initializer:
            raise Unsupported("sparse initializers")
        return Graph(
            nodes, [i.name for i in proto.input], [o.name for o in proto.output], initializers
        )

    def _node(self, proto, opsets, call):
        attributes = {}
        for one in proto.attribute:
            if one.ref_attr_name:
                if call is not None and one.ref_attr_name in call:
                    attributes[one.name] = call[one.ref_attr_name]
            else:
                attributes[one.name] = self._attribute(one, opsets)
        domain = "" if proto.domain in _DEFAULT_DOMAINS else proto.domain
        return Node(proto, attributes, opsets.get(domain, 1))

    def _attribute(self, proto, opsets):
        kind = proto.type
        if kind == _GRAPH:
            return self._graph(proto.g, opsets)
        if kind == _TENSOR:
            return arrays.from_proto(proto.t, self.folder)
        if kind == _STRING:
            return bytes(proto.s).decode("utf-8", "replace")
        if kind == _STRINGS:
            return [bytes(s).decode("utf-8", "replace") for s in proto.strings]
        plain = {_FLOAT: proto.f, _INT: proto.i, _FLOATS: proto.floats, _INTS: proto.ints}
        return plain.get(kind)

    def function(self, node):
        """Return the graph of an operator that the file defines itself, or None."""
        proto = self.functions.get((node.domain, node.op))
        if proto is None:
            return None
        opsets = _opsets(proto.opset_import)
        call = {one.name: self._attribute(one, opsets) for one in proto.attribute_proto}
        call.update(node.attributes)
        nodes = [self._node(inner, opsets, call) for inner in proto.node]
        return Graph(nodes, list(proto.input), list(proto.output), [])

    def operators(self):
        """Return (domain, name) of each operator that is called, without the file's own."""
        found = set()
        self._collect(self.graph.nodes, found)
        return found

    def _collect(self, nodes, found):
        for node in nodes:
            body = self.function(node)
            if body is not None:
                self._collect(body.nodes, found)
                continue
            found.add((node.domain, node.op))
            for value in node.attributes.values():
                if isinstance(value, Graph):
                    self._collect(value.nodes, found)


def _opsets(imports):
    return {"" if i.domain in _DEFAULT_DOMAINS else i.domain: i.version for i in imports}


class Evaluation(object):
    """One evaluation of a program on a framework's values."""

    def __init__(self, program, framework, watch=None):
        """Take the program, a TableFramework, and who is told (name, value) of each node."""
        self.program, self.framework, self.watch = program, framework, watch

    def run(self, inputs):
        """Return the outputs of the main graph, given values of its inputs by name."""
        return self._graph(self.program.graph, dict(inputs), "", "")

    def _graph(self, graph, values, path, steps):
        for name, array in graph.initializers:
            if name not in values:
                values[name] = self.framework.constant(array)
        last_use = _last_uses(graph)
        for place, node in enumerate(graph.nodes):
            try:
                results = self._node(node, values, path, steps)
            except NodeError:
                raise
            except Exception as failure:
                raise NodeError(node, failure)
            for name, value in zip(node.outputs, results):
                if name:
                    values[name] = value
                    if self.watch is not None:
                        self.watch(path + name + steps, value)
            for name in last_use.get(place, ()):
                values.pop(name, None)
        return [values[name] for name in graph.outputs]

    def _node(self, node, values, path, steps):
        arguments = [values[name] if name else None for name in node.inputs]
        body = self.program.function(node)
        if body is not None:
            given = dict(zip(body.inputs, arguments + [None] * len(body.inputs)))
            return self._graph(body, given, "%s%s/" % (path, node.name), steps)
        row = self.framework.row(node)
        for name, value in list(node.attributes.items()):
            if isinstance(value, Graph):
                inner = "%s%s/%s/" % (path, node.name, name)
                node = _with(node, name, Body(self, value, values, inner, steps))
        results = row(node, *arguments)
        return results if isinstance(results, (tuple, list)) else (results,)


class Body(object):
    """A subgraph that can be called: it sees the values around it."""

    def __init__(self, evaluation, graph, outer, path, steps):
        """Keep what the call needs; inner values are named `path/value#step`."""
        self.evaluation, self.graph, self.outer = evaluation, graph, outer
        self.path, self.steps = path, steps

    def __call__(self, arguments=(), step=None):
        """Return the list of the subgraph's outputs; a loop says which step it is."""
        values = dict(self.outer)
        values.update(zip(self.graph.inputs, arguments))
        steps = self.steps if step is None else "%s#%d" % (self.steps, step)
        return self.evaluation._graph(self.graph, values, self.path, steps)


def _with(node, name, value):
    changed = Node.__new__(Node)
    changed.__dict__.update(node.__dict__)
    changed.attributes = dict(node.attributes)
    changed.attributes[name] = value
    return changed


def _last_uses(graph):
    """Return, for each node, the values that nobody reads after it (subgraphs read anything)."""
    last = {}
    for place, node in enumerate(graph.nodes):
        if any(isinstance(value, Graph) for value in node.attributes.values()):
            return {}
        for name in node.inputs + node.outputs:
            last[name] = place
    dead = {}
    for name, place in last.items():
        if name and name not in graph.outputs:
            dead.setdefault(place, []).append(name)
    return dead
