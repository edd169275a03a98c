"""What a worker needs of a framework, and what all frameworks with a table share."""

import importlib
import os

from . import control, script, table
from .failure import Failed, Unsupported
from .program import Evaluation, Program

EVERY_PASS = "*"


class Framework(object):
    """A framework in a mode ("" is the plain one). Nothing is imported before `start`."""

    name = ""
    modes = ("",)

    def __init__(self, mode):
        """Take one of `modes`."""
        self.mode = mode

    def start(self, threads, seed):
        """Import the framework and set it up."""
        raise NotImplementedError

    def version(self):
        """Return the framework's version text."""
        raise NotImplementedError

    def operators(self, names):
        """Return (those of the standard's names that are there, {name: why not}).

        Names of other domains are "domain.Name"; the reason of "*" is that of all others.
        """
        raise NotImplementedError

    def load(self, data, folder):
        """Return a Loaded of an ONNX file's bytes; `folder` is where the file's parts lie."""
        raise NotImplementedError

    def passes(self, data, folder, inputs):
        """Return (names of the optimizer's passes that change this model, names of others)."""
        raise Unsupported("this backend names no passes")

    def switch_off(self, passes):
        """Keep passes away from the models that are loaded from now on; "*" is all of them.

        Raises Restart where only a new process can do so.
        """
        if passes:
            raise Unsupported("this backend names no passes")


class Watch(object):
    """Whose values somebody wants to see: nobody's, everybody's, or those that are named."""

    def __init__(self, hidden, names):
        """Take names of values; one that ends in / is all that is below it."""
        self.hidden, self.all = hidden, not names
        self.names = frozenset(name for name in names if not name.endswith("/"))
        self.folders = tuple(name for name in names if name.endswith("/"))

    def __bool__(self):
        """Tell whether anything is wanted."""
        return self.hidden

    def wants(self, name):
        """Tell whether a value is."""
        named = self.all or name in self.names or name.startswith(self.folders)
        return self.hidden and named


class Loaded(object):
    """A model, ready to run."""

    def run(self, inputs, outputs, hidden):
        """Return (outputs, hidden values): dictionaries of Arrays, lists, None, by name.

        `inputs` are the same by name; `outputs` the names wanted, all if empty; `hidden` is a
        Watch. What it does not want may be among the hidden values, but takes its memory. What is
        returned stays as it is when the model runs again.
        """
        raise NotImplementedError

    def bind(self, inputs, outputs, places):
        """Return a call that runs the model on inputs whose elements change between two calls.

        It returns what `run` does for `outputs`; tensors may be numpy's arrays. A framework that
        can write results where somebody wants them may do so, and the call returns None: `places`
        has numpy's arrays by name, or is empty where none would be used twice.
        """
        nothing = Watch(False, [])
        return lambda: self.run(inputs, outputs, nothing)[0]

    def script(self, inputs, variables):
        """Return the Script that runs the same without Assay.

        `variables` are its names for the values of inputs and initializers.
        """
        raise Unsupported("scripts of this framework's calls")


class TableFramework(Framework):
    """A framework whose rows are functions over its own tensors."""

    rows_modules = ()  # names below the framework's package
    plain = False  # whether what a mode would compile is evaluated row by row

    def start(self, threads, seed):
        """Import the framework, then its rows."""
        self.root = self.import_root(threads, seed)
        package = type(self).__module__.rpartition(".")[0]
        places = [package + "." + name if package else name for name in self.rows_modules]
        modules = [importlib.import_module(place) for place in places]
        self.rows, self.missing = table.collect(modules, self.root, self.version())
        self.control = control.rows(self)

    def import_root(self, threads, seed):
        """Return the framework's module, imported and set up."""
        raise NotImplementedError

    def version(self):
        """Return the version that the module tells."""
        return self.root.__version__

    def operators(self, names):
        """Return what the table has, and why it lacks the others that it names."""
        missing = dict.fromkeys(self.control, "models run it in Python, not in the framework")
        missing.update(self.missing)
        return sorted(self.rows), {n: why for n, why in missing.items() if n not in self.rows}

    def row(self, node):
        """Return the row of a node."""
        name = "%s.%s" % (node.domain, node.op) if node.domain else node.op
        row = self.rows.get(name) or self.control.get(name)
        if row is None:
            raise Unsupported(name)
        return row

    def load(self, data, folder):
        """Read the model; say all that the table lacks at once."""
        program = Program(data, folder)
        names = sorted("%s.%s" % pair if pair[0] else pair[1] for pair in program.operators())
        lacking = [n for n in names if n not in self.rows and n not in self.control]
        if lacking:
            raise Unsupported(", ".join(lacking))
        return self.loaded(program)

    def loaded(self, program):
        """Return a program that is ready to run."""
        return LoadedProgram(self, program)

    def switch_off(self, passes):
        """Without any pass a model is evaluated row by row; a mode knows of single ones."""
        if passes and not self.mode:
            raise Unsupported("this backend names no passes")
        self.plain = passes == [EVERY_PASS]
        self.keep_away([] if self.plain else passes)

    def keep_away(self, passes):
        """Keep single passes away from what a mode compiles from now on."""
        if passes:
            raise Unsupported("this backend names no passes")

    # What a framework adds: its tensors from Arrays and back, and how a mode compiles.

    def put(self, array):
        """Return an Array as the framework's tensor."""
        raise NotImplementedError

    def take(self, value):
        """Return the framework's tensor as an Array."""
        raise NotImplementedError

    def constant(self, array):
        """Return a tensor of the file, which is known when a mode compiles."""
        return self.put(array)

    def compiled(self, function, inputs):
        """Return a function of the same inputs (a dictionary) that a mode has compiled."""
        raise NotImplementedError

    def tracing(self):
        """Return how scripts of the framework's calls are written, a script.Tracing."""
        raise Unsupported("scripts of this framework's calls")


class LoadedProgram(Loaded):
    """A program on a framework's table."""

    def __init__(self, framework, program):
        """Put the file's tensors into the framework once."""
        self.framework, self.program = framework, program
        self.plain = framework.plain or not framework.mode
        self.constants = {
            name: framework.constant(array) for name, array in program.graph.initializers
        }
        self.compiled = {}  # by the inputs' types and shapes

    def run(self, inputs, outputs, hidden):
        """Evaluate; a mode that compiles does so once for inputs of one kind."""
        given = {name: self.put(value) for name, value in inputs.items()}
        absent = [
            n for n in self.program.graph.inputs if n not in given and n not in self.constants
        ]
        if absent:
            raise Failed("no value for input %s" % ", ".join(absent))
        seen = {}
        if hidden or self.plain:
            values = self._evaluate(given, recorder(hidden, seen))
        else:
            values = self._run_compiled(given)
        wanted = outputs or self.program.graph.outputs
        results = {name: self._take(values[name]) for name in wanted}
        return results, {name: self._take(value) for name, value in seen.items()}

    def script(self, inputs, variables):
        """Follow the rows through the framework's own functions."""
        return script.write(self, inputs, variables)

    def _evaluate(self, given, watch):
        values = dict(self.constants)
        values.update(given)
        results = Evaluation(self.program, self.framework, watch).run(values)
        return dict(zip(self.program.graph.outputs, results))

    def _run_compiled(self, given):
        key = tuple(sorted((name, self.framework.signature(v)) for name, v in given.items()))
        if key not in self.compiled:
            self.compiled[key] = self.framework.compiled(lambda v: self._evaluate(v, None), given)
        return self.compiled[key](given)

    def put(self, value):
        """Return an Array, a list of them or None with the framework's tensors in their place."""
        if isinstance(value, list):
            return [self.put(one) for one in value]
        return value if value is None else self.framework.put(value)

    def _take(self, value):
        if isinstance(value, (list, tuple)):
            return [self._take(one) for one in value]
        return value if value is None else self.framework.take(value)


def recorder(hidden, seen):
    """Return who is told (name, value) and keeps what a Watch wants; None if it wants nothing."""

    def keep(name, value):
        if hidden.wants(name):
            seen[name] = value

    return keep if hidden else None


def limit_threads(threads):
    """Tell the usual numerical libraries, before they load, how many threads to use."""
    if threads > 0:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(threads)
