"""TensorFlow: eager, or compiled as a whole with XLA."""

import os
import re
import tempfile

import numpy as np

from .. import arrays, xla
from ..arrays import TYPE_NAMES, from_numpy
from ..failure import Restart, Unsupported
from ..framework import TableFramework, limit_threads

# What TensorFlow says when it has no kernel for a type or a device: a lack, not a defect.
_LACKS = (
    "Could not find device for node", "No OpKernel was registered", "No registered",
    "in list of allowed values", "in the list of allowed values", "not compilable",
    "Detected unsupported operations", "does not support dilation", "yet support dilation",
    "Unknown image file format", "not implemented", "Invalid type for",
)  # fmt: skip
_MORE = {
    17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz",
    21: "uint4", 22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2",
}  # fmt: skip


class TensorFlow(TableFramework):
    """Rows over tf.Tensor."""

    name = "tensorflow"
    modes = ("", "xla")
    rows_modules = (
        "rows_math", "rows_reduce", "rows_shape", "rows_index", "rows_image", "rows_neural",
        "rows_pool", "rows_norm", "rows_recurrent", "rows_attention", "rows_text", "rows_missing",
    )  # fmt: skip

    def import_root(self, threads, seed):
        """Import tensorflow, quietly."""
        limit_threads(threads)
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")
        if threads > 0:
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            tf.config.threading.set_inter_op_parallelism_threads(threads)
        tf.random.set_seed(seed)
        arrays.NUMPY_TYPES[16] = np.dtype(tf.bfloat16.as_numpy_dtype)
        for number, name in _MORE.items():
            kind = _numpy_type(tf, name)
            if kind is not None:
                arrays.NUMPY_TYPES[number] = kind
        return tf

    # XLA reads its flags once in the life of a process.

    def passes(self, data, folder, inputs):
        """Compile the model in a process that dumps each change."""
        if not self.mode:
            return TableFramework.passes(self, data, folder, inputs)
        dumps = os.environ.get("ASSAY_XLA_DUMPS")
        if not dumps or not os.path.isdir(dumps):
            dumps = tempfile.mkdtemp(prefix="assay-xla-")
            flags = ["--%s=%s" % pair for pair in zip(xla.DUMP, (dumps, ".*"))]
            raise Restart(_with_flags(" ".join(flags), {"ASSAY_XLA_DUMPS": dumps}))
        if not os.listdir(dumps):  # else a process before this one died of it
            self.plain = False
            try:
                self.load(data, folder).run(inputs, [], False)
            except self.root.errors.OpError:  # the dumps say how far it came
                pass
        return xla.take_dumped(dumps)

    def keep_away(self, passes):
        """Start again if this process keeps others away."""
        away = ",".join(passes)
        if away == os.environ.get("ASSAY_XLA_DISABLED", "") and "ASSAY_XLA_DUMPS" not in os.environ:
            return
        if not away:
            raise Restart({})
        raise Restart(_with_flags("--%s=%s" % (xla.DISABLE, away), {"ASSAY_XLA_DISABLED": away}))

    def put(self, array):
        """Copy: the bytes are the engine's."""
        if array.type == arrays.STRING:
            texts = np.empty(len(array.data), object)
            texts[:] = [bytes(text) for text in array.data]
            return self.root.constant(texts.reshape(array.shape), self.root.string)
        elements = array.numpy()
        try:
            return self.root.constant(np.array(elements))
        except (TypeError, ValueError):
            raise Unsupported("%s tensors" % TYPE_NAMES[array.type])

    def take(self, value):
        """Return a tensor's elements."""
        elements = self.root.convert_to_tensor(value).numpy()
        if isinstance(elements, bytes):
            elements = np.array(elements, object)
        return from_numpy(elements)

    def row(self, node):
        """Return the row of a node; what it lacks in types and kernels it says as a lack."""
        row = TableFramework.row(self, node)

        def guarded(node, *inputs):
            try:
                return row(node, *inputs)
            except self._errors() as failure:
                if _is_lack(self.root, failure):
                    kinds = [one.dtype.name for one in inputs if hasattr(one, "dtype")]
                    raise Unsupported("%s of %s" % (node.op, ", ".join(kinds)))
                raise

        return guarded

    def _errors(self):
        return (self.root.errors.OpError, TypeError, ValueError, NotImplementedError)

    def signature(self, value):
        """Return what a compiled function depends on."""
        return (value.dtype.name, tuple(value.shape)) if hasattr(value, "dtype") else repr(value)

    def compiled(self, function, _):
        """Compile the whole model at once; one function for each set of answers it needs."""
        return Traced(self, function, self._jit)

    def _jit(self, function, _):
        try:
            return self.root.function(function, autograph=False, jit_compile=True)
        except TypeError:
            return self.root.function(function, autograph=False, experimental_compile=True)

    def refuse(self, failure):
        """Turn what a compiler cannot do into a lack."""
        if _is_lack(self.root, failure):
            found = re.search(r"No registered '(\w+)'|\{\{node [^}]*?(\w+)\}\}", str(failure))
            what = next((g for g in found.groups() if g), "") if found else ""
            raise Unsupported("%s in %s" % (what or "an operation", self.mode or self.name))

    def tracing(self):
        """Write TensorFlow's functions and the methods of its tensors."""
        from .script import TensorFlowTracing

        return TensorFlowTracing(self.root, self.mode)

    def truth(self, value):
        """Return a tensor of one boolean as Python's."""
        from . import known

        return bool(known.answer(value)[0])

    def count(self, value):
        """Return a tensor of one number as Python's."""
        from . import known

        return int(known.answer(value)[0])

    def whole(self, number, kind):
        """Return a Python number as a tensor."""
        return self.root.constant(number, self.root.bool if kind is bool else self.root.int64)

    def stack(self, values, axis):
        """Return tensors of one shape along a new axis."""
        return self.root.stack(values, axis)

    def extent(self, value, axis):
        """Return how long an axis is."""
        return value.shape[axis]

    def pick(self, value, axis, index):
        """Return one slice of an axis."""
        return self.root.gather(value, index, axis=axis)


class Traced(object):
    """A function of tensors by name that is compiled for what its rows need to know."""

    def __init__(self, framework, function, build):
        """Take the function and `build(function, inputs)`, which compiles it."""
        self.framework, self.function, self.build = framework, function, build
        self.plain, self.ready, self.seen = None, {}, None  # ready: by the answers

    def __call__(self, inputs):
        """Compile without answers if that does; else with those of an evaluation."""
        from . import known

        if not self.ready:
            try:
                if self.plain is None:
                    self.plain = self.build(self.function, inputs)
                return self._run(self.plain, None, inputs)
            except Exception as failure:
                if not known.is_unknown(failure):
                    raise
        if self.seen is None or not _equal(self.seen[0], inputs):
            self.seen = (inputs, known.record(self.function, inputs))
        answers, key = self.seen[1], repr(self.seen[1])
        if key not in self.ready:
            self.ready[key] = self.build(self.function, inputs)
        return self._run(self.ready[key], answers, inputs)

    def _run(self, compiled, answers, inputs):
        from . import known

        with known.tracing(answers):
            try:
                return compiled(inputs)
            except self.framework.root.errors.OpError as failure:
                self.framework.refuse(failure)
                raise


def _with_flags(flags, more):
    """Return variables for a process that has these flags beside the user's own."""
    own = os.environ.get("ASSAY_XLA_OWN_FLAGS", os.environ.get("XLA_FLAGS", ""))
    return dict(more, XLA_FLAGS=(own + " " + flags).strip(), ASSAY_XLA_OWN_FLAGS=own)


def _equal(some, others):
    """Tell whether tensors by name are the same to the bit."""
    return all(np.array_equal(some[name].numpy(), others[name].numpy()) for name in some)


def _is_lack(tf, failure):
    """Tell whether an exception says that there is no such kernel."""
    if isinstance(failure, (tf.errors.UnimplementedError, NotImplementedError)):
        return True
    return any(words in str(failure) for words in _LACKS)


def _numpy_type(tf, name):
    """Return the numpy type of a type that numpy lacks, where TensorFlow has it."""
    try:
        import ml_dtypes

        kind = np.dtype(getattr(ml_dtypes, name))
        tf.constant(np.zeros(1, kind))
        return kind
    except (ImportError, AttributeError, TypeError, ValueError):
        return None


FRAMEWORK = TensorFlow
