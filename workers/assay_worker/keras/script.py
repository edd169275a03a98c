"""Writes a model of layers in Keras' own words: the body of a script that needs no Assay."""

import json

import numpy as np

from ..failure import Unsupported
from ..messages import Script
from ..trace import array_source
from .arguments import arguments, parameters
from .layers import (
    ATTENTION_MASK,
    STACKED,
    call_of,
    find_class,
    inputs_of,
    is_built_by_a_call,
    is_cell,
    mask_of,
)

_LINES = 15  # those around them, in a script of 20, are the engine's
# Arguments with which a layer gives a list, also if nobody reads more than its first element.
_MORE_RESULTS = ("return_state", "return_attention_scores")
# What an argument that is None stands for.
_UNSAID = {"activation": "linear", "data_format": "channels_last"}


def write(keras, graph, arrays, variables, kind):
    """Return the Script of a model that computes in a type on given arrays.

    `variables` are the script's names for the values of the graph's inputs and initializers.
    """
    style = keras.style()
    read = _read_variables(graph, arrays)
    lines = _Lines(style, keras, arrays, {name: variables[name] for name in read})
    for name in _called_on(graph, arrays):
        lines.begin(name)
    for node in graph.nodes:
        lines.add(node)
    lines.end(graph.outputs)
    if len(lines.lines) > _LINES:
        raise Unsupported("%d lines of the framework's calls" % len(lines.lines))
    script = Script(imports=style.imports(kind, bool(lines.weighted)), lines=lines.lines)
    script.variables = [variables[name] for name in read]
    script.puts = ["{}"] * len(read)
    return script


def _read_variables(graph, arrays):
    """Return the names of the arrays that layers read, in order."""
    read = [name for node in graph.nodes for name in node.inputs if name in arrays]
    return sorted(set(read), key=read.index)


def _called_on(graph, arrays):
    """Return the names of the arrays that layers are called on, in order."""
    read = [name for node in graph.nodes for name in inputs_of(node)[0] if name in arrays]
    return sorted(set(read), key=read.index)


class _Lines(object):
    """The lines of a script, and how they call the values by then."""

    def __init__(self, style, keras, arrays, variables):
        self.style, self.keras, self.arrays = style, keras, arrays
        self.variables, self.values = variables, dict(variables)
        self.lines, self.given, self.weighted, self.count = [], [], False, 0

    def begin(self, name):
        """Take an array that layers are called on."""
        self.given.append(self.variables[name])
        symbol = self.style.symbol(self.variables[name])
        if symbol:
            self.values[name] = self._named(symbol)

    def add(self, node):
        """Write a layer down, with its weights, and call it."""
        names, weights = inputs_of(node)
        weights = [self.variables[name] for name in weights if name]
        made, called = self._layer(node)
        given = [self.values[name] if name else None for name in names]
        listed, named = call_of(node.op, given, {name: repr(v) for name, v in called.items() if v})
        mask = mask_of(node)
        if mask in self.variables:
            named = dict(named, mask=self.style.mask(self.variables[mask]))
        if ATTENTION_MASK in named:
            named = dict(named, attention_mask=self.style.truth % named[ATTENTION_MASK])
        words = [_text(one) for one in listed]
        words += ["%s=%s" % (name, _text(named[name])) for name in sorted(named)]
        call = "(%s)" % ", ".join(words)
        if weights:
            self.weighted = True
            self.lines.append("layer = " + made)
            before, after = self.style.weights(node.op, call, given[0], "[%s]" % ", ".join(weights))
            self.lines += before
            self._results(node, "layer" + call)
            self.lines += after
        else:
            self._results(node, made + call)

    def end(self, outputs):
        """Make numpy's arrays of the outputs: `found`."""
        self.lines += self.style.end(self.given, [self.values[name] for name in outputs])

    def _results(self, node, call):
        """Give the results of a call names; one that is read once needs none."""
        if is_cell(node.op):
            value = self._named(call)
            sources = ["%s[0]" % value]
            sources += ["%s[1][%d]" % (value, n) for n in range(len(node.outputs) - 1)]
        elif len(node.outputs) > 1 or any(node.get(name) for name in _MORE_RESULTS):
            value = self._named(call)
            sources = ["%s[%d]" % (value, n) for n in range(len(node.outputs))]
        else:
            sources = [self._named(call)]
        self.values.update(zip(node.outputs, sources))

    def _named(self, source):
        self.count += 1
        self.lines.append("v%d = %s" % (self.count, source))
        return "v%d" % self.count

    def _layer(self, node):
        """Return the source that makes a layer, and the arguments of its call."""
        cls = find_class(self.keras.layers, self.keras.base, node.op)
        name, words = node.op, []
        if node.op == STACKED:  # cells on top of each other are what one layer goes over
            cells = ", ".join(self._layer(one)[0] for one in node.attributes["cells"].nodes)
            words.append("%s.%s([%s])" % (self.style.layers, node.op, cells))
            name, cls = "RNN", self.keras.layers.RNN
        made, called = arguments(node, cls, lambda one: _Source(self._layer(one)[0]))
        known = parameters(cls)
        for key, value in made.items():
            default = _UNSAID.get(key) if known[key] is None else known[key]
            if not _is_default(value, default):
                words.append("%s=%s" % (key, _source(value)))
        return "%s.%s(%s)" % (self.style.layers, name, ", ".join(words)), called


class _Source(object):
    """A layer inside another one."""

    def __init__(self, text):
        self.text = text


def _text(value):
    """Return sources of values, in lists or not, as one."""
    return "[%s]" % ", ".join(value) if isinstance(value, list) else value


def _is_default(value, default):
    if isinstance(value, (_Source, np.ndarray)):
        return False
    if isinstance(value, (tuple, list)) and not isinstance(default, (tuple, list)):
        return all(_is_default(one, default) for one in value)
    if isinstance(default, (tuple, list)):
        values = value if isinstance(value, (tuple, list)) else [value] * len(default)
        return len(values) == len(default) and all(map(_is_default, values, default))
    return type(value) in (type(default), float, int) and value == default


def _source(value):
    """Return the source of an argument."""
    if isinstance(value, _Source):
        return value.text
    if isinstance(value, np.ndarray):
        return array_source(value)
    if isinstance(value, (tuple, list)):
        inside = ", ".join(_source(one) for one in value)
        return "(%s,)" % inside if len(value) == 1 else "(%s)" % inside
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, float) and not np.isfinite(value):
        return "float(%s)" % json.dumps(str(value))
    return repr(value)


class EagerStyle(object):
    """Layers that are called on values."""

    def symbol(self, variable):
        """Return what stands for an array in calls, if not the array itself."""

    def mask(self, variable):
        """Return how a call takes a mask."""
        return variable

    def weights(self, op, call, first, weights):
        """Return the lines that give `layer` its weights, before and after it is called."""
        shape = "%s.shape" % first if not first.startswith("v") else "tuple(%s.shape)" % first
        build = "layer" + call if is_built_by_a_call(op) else "layer.build(%s)" % shape
        return [build, "layer.set_weights(%s)" % weights], []


class NewStyle(EagerStyle):
    """Keras 3 on a backend."""

    layers = "keras.layers"
    truth = 'keras.ops.cast(%s, "bool")'

    def __init__(self, below):
        """Take the backend's name."""
        self.below = below

    def imports(self, kind, _):
        """Return the statements that come first."""
        lines = ["import os", 'os.environ["KERAS_BACKEND"] = "%s"' % self.below]
        if self.below == "jax" and kind == "float64":
            lines.append('os.environ["JAX_ENABLE_X64"] = "1"')
        lines.append("import keras")
        return lines + ['keras.config.set_floatx("%s")' % kind] * (kind != "float32")

    def end(self, _, results):
        """Return the line that makes numpy's arrays of results."""
        return ["found = [%s]" % ", ".join("keras.ops.convert_to_numpy(%s)" % v for v in results)]


class TensorFlowStyle(EagerStyle):
    """The Keras inside TensorFlow 2."""

    layers = "tf.keras.layers"
    truth = "tf.cast(%s, tf.bool)"

    def imports(self, kind, _):
        """Return the statements that come first."""
        lines = ["import tensorflow as tf"]
        return lines + ['tf.keras.backend.set_floatx("%s")' % kind] * (kind != "float32")

    def end(self, _, results):
        """Return the line that makes numpy's arrays of results."""
        return ["found = [%s]" % ", ".join(value + ".numpy()" for value in results)]


class OldStyle(object):
    """Keras 2, whose layers are called on symbols."""

    layers = "keras.layers"

    def __init__(self, below, loader):
        """Take the backend's name, and that of the module which reads files."""
        self.below, self.loader = below, loader

    def imports(self, kind, weighted):
        """Return the statements that come first."""
        lines = ["import os", 'os.environ["KERAS_BACKEND"] = "%s"' % self.below, "import keras"]
        if weighted and self.below != "tensorflow":
            lines.append("from keras.engine import %s as reader" % self.loader)
        if kind != "float32":
            lines.append('keras.backend.set_floatx("%s")' % kind)
        if self.below == "theano" and kind != "float64":
            lines += ["import theano", 'theano.config.floatX = "%s"' % kind]
        return lines

    def symbol(self, variable):
        """Return what stands for an array in calls."""
        return "keras.layers.Input(batch_shape={0}.shape, dtype={0}.dtype.name)".format(variable)

    def mask(self, _):
        """Return how a call takes a mask."""
        raise Unsupported("a mask that is an input in Keras 2")

    def weights(self, _op, _call, _first, weights):
        """Return the lines that give `layer` its weights, before and after it is called."""
        if self.below != "tensorflow":  # those of a file that TensorFlow wrote
            ordered = "reader.preprocess_weights_for_loading(layer, %s, keras.__version__, %s)"
            weights = ordered % (weights, '"tensorflow"')
        return [], ["layer.set_weights(%s)" % weights]

    def end(self, given, results):
        """Return the lines that make numpy's arrays of results."""
        symbols = ", ".join("v%d" % (n + 1) for n in range(len(given)))
        model = "keras.models.Model([%s], [%s])" % (symbols, ", ".join(results))
        found = "%s.predict_on_batch([%s])" % (model, ", ".join(given))
        return ["found = " + (found if len(results) > 1 else "[%s]" % found)]
