"""TensorFlow Lite: TensorFlow's table traced, converted, and run by the LiteRT interpreter."""

import importlib
import re

from .. import control, table
from ..failure import Failed, Unsupported
from ..framework import LoadedProgram, recorder
from ..tensorflow.run import TensorFlow


class TFLite(TensorFlow):
    """Rows over tf.Tensor, which only say what is to be converted."""

    name = "tflite"
    modes = ("",)

    def start(self, threads, seed):
        """Import tensorflow, its rows, and the interpreter."""
        self.root = self.import_root(threads, seed)
        # The other way around the two libraries wait for each other.
        from ai_edge_litert import interpreter

        self.interpreter = interpreter
        self.threads = threads if threads > 0 else None
        package = TensorFlow.__module__.rpartition(".")[0]
        modules = [importlib.import_module(package + "." + name) for name in self.rows_modules]
        self.rows, self.missing = table.collect(modules, self.root, self.root.__version__)
        self.control = control.rows(self)

    def version(self):
        """Return the interpreter's version: it is what computes."""
        import ai_edge_litert

        return getattr(ai_edge_litert, "__version__", self.root.__version__)

    def tracing(self):
        """Write TensorFlow's functions, and their conversion."""
        from ..tensorflow.script import LiteTracing

        return LiteTracing(self.root, "lite")

    def loaded(self, program):
        """Return a program whose conversion waits for the inputs' shapes."""
        return LoadedLite(self, program)


class LoadedLite(LoadedProgram):
    """A program that is converted for inputs of one kind."""

    def run(self, inputs, outputs, hidden):
        """Convert once for inputs of one kind, and for what is wanted of them."""
        given = {name: self.put(value) for name, value in inputs.items()}
        graph = self.program.graph
        absent = [n for n in graph.inputs if n not in given and n not in self.constants]
        if absent:
            raise Failed("no value for input %s" % ", ".join(absent))
        if any(value is None or isinstance(value, list) for value in given.values()):
            raise Unsupported("sequences and optional values")
        signature = self.framework.signature
        watched = (hidden.hidden, hidden.names, hidden.folders)
        key = watched + tuple(sorted((n, signature(v)) for n, v in given.items()))
        if key not in self.compiled:
            self.compiled[key] = self._traced(hidden)
        values = self.compiled[key](given)
        wanted = outputs or graph.outputs
        results = {name: self._take(values[name]) for name in wanted}
        seen = {n[1:]: self._take(v) for n, v in values.items() if n[:1] == "\0"}
        return results, seen

    def _traced(self, hidden):
        """Return a function of the inputs; inner values are named behind a zero byte."""
        from ..tensorflow.run import Traced

        def function(given):
            seen = {}
            values = self._evaluate(given, recorder(hidden, seen))
            values.update(("\0" + name, value) for name, value in seen.items())
            return values

        return Traced(self.framework, function, self._build)

    def _build(self, function, inputs):
        """Return the converted model as a function; it is made in the first call."""
        return _Converted(self.framework, function)


class _Converted(object):
    """A model in the interpreter."""

    def __init__(self, framework, function):
        self.framework, self.function, self.runner = framework, function, None

    def __call__(self, inputs):
        names = sorted(inputs)
        if self.runner is None:
            self._convert(inputs, names)
        if not self.outputs:
            return {}
        keys = self.runner.get_input_details()  # those that nothing reads may be gone
        given = {"in_%d" % number: inputs[name].numpy() for number, name in enumerate(names)}
        found = _refusing(lambda: self.runner(**{key: given[key] for key in keys}))
        return {name: found["out_%d" % number] for number, name in enumerate(self.outputs)}

    def _convert(self, inputs, names):
        tf = self.framework.root
        self.outputs = []

        def flat(*tensors):
            results = self.function(dict(zip(names, tensors)))
            self.outputs[:] = sorted(results)
            if any(value.dtype.name in ("int4", "uint4") for value in results.values()):
                raise Unsupported("int4 tensors")  # numpy gets them as int8
            # Each output is a tensor of its own: the converter joins equal ones.
            return {
                "out_%d" % number: tf.identity(results[name])
                for number, name in enumerate(self.outputs)
            }

        specs = [
            tf.TensorSpec(inputs[name].shape, inputs[name].dtype, name="in_%d" % number)
            for number, name in enumerate(names)
        ]
        concrete = tf.function(flat, autograph=False).get_concrete_function(*specs)
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
        data = _refusing(converter.convert)
        runner = self.framework.interpreter.Interpreter(
            model_content=data, num_threads=self.framework.threads
        )
        _refusing(runner.allocate_tensors)
        self.runner = runner.get_signature_runner()


def _refusing(step):
    """Do a step; what the converter or interpreter has no operator for is a lack."""
    try:
        return step()
    except Exception as failure:
        text = str(failure)
        found = re.search(r"(?:TF Select|Custom) ops: ([\w, ]+)", text)
        found = found or re.search(r"'(tf\.\w+)' op is neither", text)
        if found:
            raise Unsupported("%s in TFLite" % found.group(1).strip())
        if type(failure).__name__ == "ConverterError":
            raise Unsupported("conversion: %s" % " ".join(text.split())[:80])
        if "for INT4 input" in text or "is unsupported by op" in text:
            raise Unsupported("TFLite: %s" % " ".join(text.split())[:100])
        if "failed to prepare" in text and "not supported" in text:
            raise Unsupported("TFLite: %s" % " ".join(text.split())[:100])
        raise


FRAMEWORK = TFLite
