"""Writes what a model is in a framework's own calls: the body of a script that needs no Assay."""

from .failure import Unsupported
from .messages import Script
from .program import Evaluation
from .trace import Call, Trace, array_source

_INSIDE = 48  # the longest text that is put into another line
_LINES = 15  # those around them, in a script of 20, are the engine's


class Tracing(object):
    """How the scripts of a framework are written."""

    imports = ()  # statements
    more_imports = {}  # by the words in a script that need them
    modules = ()  # pairs: how scripts call a module, and the module
    tensors = ()  # classes

    def put(self, kind):
        """Return how numpy's array of an element type becomes a tensor, with {} for it."""
        raise NotImplementedError

    def take(self, value, source):
        """Return how a result, of which there is a value, becomes numpy's array."""
        raise NotImplementedError

    def literal(self, value):
        """Return the source of one of the framework's own constants, such as a type, or None."""

    def compiled(self, arguments, results):
        """Return the lines by which a mode compiles and calls the function `model`.

        The last sets `found` to the results, of which there are values. None: nothing compiles.
        """

    def needed_imports(self, text):
        """Return the imports of a script."""
        more = [line for words, line in self.more_imports.items() if words in text]
        return list(self.imports) + more


def modules_below(root, name, paths):
    """Return those modules of a framework that a release has, by how a script calls them."""
    found = [(name, root)]
    for path in paths:
        module = root
        for part in path.split("."):
            module = getattr(module, part, None)
        if module is not None:
            found.append(("%s.%s" % (name, path), module))
    return found


def write(loaded, inputs, variables):
    """Return the Script of a loaded program on given inputs.

    `variables` are the script's names for the values of the graph's inputs and initializers.
    """
    framework = loaded.framework
    tracing = framework.tracing()
    trace = Trace(tracing.modules, tracing.tensors, tracing.literal)
    arrays = dict(loaded.program.graph.initializers)
    arrays.update(inputs)
    values = dict(loaded.constants)
    values.update({name: loaded.put(value) for name, value in inputs.items()})
    sources = {name: trace.given(values[name], variables[name]) for name in arrays}
    with trace, _Noted(framework, tracing, trace):
        results = Evaluation(loaded.program, framework).run(values)
    wanted = [_source(trace, one) for one in results]
    lines, used = _lines(trace.calls, wanted, set(sources.values()))
    arguments = [variables[name] for name in inputs if sources[name] in used]
    script = Script(imports=[], lines=_body(tracing, lines, wanted, results, arguments))
    if len(script.lines) > _LINES:
        raise Unsupported("%d lines of the framework's calls" % len(script.lines))
    script.imports = tracing.needed_imports("\n".join(script.lines))
    for name, array in arrays.items():
        if sources[name] in used:
            script.variables.append(variables[name])
            script.puts.append(_put(tracing, array))
    return script


def _put(tracing, value):
    if value is None:
        return "{}"
    if isinstance(value, list):
        if len({one.type for one in value}) != 1:
            raise Unsupported("an input without elements")
        return "[%s for one in {}]" % tracing.put(value[0].type).format("one")
    return tracing.put(value.type)


def _source(trace, value):
    if isinstance(value, (list, tuple)):
        return [_source(trace, one) for one in value]
    if value is None:
        raise Unsupported("an output that is not there")
    return trace.source(value)


class _Noted(object):
    """Has rows that only call a function note that, and constants inside of graphs themselves."""

    def __init__(self, framework, tracing, trace):
        self.framework, self.tracing, self.trace, self.before = framework, tracing, trace, []

    def _constant(self, array):
        trace = self.trace
        trace.depth += 1
        try:
            value = type(self.framework).constant(self.framework, array)
        finally:
            trace.depth -= 1
        try:
            trace.given(value, self.tracing.put(array.type).format(array_source(array.numpy())))
        except Unsupported as reason:
            trace.unwritable(value, reason)
        return value

    def __enter__(self):
        self.framework.constant = self._constant
        known = {id(m): path for path, m in self.trace.modules}
        for row in self.framework.rows.values():
            if not hasattr(row, "function"):
                continue
            self.before.append((row, row.function))
            module, _, name = row.path.rpartition(".")
            owner = self.framework.root
            for part in module.split(".") if module else ():
                owner = getattr(owner, part)
            path = known.get(id(owner))
            if path is not None:
                row.function = self.trace.noted(row.function, "%s.%s" % (path, name))

    def __exit__(self, *_):
        del self.framework.constant
        for row, function in self.before:
            row.function = function


def _flat(values):
    for one in values:
        if isinstance(one, list):
            for inner in _flat(one):
                yield inner
        else:
            yield one


def _lines(calls, wanted, given):
    """Return the lines that results need, in order and with names, and all that they read."""
    results = list(_flat(wanted))
    needed, pending = set(), list(results)
    while pending:
        call = pending.pop()
        if call not in needed:
            needed.add(call)
            pending += call.reads() + [one for one in calls if one.changes is call]
    kept = [call for call in calls if call in needed]
    changing = any(call.changes is not None for call in kept)
    uses, lines = _uses(needed, set(kept), results), []
    for call in kept:
        text = _text(call)
        if call.changes is not None:
            lines.append(text)
        elif uses[call] == 1 and not changing and len(text) < _INSIDE:
            call.name = "(%s)" % text if _is_infix(call) else text
        else:
            call.name = "v%d" % (len(lines) + 1)
            lines.append("%s = %s" % (call.name, text))
    return lines, needed & given


def _uses(needed, lines, results):
    """Return how often each value's source stands in the script if every line has a name."""
    uses = dict.fromkeys(needed, 0)
    for call in results:
        uses[call] += 1
    for call in sorted(needed, key=lambda one: one not in lines):
        for read in call.reads():  # a piece of a tuple is written out wherever it is read
            uses[read] += 1 if call in lines else uses[call]
    return uses


def _is_infix(call):
    """Tell whether a line's source is no operand as it stands."""
    texts = [part for part in call.parts if not isinstance(part, Call)]
    return (
        call.parts[0] == "-"
        or call.parts[0] == "~"
        or any(text.startswith(" ") and text.endswith(" ") and text.strip() for text in texts)
    )


def _text(call):
    return "".join(_name(part) if isinstance(part, Call) else part for part in call.parts)


def _name(call):
    """Return how a line is read: by its name, or by its text where it is a part of another."""
    return call.name if call.name else _text(call)


def _body(tracing, lines, wanted, results, arguments):
    """Return the lines, and those that make numpy's arrays of the results: `found`."""
    calls = tracing.compiled(arguments, results)
    if calls is None:
        taken = [_taken(tracing, s, v) for s, v in zip(wanted, results)]
        return lines + ["found = [%s]" % ", ".join(taken)]
    if any(isinstance(one, list) for one in wanted):
        raise Unsupported("sequences in a compiled model")
    inside = ["    " + line for line in lines]
    inside.append("    return %s" % ", ".join(_name(one) for one in wanted))
    return ["def model(%s):" % ", ".join(arguments)] + inside + calls


def _taken(tracing, source, value):
    if isinstance(source, list):
        return "[%s]" % ", ".join(_taken(tracing, s, v) for s, v in zip(source, value))
    return tracing.take(value, _name(source))


def call_compiled(tracing, call, results):
    """Return the lines that call a function and take its results."""
    if len(results) == 1:
        return ["found = [%s]" % tracing.take(results[0], call)]
    taken = [tracing.take(value, "results[%d]" % n) for n, value in enumerate(results)]
    return ["results = " + call, "found = [%s]" % ", ".join(taken)]
