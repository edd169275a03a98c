"""A node as a real layer of the installed Keras: which class, which of its inputs are weights."""

import numpy as np

from ..failure import Failed, Unsupported
from .arguments import arguments

DOMAIN = "keras"
# These run code or read files that a model names.
_REFUSED = (
    "FlaxLayer", "JaxLayer", "Lambda", "Layer", "TFSMLayer", "TorchModuleWrapper", "Wrapper",
)  # fmt: skip
# Layers of a list of inputs; they have no weights.
_LISTS = (
    "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract",
)  # fmt: skip
# Query, value and key: some layers take them as a list.
_ATTENTION = ("Attention", "AdditiveAttention", "MultiHeadAttention", "GroupQueryAttention")
# These take them one by one.
_HEADS = ("MultiHeadAttention", "GroupQueryAttention")
# The layer of cells on top of each other is one around the class of this name.
STACKED = "StackedRNNCells"
# Inputs before the weights, where there is more than one.
_INPUTS = {"SimpleRNN": 2, "GRU": 2, "LSTM": 3, "SimpleRNNCell": 2, "GRUCell": 2, "LSTMCell": 3}
_INPUTS.update((name, 4 if name in _HEADS else 3) for name in _ATTENTION)
# Which queries may look at which keys: the last input of those, by name in a call.
ATTENTION_MASK = "attention_mask"


def find_class(module, base, name):
    """Return the class of a layer, or say that there is none."""
    found = getattr(module, name, None)
    usable = isinstance(found, type) and issubclass(found, base) and name not in _REFUSED
    if not usable:
        raise Unsupported("%s.%s" % (DOMAIN, name))
    return found


def masks(node):
    """Return how many inputs of a node are masks: they come last, and with the input in Keras."""
    return bin(node.get("masked") or 0).count("1")


def inputs_of(node):
    """Return the names of what a layer is called on, and of its weights."""
    given = node.inputs[: len(node.inputs) - masks(node)]
    first = len(given) if node.op in _LISTS else _INPUTS.get(node.op, 1)
    return given[:first], given[first:]


def mask_of(node):
    """Return the name of the mask of a layer's only input, if it has one."""
    several = node.op in _LISTS or node.op in _ATTENTION
    return node.inputs[-1] if masks(node) == 1 and not several else None


def is_built_by_a_call(op):
    """Tell whether the shape of one input is not enough to make a layer's weights."""
    return op in _ATTENTION


def call_of(op, given, called):
    """Return what a layer takes when it is called: a list in order, and a dictionary by name.

    `given` are its inputs, None where there is none; `called` are arguments of the call.
    """
    if op in _HEADS and len(given) == _INPUTS[op] and given[-1] is not None:
        called = dict(called, **{ATTENTION_MASK: given[-1]})
    states = [one for one in given[1 : 3 if op in _HEADS else None] if one is not None]
    if op in _LISTS:
        return [given], {}
    if op in _HEADS:
        return [given[0]] + states, called
    if op in _ATTENTION:
        return [[given[0]] + states], called
    if is_cell(op):
        return [given[0]], {"states": states}
    return [given[0]], dict(called, initial_state=states) if states else called


def is_cell(op):
    """Tell whether a layer gives its output, and beside it what it keeps."""
    return op.endswith("Cell")


def _flat(made):
    """Yield tensors in lists of lists: the states of cells on top of each other lie so."""
    if not isinstance(made, (list, tuple)):
        yield made
        return
    for one in made:
        for tensor in _flat(one):
            yield tensor


class Layer(object):
    """A layer, with its weights as soon as it is called."""

    def __init__(self, node, keras, kind):
        """Make the real layer; `kind` is the type of what it computes."""
        self.node, self.keras = node, keras
        self.real, self.called = self._make(node, kind)
        self.inputs, self.weights = inputs_of(node)
        self.mask = mask_of(node)

    def _make(self, node, kind):
        def inner(one):
            return self._make(one, kind)[0]

        cls = find_class(self.keras.layers, self.keras.base, node.op)
        if node.op == STACKED:
            cells = cls([inner(one) for one in node.attributes["cells"].nodes], dtype=kind)
            made, called = arguments(node, self.keras.layers.RNN, inner)
            return self.keras.layers.RNN(cells, dtype=kind, **made), called
        made, called = arguments(node, cls, inner)
        return cls(dtype=kind, **made), called

    def call(self, values, constants):
        """Return what the layer makes of the values, a list; its weights are among `constants`."""
        given = [values[name] if name else None for name in self.inputs]
        if self.weights and not self.keras.is_ready(self.real):
            if is_built_by_a_call(self.node.op):
                self._call(given)
            else:
                self.keras.build(self.real, given[0])
            self._set_weights([constants(name) for name in self.weights if name])
        return list(_flat(self._call(given, values.get(self.mask))))

    def forget(self):
        """Start from no state, as a model does that was just read."""
        if getattr(self.real, "stateful", False) and self.real.built:
            reset = getattr(self.real, "reset_states", None) or self.real.reset_state
            reset()

    def _call(self, given, mask=None):
        listed, named = call_of(self.node.op, given, self.called)
        if mask is not None:  # an input of the model, which no layer passes on
            named = dict(named, mask=mask)
        if ATTENTION_MASK in named:
            named = dict(named, attention_mask=self.keras.truth(named[ATTENTION_MASK]))
        made = self.real(*listed, **named)
        return [made[0]] + list(made[1]) if is_cell(self.node.op) else made

    def _set_weights(self, given):
        expected = [np.shape(one) for one in self.real.get_weights()]
        if [one.shape for one in given] != expected:
            shapes = ", ".join(str(shape) for shape in expected) or "none"
            raise Failed("its weights have to be of the shapes %s" % shapes)
        self.keras.set_weights(self.real, given)
