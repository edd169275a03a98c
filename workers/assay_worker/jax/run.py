"""JAX: operator by operator, or the whole model under jax.jit."""

import os
import tempfile

import numpy as np

from .. import arrays, xla
from ..failure import Unsupported
from ..framework import TableFramework, limit_threads

# Rows that look at no value of their inputs, so that what they give is known under jit.
_SHAPE_ONLY = ("Shape", "Size", "EyeLike")


class Jax(TableFramework):
    """Rows over jax.Array."""

    name = "jax"
    modes = ("", "jit")
    compiler_options = None
    rows_modules = (
        "rows_math",
        "rows_reduce",
        "rows_shape",
        "rows_index",
        "rows_neural",
        "rows_norm",
        "rows_signal",
        "rows_sequence",
        "rows_quantize",
    )

    def import_root(self, threads, seed):
        """Import JAX for the host, with its 64-bit types."""
        limit_threads(threads)
        os.environ["JAX_PLATFORMS"] = "cpu"
        if threads > 0:
            os.environ["NPROC"] = str(threads)
        if threads == 1:
            flags = os.environ.get("XLA_FLAGS", "")
            os.environ["XLA_FLAGS"] = flags + " --xla_cpu_multi_thread_eigen=false"
        import jax
        import jax.image
        import jax.numpy
        import jax.scipy.ndimage
        import jax.scipy.signal
        import jax.scipy.special

        jax.config.update("jax_enable_x64", True)
        arrays.take_ml_dtypes()
        from . import parts

        parts.SEED[0] = seed
        self.parts, self.record = parts, None
        return jax

    def passes(self, data, folder, inputs):
        """Compile the model once more, with a dump after each change."""
        if not self.mode:
            return TableFramework.passes(self, data, folder, inputs)
        dumps = tempfile.mkdtemp(prefix="assay-xla-")
        self.plain, self.compiler_options = False, dict(zip(xla.DUMP, (dumps, ".*")))
        try:
            self.load(data, folder).run(inputs, [], False)
        except self.root.errors.JaxRuntimeError:  # the dumps say how far it came
            pass
        finally:
            self.compiler_options, (changed, others) = None, xla.take_dumped(dumps)
        return changed, others

    def keep_away(self, passes):
        """Name them to the compiler."""
        self.compiler_options = {xla.DISABLE: ",".join(passes)} if passes else None

    def _jit(self, function):
        """Compile with options, which older releases take in another place."""
        options = self.compiler_options
        if options is None:
            return self.root.jit(function)
        try:
            return self.root.jit(function, compiler_options=options)
        except TypeError:
            jitted = self.root.jit(function)
        ready = {}

        def run(given):
            if not ready:
                ready["it"] = jitted.lower(given).compile(compiler_options=options)
            return ready["it"](given)

        return run

    def put(self, array):
        """Copy: the bytes are the engine's, and JAX would keep them."""
        elements = array.numpy()
        if elements.dtype == object:
            raise Unsupported("string tensors")
        try:
            return self.root.numpy.array(elements)
        except TypeError:
            raise Unsupported("%s tensors" % arrays.TYPE_NAMES[array.type])

    def constant(self, array):
        """Keep a tensor of the file known under jit."""
        with self.root.ensure_compile_time_eval():
            return self.put(array)

    def take(self, value):
        """Return an array's elements."""
        return arrays.from_numpy(np.asarray(value))

    def signature(self, value):
        """Return what a compiled function depends on."""
        if value is None or isinstance(value, list):
            return None if value is None else tuple(self.signature(one) for one in value)
        return str(value.dtype), tuple(value.shape)

    def row(self, node):
        """Return the row of a node, which under jit takes care of what has to be known."""
        row = TableFramework.row(self, node)
        if self.record is None or node.op in self.control:
            return row

        def watched(given, *inputs):
            return self.record.call(row, given, inputs)

        return watched

    def compiled(self, function, inputs):
        """Compile the whole model for the values of the inputs that rows have to know."""
        known, ready = [], {}

        def run(given):
            key = tuple(repr(given[name].tolist()) for name in known)
            if key not in ready:
                static, ready[key] = self._compile(function, given)
                if any(name not in known for name in static):
                    known.extend(name for name in static if name not in known)
                    latest = ready[key]
                    ready.clear()
                    ready[tuple(repr(given[name].tolist()) for name in known)] = latest
                    return latest(given)
            return ready[key](given)

        return run

    def _compile(self, function, inputs):
        """Return the names of the inputs that were asked for, and a function of all of them."""
        try:
            self.record = Record(self, inputs)
            function(inputs)  # plainly, to see what is asked for
            record, self.record = self.record, None
        finally:
            self.record = None
            self.parts.ASKED[0] = None
        static = {name: inputs[name] for name in record.inputs}

        def traced(rest):
            values = dict(static)
            values.update(rest)
            self.record = record
            try:
                return function(values)
            finally:
                self.record = None

        record.tracing = True
        compiled = self._jit(traced)
        return static, lambda given: compiled(
            {name: value for name, value in given.items() if name not in static}
        )

    def tracing(self):
        """Write the functions of JAX and the methods of its arrays."""
        from .script import JaxTracing

        return JaxTracing(self.root, self.mode)

    def truth(self, value):
        """Return a tensor of one boolean as Python's."""
        return bool(self.parts.known(value)[0])

    def count(self, value):
        """Return a tensor of one number as Python's."""
        return int(self.parts.known(value)[0])

    def whole(self, number, kind):
        """Return a Python number as a tensor, known under jit."""
        with self.root.ensure_compile_time_eval():
            return self.root.numpy.array(number, "bool" if kind is bool else "int64")

    def stack(self, values, axis):
        """Return tensors of one shape along a new axis."""
        return self.root.numpy.stack(values, axis)

    def extent(self, value, axis):
        """Return how long an axis is."""
        return value.shape[axis]

    def pick(self, value, axis, index):
        """Return one slice of an axis."""
        return self.root.lax.index_in_dim(value, index, axis, keepdims=False)


class Record(object):
    """Which inputs and nodes the rows of a model have to know the values of.

    In the first, plain evaluation it follows where each value comes from. When jit traces the
    model, the nodes noted are evaluated at once; all others become part of the compiled function.
    """

    def __init__(self, framework, inputs):
        """Begin with the inputs, each of which comes from itself."""
        self.framework, self.tracing = framework, False
        self.inputs, self.nodes, self.origins = set(), set(), {}
        for name, value in inputs.items():
            if hasattr(value, "dtype"):
                self.origins[id(value)] = (value, {name}, set())
        framework.parts.ASKED[0] = self.ask

    def ask(self, value):
        """Note that a row reads a value."""
        if id(value) in self.origins:
            _, inputs, nodes = self.origins[id(value)]
            self.inputs |= inputs
            self.nodes |= nodes

    def call(self, row, node, inputs):
        """Run a row."""
        key = (node.op, tuple(node.outputs))
        if self.tracing:
            return self._trace(row, key, node, inputs)
        results = row(node, *inputs)
        names, keys = set(), {key}
        for value in inputs:
            if id(value) in self.origins:
                _, before, nodes = self.origins[id(value)]
                keys |= nodes
                if node.op not in _SHAPE_ONLY:
                    names |= before
        for value in results if isinstance(results, tuple) else (results,):
            self.origins[id(value)] = (value, names, keys)
        return results

    def _trace(self, row, key, node, inputs):
        jax = self.framework.root
        self.origins.clear()
        try:
            if key in self.nodes:
                with jax.ensure_compile_time_eval():
                    return row(node, *inputs)
            return row(node, *inputs)
        except (jax.errors.ConcretizationTypeError, jax.errors.NonConcreteBooleanIndexError):
            raise Unsupported("a shape that depends on values, under jit")


FRAMEWORK = Jax
