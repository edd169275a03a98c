"""Keras whose layers are called on values: Keras 3, and the one inside TensorFlow 2."""

import os

from ..failure import Failed
from .place import guarded
from .script import NewStyle, TensorFlowStyle


class EagerKeras(object):
    """What both have in common."""

    def is_ready(self, layer):
        """Tell whether a layer has its weights."""
        return layer.built

    def build(self, layer, first):
        """Let a layer make its weights for its first input."""
        layer.build(tuple(first.shape))
        layer.built = True

    def set_weights(self, layer, arrays):
        """Give a layer its weights."""
        layer.set_weights(arrays)

    def run(self, layers, given, constant, wanted):
        """Return the values that are wanted by name."""
        values = {name: self.put(one) for name, one in given.items()}
        for layer in layers:
            for name in layer.inputs:
                if name and name not in values:
                    values[name] = self.put(constant(name))
            with guarded(layer.node):
                made = layer.call(values, constant)
                values.update(zip(layer.node.outputs, made))
        missing = [name for name in wanted if name not in values]
        if missing:
            raise Failed("no layer makes %s" % ", ".join(missing))
        return {name: self.take(values[name]) for name in wanted}


class NewKeras(EagerKeras):
    """Keras 3 on what $KERAS_BACKEND names."""

    def __init__(self, keras, below, seed):
        """Take the module, and what it runs on."""
        keras.config.set_image_data_format("channels_last")
        keras.utils.set_random_seed(seed % 2**32)
        self.keras, self.layers, self.base = keras, keras.layers, keras.layers.Layer
        self.version = "%s (%s)" % (keras.__version__, below)

    def prepare(self, kind):
        """Compute in a type."""
        self.keras.config.set_floatx(kind)

    def put(self, array):
        """Return an array as a tensor of the same type."""
        return self.keras.ops.convert_to_tensor(array, dtype=array.dtype.name)

    def truth(self, value):
        """Return what of a tensor is not zero."""
        return self.keras.ops.cast(value, "bool")

    def style(self):
        """Return how scripts are written."""
        return NewStyle(os.environ["KERAS_BACKEND"])

    def take(self, value):
        """Return a tensor's elements."""
        return self.keras.ops.convert_to_numpy(value)


class TensorFlowKeras(EagerKeras):
    """The Keras inside TensorFlow 2."""

    def __init__(self, tf, seed):
        """Take the module of TensorFlow."""
        tf.random.set_seed(seed % 2**32)
        self.root, self.layers, self.base = tf, tf.keras.layers, tf.keras.layers.Layer
        tf.keras.backend.set_image_data_format("channels_last")
        self.version = tf.__version__

    def prepare(self, kind):
        """Compute in a type."""
        self.root.keras.backend.set_floatx(kind)

    def put(self, array):
        """Return an array as a tensor."""
        return self.root.constant(array)

    def truth(self, value):
        """Return what of a tensor is not zero."""
        return self.root.cast(value, self.root.bool)

    def style(self):
        """Return how scripts are written."""
        return TensorFlowStyle()

    def take(self, value):
        """Return a tensor's elements."""
        return self.root.convert_to_tensor(value).numpy()
