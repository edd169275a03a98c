"""PyTorch: eager, or compiled as a whole with torch.compile."""

import os

import numpy as np

from ..arrays import TYPE_NAMES, Array, from_numpy
from ..failure import Unsupported
from ..framework import TableFramework, limit_threads

# Types that numpy lacks, by their name in torch; their bytes pass as integers of the same width.
MORE_TYPES = {
    16: ("bfloat16", np.int16),
    17: ("float8_e4m3fn", np.uint8),
    18: ("float8_e4m3fnuz", np.uint8),
    19: ("float8_e5m2", np.uint8),
    20: ("float8_e5m2fnuz", np.uint8),
    24: ("float8_e8m0fnu", np.uint8),
}
# How torch says that a function lacks a type, or that it never takes such an option.
_LACKS = (
    " not implemented for '",
    "not supported on CPUType for",
    "Promotion for uint16",
    "pad should be ",  # more than half of a pool's kernel
    "Class values must be ",  # of one_hot
)
_ARITHMETIC = ("Add", "Div", "Mul", "Sub")


class Torch(TableFramework):
    """Rows over torch.Tensor."""

    name = "torch"
    modes = ("", "compile")
    guards = None  # before the compiler's passes
    scalars = {}  # tensors of the file that are one number
    rows_modules = (
        "rows_math", "rows_reduce", "rows_shape", "rows_index", "rows_resize", "rows_neural",
        "rows_types", "rows_sequence", "rows_signal",
    )  # fmt: skip

    def import_root(self, threads, seed):
        """Import torch."""
        limit_threads(threads)
        # The compiler's own pool of processes outlives a worker that is ended.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        import torch

        from . import parts

        self.answers = parts.ANSWERS
        if threads > 0:
            torch.set_num_threads(threads)
        torch.manual_seed(seed)
        torch.set_grad_enabled(False)
        if self.mode:
            self._set_up_compiler(torch)
        return torch

    def _set_up_compiler(self, torch):
        """Let nothing fall back to eager evaluation in silence."""
        if not hasattr(torch, "compile"):
            raise Unsupported("torch.compile in torch %s" % torch.__version__)
        import torch._dynamo

        config = torch._dynamo.config
        config.suppress_errors = False
        for name in ("recompile_limit", "accumulated_recompile_limit"):
            if hasattr(config, name):
                setattr(config, name, 1 << 30)

    def passes(self, data, folder, inputs):
        """Compile the model once more and see what is done to it."""
        if not self.mode:
            return TableFramework.passes(self, data, folder, inputs)
        self.plain = False
        watched = self._watched()
        watched.switch_off([])
        watched.forget()
        try:
            self.load(data, folder).run(inputs, [], False)
        except Exception:  # a compiler that fails has come so far
            pass
        return list(watched.applied), watched.others()

    def keep_away(self, passes):
        """Put guards before the compiler's passes when the first is kept away."""
        if passes or self.guards is not None:
            self._watched().switch_off(passes)

    def _watched(self):
        if self.guards is None:
            from .passes import Passes

            self.guards = Passes()
        return self.guards

    def loaded(self, program):
        """Look for numbers in the file: a program in torch has them as numbers too.

        The compiler's patterns are written for those, and would not match tensors.
        """
        self.scalars = {}
        held = list(program.graph.initializers)
        for node in program.graph.nodes:
            if node.op == "Constant" and isinstance(node.get("value"), Array):
                held.append((node.outputs[0], node["value"]))
        for name, array in held if self.mode else ():
            if array.type in (1, 10, 11) and not array.shape:
                self.scalars[name] = float(array.numpy())
        return TableFramework.loaded(self, program)

    def _with_number(self, row, node):
        """Return a row whose second input is a number of the file."""
        number = self.scalars.get(node.inputs[1]) if node.op in _ARITHMETIC else None
        return row if number is None else lambda given, x, _: row(given, x, number)

    def row(self, node):
        """Return a row that tells types which a function lacks from what goes wrong."""
        row = self._with_number(TableFramework.row(self, node), node)
        if self.answers.replaying:
            return row

        def careful(*arguments):
            try:
                return row(*arguments)
            except (RuntimeError, NotImplementedError) as failure:
                for text in _LACKS:
                    if text in str(failure):
                        raise Unsupported(str(failure).split("\n")[0])
                raise

        return careful

    def put(self, array):
        """Copy: the bytes are the engine's, and torch wants to write."""
        if array.type in MORE_TYPES:
            name, bits = MORE_TYPES[array.type]
            kind = getattr(self.root, name, None)
            if kind is not None and hasattr(self.root, "float8_e5m2"):
                if not array.count():
                    return self.root.zeros(array.shape, dtype=kind)
                raw = np.frombuffer(array.data, bits).reshape(array.shape).copy()
                return self.root.from_numpy(raw).view(kind)
        elements = array.numpy()
        try:
            return self.root.from_numpy(np.array(elements))
        except TypeError:
            raise Unsupported("%s tensors" % TYPE_NAMES[array.type])

    def take(self, value):
        """Return a tensor's elements, dense and on the host."""
        value = value.detach().contiguous()
        for number, (name, bits) in MORE_TYPES.items():
            if value.dtype is getattr(self.root, name, None):
                same_width = self.root.int16 if bits is np.int16 else self.root.uint8
                raw = from_numpy(value.view(same_width).numpy())
                return Array(number, raw.shape, raw.data)
        return from_numpy(value.numpy())

    def signature(self, value):
        """Return what a compiled function depends on."""
        if not hasattr(value, "dtype"):
            raise Unsupported("sequences in a compiled model")
        return str(value.dtype), tuple(value.shape)

    def constant(self, array):
        """Return a tensor of the file: the same one while it is compiled as before."""
        if self.answers.replaying:
            return self.answers.following()
        value = self.put(array)
        return self.answers.keep(value)

    def compiled(self, function, _):
        """Compile the whole model at once, with what rows need to know as it is known."""
        return _Compiled(self, function)

    def tracing(self):
        """Write torch's functions and the methods of its tensors."""
        from .script import TorchTracing

        return TorchTracing(self.root, self.mode)

    def truth(self, value):
        """Return a tensor of one boolean as Python's."""
        return bool(self.count(value))

    def count(self, value):
        """Return a tensor of one number as Python's."""
        from .parts import number

        return number(value)

    def whole(self, number, kind):
        """Return a Python number as a tensor."""
        return self.root.tensor(number, dtype=self.root.bool if kind is bool else self.root.int64)

    def stack(self, values, axis):
        """Return tensors of one shape along a new axis."""
        return self.root.stack(values, axis)

    def extent(self, value, axis):
        """Return how long an axis is."""
        return value.shape[axis]

    def pick(self, value, axis, index):
        """Return one slice of an axis."""
        return value.select(axis, index)


class _Compiled(object):
    """A model under torch.compile: one compilation for each set of values that rows asked for."""

    def __init__(self, framework, function):
        """Compile nothing yet."""
        self.framework, self.function = framework, function
        self.inputs, self.current, self.compiled = None, None, []

    def __call__(self, given):
        """Evaluate plainly if the inputs are new, to know what rows ask; then compiled."""
        answers = self.framework.answers
        if not self._knows(given):
            answers.record()
            try:
                self.function(given)
                kept = answers.kept
            finally:
                answers.stop()
            self.inputs, self.current = given, self._find(kept)
        kept, compiled = self.current
        answers.replay(kept)
        try:
            return compiled(given)
        finally:
            answers.stop()

    def _knows(self, given):
        """Tell whether inputs are the last ones again."""
        if self.inputs is None:
            return False
        try:
            return all(self.framework.root.equal(given[n], self.inputs[n]) for n in given)
        except RuntimeError:  # not every type can be compared
            return False

    def _find(self, kept):
        """Return the answers and the compiled function that go with the same answers."""
        known = [one for one in kept if isinstance(one, list)]
        for earlier, pair in self.compiled:
            if earlier == known:
                return pair
        compiled = self.framework.root.compile(_fresh(self.function), dynamic=False)
        self.compiled.append((known, (kept, compiled)))
        return self.compiled[-1][1]


def _fresh(function):
    """Return a function with code of its own: the compiler keeps what it knows by the code."""
    space = {}
    exec("def model(given):\n    return function(given)", {"function": function}, space)
    return space["model"]


FRAMEWORK = Torch
