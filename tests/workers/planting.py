"""Plants a defect in a model: one of its nodes is rewritten into what a bug would compute."""

import os

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

FLOAT, HALF = 1, 10  # the standard's numbers of types


class NotHereError(Exception):
    """A defect does not apply to a node."""


class Defect:
    """What is wrong with the results of an operator."""

    def __init__(self, operators, rewrite):
        """Take names of operators and a function over a Site; its name is the defect's."""
        self.name = rewrite.__name__.replace("_", "-")
        self.operators, self.rewrite = operators, rewrite


class Fusion:
    """A defect of two neighbours' kernel: gone as soon as somebody looks at the value between."""

    def __init__(self, first, second, rewrite):
        """Take two operators and what then is wrong with the second one's result."""
        self.name = f"fused-{first}-{second}-{rewrite.__name__}".replace("_", "-")
        self.first, self.operators, self.rewrite = first, (second,), rewrite


DEFECTS = {}


def defect(*operators):
    """Register a function as a defect of some operators."""

    def mark(rewrite):
        one = Defect(operators, rewrite)
        DEFECTS[one.name] = one
        return rewrite

    return mark


def fused(first, second, rewrite):
    """Register a defect as one of a fused pair."""
    one = Fusion(first, second, rewrite)
    DEFECTS[one.name] = one


class Graph:
    """A model with its constants and with who makes and reads each value."""

    def __init__(self, data):
        """Decode."""
        self.model = ModelProto.FromString(bytes(data))
        self.graph = self.model.graph
        self.tensors = {one.name: one for one in self.graph.initializer}
        self.makers, self.readers = {}, {}
        for node in self.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.tensors[node.output[0]] = node.attribute[0].t
            for name in node.output:
                self.makers[name] = node
            for name in node.input:
                self.readers[name] = self.readers.get(name, 0) + 1
        self.outputs = {one.name for one in self.graph.output}

    def sites(self, name):
        """Return the first outputs of the nodes that a defect applies to."""
        found = []
        for node in self.graph.node:
            if node.op_type not in DEFECTS[name].operators:
                continue
            try:
                Site(self, node, DEFECTS[name], ()).rewritten()
            except NotHereError:
                continue
            found.append(node.output[0])
        return found


class Site:
    """A node that a defect rewrites. What it needs of the model has to be known without running."""

    def __init__(self, graph, node, defect, watched):
        """Take a node of a Graph, and which values somebody looks at."""
        self.graph, self.defect, self.watched = graph, defect, watched
        self.node, self.nodes, self.tensors = NodeProto(), [], []
        self.node.CopyFrom(node)

    def rewritten(self):
        """Return the nodes that stand for the node; the new tensors are in `tensors`."""
        if isinstance(self.defect, Fusion):
            self._find_first()
        result = self.defect.rewrite(self)
        if result is None:
            return [*self.nodes, self.node]
        self.emit("Identity", [result], self.node.output[0])
        return self.nodes

    def _find_first(self):
        """Look for the pair's first node: its value must have no other reader, and no watcher."""
        for name in self.node.input:
            maker = self.graph.makers.get(name)
            alone = self.graph.readers.get(name) == 1 and name not in self.graph.outputs
            pair = maker is not None and maker.op_type == self.defect.first
            if pair and alone and name not in self.watched:
                self.first = maker
                return
        raise NotHereError

    # What rewrites read.

    def need(self, condition):
        """Give up where something is not so."""
        if not condition:
            raise NotHereError

    def get(self, name, default=None):
        """Return an attribute."""
        for one in self.node.attribute:
            if one.name == name:
                return helper.get_attribute_value(one)
        return default

    def held(self, index):
        """Tell whether the model itself holds an input."""
        return index < len(self.node.input) and self.node.input[index] in self.graph.tensors

    def weight(self, index):
        """Return an input that the model holds."""
        self.need(self.held(index))
        return self.tensor(self.node.input[index])

    def tensor(self, name):
        """Return what the model holds under a name."""
        self.need(name in self.graph.tensors)
        return numpy_helper.to_array(self.graph.tensors[name])

    # What rewrites write.

    def set(self, name, value):
        """Give an attribute another value."""
        kept = [one for one in self.node.attribute if one.name != name]
        del self.node.attribute[:]
        self.node.attribute.extend([*kept, helper.make_attribute(name, value)])

    def put(self, array):
        """Return the name of a new tensor."""
        name = f"{self.node.output[0]}/planted_{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def put_weight(self, index, array):
        """Give an input another value."""
        old = self.weight(index)
        self.need(array.shape == old.shape and not np.array_equal(array, old))
        self.node.input[index] = self.put(array.astype(old.dtype))

    def emit(self, op, inputs, output=None, **attributes):
        """Add a node and return its result's name."""
        output = output or f"{self.node.output[0]}/step_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def in_half(self, name):
        """Return the name of a value rounded to 16 bits."""
        return self.emit("Cast", [self.emit("Cast", [name], to=HALF)], to=FLOAT)

    def result(self):
        """Add the node as it is and return its first result's name."""
        output = f"{self.node.output[0]}/step_{len(self.nodes)}"
        node = NodeProto()
        node.CopyFrom(self.node)
        node.output[0] = output
        self.nodes.append(node)
        return output


def planted(data, name, value, watched=()):
    """Return a model's bytes with a defect where `value` is made; as they are if it is not."""
    graph = Graph(data)
    place = next((i for i, n in enumerate(graph.graph.node) if value in n.output), None)
    if place is None or graph.graph.node[place].op_type not in DEFECTS[name].operators:
        return bytes(data)
    site = Site(graph, graph.graph.node[place], DEFECTS[name], watched)
    try:
        nodes = site.rewritten()
    except NotHereError:
        return bytes(data)
    all_nodes = list(graph.graph.node)
    del graph.graph.node[:]
    graph.graph.node.extend(all_nodes[:place] + nodes + all_nodes[place + 1 :])
    graph.graph.initializer.extend(site.tensors)
    return graph.model.SerializeToString()


def asked():
    """Return the defect and the value that the variable PLANTED names: `defect@value`."""
    name, _, value = os.environ.get("PLANTED", "").partition("@")
    return name, value
