"""A framework whose optimiser takes Abs before Neg for Abs; the variable FUSING says how.

one: the pass "first" does so. both: "first" does, and "second" where it is switched off. refuse:
"first" makes something that nobody can run. restart: as one, but a pass is switched off by a
variable of the process.
"""

import os

import numpy
from assay_worker.arrays import from_numpy
from assay_worker.failure import Failed, Restart
from assay_worker.framework import TableFramework

HOW = os.environ.get("FUSING", "one")
AT_WORK = []  # the passes, while a model is compiled
MADE = []  # the last result of Abs


class Fusing(TableFramework):
    """Rows over numpy's arrays."""

    name = "fusing"
    modes = ("", "fuse")
    rows_modules = ("fusing_backend",)
    off = ()

    def import_root(self, threads, seed):
        """Return numpy."""
        return numpy

    def put(self, array):
        """Return an Array as numpy's."""
        return array.numpy()

    def take(self, value):
        """Return numpy's array as an Array."""
        return from_numpy(numpy.asarray(value, numpy.float32))

    def signature(self, value):
        """Return what a compiled function depends on."""
        return str(value.dtype), value.shape

    def passes(self, data, folder, inputs):
        """Return one that is innocent beside those that are not."""
        return ["idle", "first"], ["second", "third"]

    def keep_away(self, passes):
        """Remember them, or ask for a process that does."""
        if HOW == "restart" and ",".join(passes) != os.environ.get("FUSING_OFF", ""):
            raise Restart({"FUSING_OFF": ",".join(passes)} if passes else {})
        self.off = tuple(passes)

    def compiled(self, function, _):
        """Return a function that the passes have been at."""
        names = ("first", "second") if HOW == "both" else ("first",)
        active = [name for name in names if name not in self.off]

        def run(given):
            AT_WORK[:] = active
            try:
                return function(given)
            finally:
                AT_WORK[:] = []

        return run


def Abs(node, x):
    MADE[:] = [numpy.abs(x)]
    return MADE[0]


def Neg(node, x):
    if AT_WORK and MADE and x is MADE[0]:
        if HOW == "refuse":
            raise Failed("nobody can run what became of it")
        return x
    return -x


def Relu(node, x):
    return numpy.maximum(x, 0)


FRAMEWORK = Fusing
