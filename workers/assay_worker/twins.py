"""Workers in several modes that are one process until they have imported what all of them need."""

import ctypes
import os
import time

_STREAMS = 3
_DIE_WITH_PARENT, _KILL = 1, 9  # PR_SET_PDEATHSIG, SIGKILL


def divide(modes):
    """Make a process for each mode but the first; return the mode of the one that we then are.

    The descriptors of a worker are its three streams and the files of ASSAY_ARENAS; those of the
    twins follow ours in the same order. A twin moves its own to where ours were.
    """
    size = _STREAMS + len([one for one in os.environ.get("ASSAY_ARENAS", "").split(",") if one])
    chosen, first = modes[0], 0
    for number, mode in enumerate(modes[1:], 1):
        if _born():
            chosen, first = mode, number * size
            break
    for i in range(size):
        if first:
            os.dup2(first + i, i)
    for other in range(size, size * len(modes)):
        os.close(other)
    if first:
        os.write(1, b"%d\n" % os.getpid())
    return chosen


def _born():
    """Fork; tell whether we are the new process.

    Who lies between the two ends at once, so that the new one becomes a child of the engine, which
    takes the children of its children: it has to learn how a worker ended.
    """
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return False
    between = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == between:
        time.sleep(1e-4)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, _KILL)
    return True
