"""Follows a row through its framework's own functions, and keeps the calls as Python source.

The functions of the framework's modules and the methods of its tensors are replaced, for as long
as a trace lasts, by ones that note what they are called with. Tensors stay the framework's own, so
rows may do with them what they like; what comes from elsewhere than a noted call cannot be written
down, and neither can what is computed of it.
"""

import enum
import types

import numpy as np

from .failure import Unsupported

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_PREFIX = {"neg": "-", "invert": "~", "abs": "abs"}
_WRITTEN_OUT = 64  # the most elements
_PROPERTIES = ("T", "mT", "real", "imag")
_OPERATORS = tuple(
    "__%s__" % name
    for names in (_INFIX, ["r" + n for n in _INFIX], ["i" + n for n in _INFIX], _COMPARISONS,
                  _PREFIX, ("getitem", "setitem"))
    for name in names
)  # fmt: skip
_METHOD_KINDS = (types.FunctionType, type(str.join), type(int.__add__), type(abs))


class Call(object):
    """A line of source: texts, and between them the lines whose values it reads."""

    def __init__(self, parts, changes=None):
        """Take the parts; `changes` is the line whose value it writes to."""
        self.parts, self.changes, self.name = parts, changes, None

    def reads(self):
        """Return the lines whose values it reads, one for each place."""
        return [part for part in self.parts if isinstance(part, Call)]


class Trace(object):
    """The calls that are made while it is open (`with`)."""

    def __init__(self, modules, tensors, literal):
        """Take modules by how a script calls them, classes of tensors, and what writes others.

        `literal(value)` returns the source of the framework's own constants, such as types, or
        None.
        """
        self.modules, self.tensors, self.literal = modules, tensors, literal
        self.calls, self.known, self.kept, self.depth, self.undo = [], {}, [], 0, []

    def given(self, value, name):
        """Say that a tensor is a variable of the script; of a list, each of its elements."""
        call = Call([name])
        call.name = name
        self._learn(value, call)
        return call

    def unwritable(self, value, reason):
        """Say why a value cannot be written down."""
        self._learn(value, reason)

    def __enter__(self):
        """Put the functions that note their calls in place."""
        for path, module in self.modules:
            for name, value in list(vars(module).items()):
                plain = callable(value) and not isinstance(value, (type, types.ModuleType))
                if plain and not name.startswith("_") and not hasattr(value, "traced"):
                    self._replace(module, name, self._noted(value, "%s.%s" % (path, name)))
        for kind in self.tensors:
            for name in dir(kind):
                if name in _OPERATORS or not name.startswith("_"):
                    self._replace_method(kind, name)
        return self

    def __exit__(self, *_):
        """Put everything back."""
        for owner, name, before in reversed(self.undo):
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self.undo = []

    def noted(self, function, path):
        """Return a function that notes its calls under a path."""
        return self._noted(function, path)

    def source(self, value):
        """Return the line of a value that is a result."""
        call = self.known.get(id(value))
        if call is None:
            raise Unsupported("a value that comes from no call of the framework's functions")
        if isinstance(call, Unsupported):
            raise call
        return call

    def _replace(self, owner, name, value):
        before = vars(owner).get(name)
        try:
            setattr(owner, name, value)
        except (AttributeError, TypeError):
            return False
        self.undo.append((owner, name, before))
        return True

    def _replace_method(self, kind, name):
        owner = next(k for k in kind.__mro__ if name in vars(k))
        value = vars(owner)[name]
        if owner is object or hasattr(value, "traced"):
            return
        if isinstance(value, _METHOD_KINDS):
            noted = self._noted(value, name, True)
        elif name in _PROPERTIES + ("at",) and hasattr(value, "__get__"):
            noted = self._property(value, name)
        else:
            return
        if not self._replace(owner, name, noted):
            self._replace(kind, name, noted)

    def _noted(self, function, path, method=False):
        def noted(*arguments, **options):
            if self.depth:
                return function(*arguments, **options)
            plain = [_plain(one) for one in arguments]
            self.depth += 1
            try:
                result = function(*plain, **{k: _plain(v) for k, v in options.items()})
            finally:
                self.depth -= 1
            self.note(path, method, arguments, options, result)
            return result

        noted.traced = (function, path)
        return noted

    def _property(self, value, name):
        def noted(tensor):
            if name == "at" and not self.depth:
                return _At(self, tensor, value.__get__(tensor, type(tensor)))
            result = value.__get__(tensor, type(tensor))
            if not self.depth:
                self._learn(result, self._line(lambda: [self._operand(tensor), "." + name]))
            return result

        return property(noted)

    def note(self, path, method, arguments, options, result):
        """Note one call, if it has to do with tensors."""
        inplace = method and (path == "__setitem__" or path.endswith("_") and path[0] != "_")
        inplace = inplace or method and path[:3] == "__i" and path[3:-2] in _INFIX
        if inplace and id(arguments[0]) in self.known:
            line = self._line(lambda: self._method(path, arguments, options))
            if isinstance(line, Call):
                line.changes = self.known[id(arguments[0])]
                self._note_change(line)
            else:
                self.known[id(arguments[0])] = line
            return
        if not self._holds_tensor(result) or id(result) in self.known:
            return
        write = self._method if method else self._function
        self._learn(result, self._line(lambda: write(path, arguments, options)))

    def _note_change(self, line):
        if isinstance(line.changes, Unsupported):
            return
        self.calls.append(line)

    def _line(self, write):
        try:
            return Call(write())
        except Unsupported as reason:
            return reason

    def _learn(self, value, call, line=True):
        if line and isinstance(call, Call) and not call.name:
            self.calls.append(call)
        self.kept.append(value)
        if self._is_tensor(value):
            self.known[id(value)] = call
        elif isinstance(value, (list, tuple)):
            for place, one in enumerate(value):
                if isinstance(call, Unsupported):
                    self._learn(one, call)
                elif self._holds_tensor(one):
                    self._learn(one, Call([call, "[%d]" % place]), False)

    def _is_tensor(self, value):
        return isinstance(value, self.tensors)

    def _holds_tensor(self, value):
        if isinstance(value, (list, tuple)):
            return any(self._holds_tensor(one) for one in value)
        return self._is_tensor(value)

    # The source of calls: lists of texts and lines.

    def _function(self, path, arguments, options):
        return [path + "("] + self._arguments(arguments, options) + [")"]

    def _method(self, name, arguments, options):
        this, rest = self._operand(arguments[0]), arguments[1:]
        short = name[2:-2] if name.startswith("__") else ""
        if short == "getitem":
            return [this, "["] + self._index(rest[0]) + ["]"]
        if short == "setitem":
            return [this, "["] + self._index(rest[0]) + ["] = "] + self.text(rest[1])
        if short in _PREFIX:
            return [_PREFIX[short], this] if short != "abs" else ["abs(", this, ")"]
        reflected = short[:1] == "r" and short[1:] in _INFIX
        if reflected or short in _INFIX or short in _COMPARISONS:
            sign = _INFIX.get(short[reflected:]) or _COMPARISONS[short]
            other = self._operand(rest[0])
            left, right = (other, this) if reflected else (this, other)
            return [left, " %s " % sign, right]
        if short[:1] == "i" and short[1:] in _INFIX:
            return [this, " %s= " % _INFIX[short[1:]], self._operand(rest[0])]
        return [this, ".%s(" % name] + self._arguments(rest, options) + [")"]

    def _operand(self, value):
        """Return what stands beside an operator: a line, or a constant."""
        if self._is_tensor(value):
            return self.source(value)
        text = "".join(self.text(value))
        return "(%s)" % text if text.startswith("-") else text

    def _arguments(self, arguments, options):
        texts = [self.text(value) for value in arguments]
        texts += [["%s=" % name] + self.text(value) for name, value in options.items()]
        return self._joined(texts)

    def _index(self, index):
        if isinstance(index, tuple) and index:
            return self._tuple([self._place(one) for one in index])
        return self._place(index)

    def _place(self, one):
        if isinstance(one, slice) and not any(
            self._is_tensor(n) for n in (one.start, one.stop, one.step)
        ):
            ends = ["" if n is None else str(n) for n in (one.start, one.stop)]
            return [":".join(ends + ([] if one.step is None else [str(one.step)]))]
        return ["..."] if one is Ellipsis else self.text(one)

    def _joined(self, texts):
        parts = []
        for text in texts:
            parts += [", "] + text
        return parts[1:]

    def _tuple(self, texts):
        return self._joined(texts) + ([","] if len(texts) == 1 else [])

    def text(self, value):
        """Return the source of an argument as parts; Unsupported if it has none."""
        if self._is_tensor(value):
            return [self.source(value)]
        if hasattr(value, "traced"):
            return [value.traced[1]]
        own = self.literal(value) or self._constant(value)
        if own is not None:
            return [own]
        if isinstance(value, dict):
            pairs = [[repr(k) + ": "] + self.text(v) for k, v in value.items()]
            return ["{"] + self._joined(pairs) + ["}"]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            path = self._path_of(type(value))
            return [path + "("] + self._arguments((), dict(zip(value._fields, value))) + [")"]
        if isinstance(value, (list, range)):
            return ["["] + self._joined([self.text(one) for one in value]) + ["]"]
        if isinstance(value, tuple):
            return ["("] + self._tuple([self.text(one) for one in value]) + [")"]
        raise Unsupported("a call takes a %s" % type(value).__name__)

    def _constant(self, value):
        """Return the source of Python's and numpy's own constants, or None."""
        if isinstance(value, enum.Enum):
            return "%s.%s" % (self._path_of(type(value)), value.name)
        if value is None or isinstance(value, (bool, int, str, bytes, complex)):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if np.isfinite(value) else "float(%r)" % str(value)
        if value is Ellipsis:
            return "..."
        if isinstance(value, slice):
            return "slice(%r, %r, %r)" % (value.start, value.stop, value.step)
        if isinstance(value, np.dtype) or (
            isinstance(value, type) and issubclass(value, np.generic)
        ):
            name = np.dtype(value).name
            return "np.%s" % ("bool_" if name == "bool" else name) if hasattr(np, name) else None
        if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufc":
            return array_source(value)
        if isinstance(value, type) and value in (bool, int, float):
            return value.__name__
        return None

    def _path_of(self, kind):
        for path, module in self.modules:
            if getattr(module, kind.__name__, None) is kind:
                return "%s.%s" % (path, kind.__name__)
        raise Unsupported("a call takes a %s" % kind.__name__)


class _At(object):
    """What JAX's x.at[...] is, with the calls of its methods noted."""

    def __init__(self, trace, tensor, real, index=None):
        self.trace, self.tensor, self.real, self.index = trace, tensor, real, index

    def __getitem__(self, index):
        return _At(self.trace, self.tensor, self.real[index], (index,))

    def __getattr__(self, name):
        def call(*arguments, **options):
            trace = self.trace
            trace.depth += 1
            try:
                result = getattr(self.real, name)(*arguments, **options)
            finally:
                trace.depth -= 1
            trace._learn(
                result,
                trace._line(
                    lambda: (
                        [trace.source(self.tensor), ".at["]
                        + trace._index(self.index[0])
                        + ["].%s(" % name]
                        + trace._arguments(arguments, options)
                        + [")"]
                    )
                ),
            )
            return result

        return call


def _plain(value):
    """Return a function that notes its calls as the framework knows it."""
    return value.traced[0] if hasattr(value, "traced") else value


def array_source(array):
    """Return the source of numpy's array; what numpy itself lacks is widened."""
    if array.size > _WRITTEN_OUT:
        raise Unsupported("a constant of %d elements" % array.size)
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return "np.array(%r, object)" % (array.tolist(),)
    if not hasattr(np, array.dtype.name):
        array = array.astype(np.float32)
    name = "bool_" if array.dtype.kind == "b" else array.dtype.name
    text = "np.array(%s, np.%s)" % (_list_source(array.tolist()), name)
    return text if array.size else "np.zeros(%r, np.%s)" % (array.shape, name)


def _list_source(value):
    if isinstance(value, list):
        return "[%s]" % ", ".join(_list_source(one) for one in value)
    if isinstance(value, float) and not np.isfinite(value):
        return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)
