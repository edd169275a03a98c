"""ONNX Runtime on the CPU, with its graph optimizations or without."""

import ctypes
import os

import numpy as np

from ..arrays import NARROW_BITS, NUMPY_TYPES, STRING, TYPE_NAMES, Array
from ..failure import Unsupported
from ..framework import EVERY_PASS, Framework, Loaded
from ..table import numbers
from ..whole import from_python, node_outputs, script, to_python, with_outputs

# Types that numpy lacks; their elements pass as integers of the same width.
_WIDTHS = {16: np.uint16, 17: np.uint8, 18: np.uint8, 19: np.uint8, 20: np.uint8, 24: np.uint8}
# Its names of tensors that numpy has.
_PLAIN_KINDS = frozenset("tensor(%s)" % TYPE_NAMES[number] for number in NUMPY_TYPES)
# What the runtime says of models that it does not take, next to its exception NotImplemented.
_REFUSALS = (
    "is not a registered function/op",
    "is under development",
    "Unsupported model IR version",
    "Could not find an implementation",
    "Unrecognized attribute",
    "are not supported",
    "is not supported now",
)
# What the standard defines by other operators: the runtime expands them where it knows them.
_FUNCTIONS = """
Bernoulli CastLike CausalConvWithState CenterCropPad GroupNormalization HardSwish LinearAttention
Mish NegativeLogLikelihoodLoss SequenceMap SoftmaxCrossEntropyLoss SwiGLU Swish
""".split()


class OnnxRuntime(Framework):
    """Sessions on the CPU provider."""

    name = "onnxruntime"
    modes = ("", "noopt")
    disabled = ()  # passes of the optimizer

    def start(self, threads, seed):
        """Import, and have it say nothing."""
        import onnxruntime

        self.root, self.threads = onnxruntime, threads
        onnxruntime.set_default_logger_severity(4)
        if hasattr(onnxruntime, "set_seed"):
            onnxruntime.set_seed(seed)

    def version(self):
        """Return the release's number."""
        return self.root.__version__

    def operators(self, names):
        """Return what has a kernel on the CPU; functions of the standard are expanded to those."""
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        if not hasattr(state, "get_all_opkernel_def"):
            return [], {"*": "this release does not tell what it has"}
        found = set()
        for kernel in state.get_all_opkernel_def():
            if kernel.provider == "CPUExecutionProvider":
                found.add((kernel.domain, kernel.op_name))
        for schema in state.get_all_operator_schema():
            if schema.domain == "" and schema.name in _FUNCTIONS + ["Constant"]:
                found.add((schema.domain, schema.name))
        present = [name for domain, name in found if domain in ("", "ai.onnx")]
        present += ["ai.onnx.ml." + name for domain, name in found if domain == "ai.onnx.ml"]
        return sorted(set(present)), {"*": "onnxruntime has no kernel for the CPU"}

    def load(self, data, folder):
        """Make a session at once, so that a model is refused here."""
        return LoadedSession(self, data, folder)

    def passes(self, data, folder, inputs):
        """Load the model once more and see what the log says."""
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        from . import passes

        if self.mode == "noopt":
            return [], []
        self.switch_off([])
        return passes.of_model(lambda: self.session(data, folder, 0), state.__file__)

    def switch_off(self, passes):
        """Keep passes, or rules of one, from the sessions that follow."""
        if passes not in ([], [EVERY_PASS]) and numbers(self.version()) < (1, 8):
            raise Unsupported("this release cannot switch single passes off")
        self.disabled = tuple(passes)

    def session(self, data, folder, severity=4):
        """Return a session; what the runtime has not implemented is unsupported."""
        options = self.root.SessionOptions()
        options.log_severity_level = severity
        if self.threads > 0:
            options.intra_op_num_threads = options.inter_op_num_threads = self.threads
        if hasattr(options, "add_session_config_entry"):
            # Threads that wait by turning in circles take processors from all who run beside them.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if self.mode == "noopt" or self.disabled == (EVERY_PASS,):
            options.graph_optimization_level = self.root.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            if not folder:
                return self._session(data, options)
            if numbers(self.version()) >= (1, 18):
                key = "session.model_external_initializers_file_folder_path"
                options.add_session_config_entry(key, folder)
                return self._session(data, options)
            return self._session_in(folder, data, options)
        except Exception as failure:
            raise _refusal(failure)

    def _session(self, data, options):
        more = {}
        if self.disabled and self.disabled != (EVERY_PASS,):
            more["disabled_optimizers"] = list(self.disabled)
        providers = ["CPUExecutionProvider"]
        return self.root.InferenceSession(data, options, providers=providers, **more)

    def _session_in(self, folder, data, options):
        """Look for a file's parts in a folder: older releases know only the current one."""
        before = os.getcwd()
        os.chdir(folder)
        try:
            return self._session(data, options)
        finally:
            os.chdir(before)


class LoadedSession(Loaded):
    """A session, and another one that shows the values of nodes once somebody asks."""

    def __init__(self, framework, data, folder):
        """Load the file."""
        self.framework, self.data, self.folder = framework, data, folder
        self.plain = framework.session(data, folder)
        self.kinds = {one.name: one.type for one in self.plain.get_outputs()}
        self.watched, self.inner = None, None
        self.computed = None  # the names of all values of nodes, once somebody asks

    def run(self, inputs, outputs, hidden):
        """Run one of the sessions."""
        wanted = list(outputs) or list(self.kinds)
        if not hidden:
            return self._run(self.plain, inputs, wanted), {}
        if self.computed is None:
            self.computed = node_outputs(self.data)
        inner = [name for name in self.computed if hidden.wants(name)]
        if self.inner != inner:
            shown = with_outputs(self.data, inner, self.kinds)
            self.watched, self.inner = self.framework.session(shown, self.folder), inner
        values = self._run(self.watched, inputs, wanted, inner)
        seen = {name: values[name] for name in inner if name in values}
        return {name: values[name] for name in wanted}, seen

    def bind(self, inputs, outputs, places):
        """Keep the feed, where numpy has all types; have results written where they belong."""
        names, session = list(outputs) or list(self.kinds), self.plain
        if not all(_is_plain(one) for one in inputs.values()) or not all(
            self.kinds.get(name, "") in _PLAIN_KINDS for name in names
        ):
            return Loaded.bind(self, inputs, outputs, places)
        feed = {name: _writable(array.numpy()) for name, array in inputs.items()}

        def run():
            try:
                return dict(zip(names, session.run(names, feed)))
            except Exception as failure:
                raise _refusal(failure)

        results = {name: places.get(name) for name in names}
        return _run_in_place(session, feed, results, run) or run

    def script(self, inputs, variables):
        """Make a session, with the optimizations or without."""
        lines, options = [], ""
        if self.framework.mode == "noopt":
            level = "onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL"
            lines = ["options = onnxruntime.SessionOptions()"]
            lines.append("options.graph_optimization_level = " + level)
            options = " options,"
        made = 'onnxruntime.InferenceSession(model,%s providers=["CPUExecutionProvider"])'
        lines += ["runner = " + made % options, "found = runner.run(None, feed)"]
        return script(["import onnxruntime"], lines)

    def _run(self, session, inputs, wanted, inner=()):
        """Return values by name: those of `inner` may be lacking."""
        kinds = {one.name: one.type for one in session.get_outputs()}
        names = wanted + [name for name in inner if name not in wanted]
        given = [one for one in inputs.values() if isinstance(one, Array)]
        strange = any(one.type not in NUMPY_TYPES and one.type != STRING for one in given)
        if strange or any(_strange(kinds[name]) for name in names if name in kinds):
            return self._run_values(session, inputs, names, wanted)
        feed = {name: _writable(to_python(value)) for name, value in inputs.items()}
        try:
            results = session.run(names, feed)
        except Exception as failure:
            raise _refusal(failure)
        return {name: from_python(value) for name, value in zip(names, results)}

    def _run_values(self, session, inputs, names, wanted):
        """Run on the runtime's own values, which have every type."""
        root = self.framework.root
        feed = {name: _value(root, one) for name, one in inputs.items()}
        results = {}
        for name, value in zip(names, session.run_with_ort_values(names, feed)):
            try:
                results[name] = _array(value)
            except Unsupported:
                if name in wanted:
                    raise
        return results


def _run_in_place(session, feed, results, run):
    """Return a call by addresses, which are looked at once; None where they cannot be given.

    Results of other shapes than last time have no place: the runtime says so, and `run` is called.
    An operator that leaves elements unwritten must not show what the last run left there.
    """
    arrays = list(feed.values()) + list(results.values())
    if any(one is None or not one.size for one in arrays) or not hasattr(session, "io_binding"):
        return None
    binding = session.io_binding()
    for name, one in feed.items():
        binding.bind_input(name, "cpu", 0, one.dtype.type, one.shape, one.ctypes.data)
    for name, one in results.items():
        binding.bind_output(name, "cpu", 0, one.dtype.type, one.shape, one.ctypes.data)

    reals = [one for one in results.values() if one.dtype.kind == "f"]

    def run_in_place():
        for one in reals:
            one.fill(np.nan)
        try:
            session.run_with_iobinding(binding)
        except Exception:
            return run()

    return run_in_place


def _refusal(failure):
    """Return what to raise for a model that is not taken."""
    text = " ".join(str(failure).split())
    if type(failure).__name__ == "NotImplemented" or any(one in text for one in _REFUSALS):
        return Unsupported(text[:500])
    return failure


def _writable(value):
    """Return text arrays as they are, others dense."""
    return np.ascontiguousarray(value).reshape(value.shape) if hasattr(value, "shape") else value


def _is_plain(array):
    """Tell whether numpy's array of an input is a view of its bytes."""
    return array.type in NUMPY_TYPES and array.type not in NARROW_BITS


def _strange(kind):
    """Tell whether numpy lacks a type, such as tensor(bfloat16)."""
    known = [TYPE_NAMES[number] for number in NUMPY_TYPES] + ["string"]
    return kind.startswith("tensor(") and kind[len("tensor(") : -1] not in known


def _value(root, array):
    """Return an Array as the runtime's value."""
    if not isinstance(array, Array):
        raise Unsupported("sequences next to types that numpy lacks")
    if array.type in NUMPY_TYPES or array.type == STRING:
        return root.OrtValue.ortvalue_from_numpy(_writable(array.numpy()))
    name = TYPE_NAMES.get(array.type, array.type)
    try:
        if array.type in _WIDTHS:
            bits = np.frombuffer(bytes(array.data), _WIDTHS[array.type]).reshape(array.shape)
            return root.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, array.type)
        value = root.OrtValue.ortvalue_from_shape_and_type(list(array.shape), array.type)
        data = bytes(array.data)
        ctypes.memmove(value.data_ptr(), data, len(data))
        return value
    except (AttributeError, TypeError, RuntimeError):
        raise Unsupported("%s inputs" % name)


def _array(value):
    """Return the runtime's value as an Array."""
    if not value.has_value():
        return None
    if not value.is_tensor():
        raise Unsupported("sequences next to types that numpy lacks")
    kind = value.element_type() if hasattr(value, "element_type") else 0
    if kind in NUMPY_TYPES or kind == STRING:
        return from_python(value.numpy())
    if not kind:
        raise Unsupported("%s outputs" % value.data_type())
    shape = value.shape()
    bits = NARROW_BITS.get(kind) or 8 * np.dtype(_WIDTHS[kind]).itemsize
    count = int(np.prod(shape, dtype=np.int64))
    size = -(-count * bits // 8)
    return Array(kind, shape, ctypes.string_at(value.data_ptr(), size) if size else b"")


FRAMEWORK = OnnxRuntime
