"""A framework that does what no framework should: each operator in its own way."""

import os
import signal
import sys
import time

import numpy
from assay_worker.arrays import from_numpy
from assay_worker.framework import TableFramework


class Unruly(TableFramework):
    """Rows over numpy's arrays that do not all come back."""

    name = "unruly"
    rows_modules = ("unruly_backend",)

    def import_root(self, threads, seed):
        """Be noisy from the start."""
        print("importing a very chatty framework")
        return numpy

    def put(self, array):
        """Return an Array as numpy's."""
        return array.numpy()

    def take(self, value):
        """Return numpy's array as an Array."""
        return from_numpy(value)


def Abs(node, x):
    """Print to standard output, past Python too."""
    print("computing")
    os.write(1, b"computing natively\n" * 1000)
    return numpy.abs(x)


def Add(node, a, b):
    """Behave."""
    return numpy.add(a, b)


def Ceil(node, x):
    """Die of a segmentation fault."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return x


def Cos(node, x):
    """Leave a process behind that nobody waits for, and behave."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
        os._exit(0)
    return numpy.cos(x)


def Exp(node, x):
    """Take memory until there is none."""
    hoard = []
    while True:
        hoard.append(numpy.ones(1 << 20))


def Floor(node, x):
    """Refuse, at some length."""
    raise ValueError("no floor\nin this house")


def Neg(node, x):
    """Ignore every request to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1000)


def Sin(node, x):
    """End without a word."""
    sys.stdout.flush()
    os._exit(7)


FRAMEWORK = Unruly
