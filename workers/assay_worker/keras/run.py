"""Keras: every layer of a model is the real one, called in order."""

import os

import numpy as np

from ..arrays import from_numpy
from ..failure import Failed, Unsupported
from ..framework import Framework, Loaded, limit_threads
from ..program import Program
from .below import set_up
from .eager import NewKeras, TensorFlowKeras
from .layers import DOMAIN, Layer, find_class, masks
from .place import guarded
from .script import write
from .symbolic import OldKeras

_FLOATS = ("float16", "float32", "float64")


class Keras(Framework):
    """Whichever Keras is installed; $KERAS_BACKEND names what it runs on."""

    name = "keras"

    def start(self, threads, seed):
        """Import it; which one it is decides how layers are called."""
        limit_threads(threads)
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        below = set_up(threads)
        if os.environ["KERAS_BACKEND"] == "tf.keras":
            import tensorflow

            self.name, self.keras = "tf.keras", TensorFlowKeras(tensorflow, seed)
            return
        import keras

        kind = NewKeras if keras.__version__.startswith("3") else OldKeras
        self.keras = kind(keras, below, seed)

    def version(self):
        """Return the version of Keras and what it runs on."""
        return self.keras.version

    def operators(self, names):
        """Return which of the layers that are asked for there are."""
        found, missing = [], {"*": "Keras runs layers, not the standard's operators"}
        for name in names:
            domain, _, layer = name.rpartition(".")
            if domain != DOMAIN:
                continue
            try:
                find_class(self.keras.layers, self.keras.base, layer)
                found.append(name)
            except Unsupported:
                missing[name] = "this Keras has no such layer"
        return found, missing

    def load(self, data, folder):
        """Read the model; say all that is lacking at once."""
        program = Program(data, folder)
        _leave_out_masks(program.graph)
        lacking = []
        for domain, op in sorted(program.operators()):
            try:
                if domain != DOMAIN:
                    raise Unsupported("%s.%s" % (domain, op) if domain else op)
                find_class(self.keras.layers, self.keras.base, op)
            except Unsupported as lack:
                lacking.append(str(lack))
        if lacking:
            raise Unsupported(", ".join(lacking))
        return LoadedModel(self.keras, program)


class LoadedModel(Loaded):
    """A model whose layers are made when the shapes of its inputs are known."""

    def __init__(self, keras, program):
        """Keep the weights as arrays."""
        self.keras, self.graph = keras, program.graph
        self.held = dict(program.graph.initializers)
        self.shapes, self.weights, self.layers = None, {}, []

    def run(self, inputs, outputs, hidden):
        """Call the layers one after the other."""
        # A copy: the bytes are the engine's, and not aligned for all.
        given = {name: np.array(one.numpy()) for name, one in inputs.items()}
        absent = [n for n in self.graph.inputs if n not in given and n not in self.held]
        if absent:
            raise Failed("no value for input %s" % ", ".join(absent))
        self._make_if_new(given)

        def constant(name):
            return given[name] if name in given else self.held[name].numpy()

        for layer in self.layers:
            layer.forget()
        wanted = list(outputs or self.graph.outputs)
        names = [n for layer in self.layers for n in layer.node.outputs if n and hidden.wants(n)]
        found = self.keras.run(self.layers, given, constant, wanted + names)
        values = {name: from_numpy(np.asarray(one)) for name, one in found.items()}
        return {name: values[name] for name in wanted}, {name: values[name] for name in names}

    def _make_if_new(self, given):
        """Make the layers again for inputs of other shapes, or for other weights among them."""
        shapes = {name: (one.shape, one.dtype) for name, one in given.items()}
        same = all(np.array_equal(given.get(n), one) for n, one in self.weights.items())
        if shapes == self.shapes and same:
            return
        self.shapes = None
        self._make(given)
        names = {n for layer in self.layers for n in layer.weights}
        self.shapes, self.weights = shapes, {n: given[n] for n in given if n in names}

    def _make(self, given):
        self.layers = []
        kind = self._kind(given)
        self.keras.prepare(kind)
        for node in self.graph.nodes:
            with guarded(node):
                self.layers.append(Layer(node, self.keras, kind))

    def script(self, inputs, variables):
        """Write the layers down; none of them is called."""
        arrays = {name: one.numpy() for name, one in self.held.items()}
        arrays.update((name, one.numpy()) for name, one in inputs.items())
        return write(self.keras, self.graph, arrays, variables, self._kind(arrays))

    def _kind(self, given):
        """Return the type in which the model computes: that of the first real number in it."""
        arrays = list(given.values()) + [one.numpy() for one in self.held.values()]
        return next((one.dtype.name for one in arrays if one.dtype.name in _FLOATS), "float32")


def _leave_out_masks(graph):
    """Take out the operators that compute masks: Keras passes its own on with the values."""
    read = set(graph.outputs)
    for node in reversed(list(graph.nodes)):
        if node.domain != DOMAIN and not read.intersection(node.outputs):
            graph.nodes.remove(node)
            continue
        read.update(node.inputs[: len(node.inputs) - masks(node)])


if os.environ.get("KERAS_BACKEND") == "cntk":
    from .cntk import start_again_with_libraries

    start_again_with_libraries()

FRAMEWORK = Keras
