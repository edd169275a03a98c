"""Keras 2, whose layers are called on symbols: on TensorFlow, Theano or CNTK."""

import os

import numpy as np

from ..failure import Failed
from .place import guarded
from .script import OldStyle

# The order of a kernel's elements in the files of one is not that of another's.
_WRITTEN_BY = "tensorflow"


class OldKeras(object):
    """Keras 2 on what $KERAS_BACKEND names."""

    def __init__(self, keras, below, seed):
        """Take the module, and what it runs on."""
        np.random.seed(seed % 2**32)
        keras.backend.set_image_data_format("channels_last")
        self.keras, self.layers, self.base = keras, keras.layers, keras.layers.Layer
        self.version = "%s (%s)" % (keras.__version__, below)
        self.reorder = _loader().preprocess_weights_for_loading
        self.symbols, self.functions, self.of = {}, {}, None

    def prepare(self, kind):
        """Compute in a type, and forget the models before."""
        if hasattr(self.keras.backend, "clear_session"):
            self.keras.backend.clear_session()
        self.keras.backend.set_floatx(kind)
        if os.environ["KERAS_BACKEND"] == "theano":
            import theano

            theano.config.floatX = kind
        self.of = None

    def style(self):
        """Return how scripts are written."""
        return OldStyle(os.environ["KERAS_BACKEND"], _loader().__name__.rpartition(".")[2])

    def is_ready(self, layer):
        """Tell whether a layer has its weights."""
        return layer.built

    def build(self, layer, first):
        """Let a layer make its weights for its first input."""
        layer.build(self.keras.backend.int_shape(first))
        layer.built = True

    def set_weights(self, layer, arrays):
        """Give a layer its weights as Keras does when it reads a file that TensorFlow wrote."""
        layer.set_weights(self.reorder(layer, list(arrays), self.keras.__version__, _WRITTEN_BY))

    def run(self, layers, given, constant, wanted):
        """Return the values that are wanted by name."""
        if self.of is not layers:
            self._connect(layers, given, constant)
        missing = [name for name in wanted if name not in self.symbols and name not in given]
        if missing:
            raise Failed("no layer makes %s" % ", ".join(missing))
        plain = [name for name in wanted if name in given]
        made = [name for name in wanted if name not in given]
        try:
            found = self._predict(tuple(made), given) if made else []
        except Exception:
            self._find_failure(layers, given)
            raise
        values = dict(zip(made, found))
        values.update((name, given[name]) for name in plain)
        return values

    def _connect(self, layers, given, constant):
        """Call the layers on symbols."""
        read = {name for layer in layers for name in layer.inputs}
        self.functions, self.inputs = {}, [name for name in given if name in read]
        stateful = any(getattr(layer.real, "stateful", False) for layer in layers)
        self.symbols = {
            name: self.layers.Input(
                batch_shape=(given[name].shape[0] if stateful else None,) + given[name].shape[1:],
                dtype=given[name].dtype.name,
            )
            for name in self.inputs
        }
        for layer in layers:
            with guarded(layer.node):
                made = layer.call(self.symbols, constant)
                self.symbols.update(zip(layer.node.outputs, made))
        self.of = layers

    def _predict(self, names, given):
        if names not in self.functions:
            inputs = [self.symbols[name] for name in self.inputs]
            outputs = [self.symbols[name] for name in names]
            self.functions[names] = self.keras.models.Model(inputs, outputs)
        found = self.functions[names].predict_on_batch([given[name] for name in self.inputs])
        return found if len(names) > 1 else [found]

    def _find_failure(self, layers, given):
        """Ask for one layer after the other, to say which of them fails."""
        for layer in layers:
            with guarded(layer.node):
                self._predict((layer.node.outputs[0],), given)


def _loader():
    """Return the module that reads weights."""
    try:
        from keras.engine import saving

        return saving
    except ImportError:
        from keras.engine import topology

        return topology
