"""Values that a row needs as Python's numbers, also while a model is traced.

Tracing has no values. What a row asks for is answered from the file's tensors where it comes from
there; else the model is evaluated plainly first, the answers are kept in their order, and the trace
gets them again.
"""

import tensorflow as tf

from ..failure import NodeError

_PLAIN, _TRACE, _RECORD, _REPLAY = range(4)


class Unknown(Exception):
    """A trace asked for a value that only an evaluation can give."""


class _State(object):
    mode, answers, place = _PLAIN, [], 0


class _Switch(object):
    """Answer in a mode while a block runs."""

    def __init__(self, mode, answers):
        self.new = (mode, answers, 0)

    def __enter__(self):
        self.old = (_State.mode, _State.answers, _State.place)
        _State.mode, _State.answers, _State.place = self.new

    def __exit__(self, *_):
        _State.mode, _State.answers, _State.place = self.old


def answer(tensor):
    """Return a tensor's elements as a Python list (a number of no axes as a list of one)."""
    if _State.mode == _REPLAY:
        _State.place += 1
        return _State.answers[_State.place - 1]
    if hasattr(tensor, "numpy"):
        elements = tensor.numpy()
    else:
        elements = tf.get_static_value(tensor)
        if elements is None:
            raise Unknown()
    found = elements.reshape(-1).tolist() if hasattr(elements, "reshape") else [elements]
    if _State.mode == _RECORD:
        _State.answers.append(found)
    return found


def record(function, inputs):
    """Return the answers that an evaluation of a function of inputs needs, in their order."""
    answers = []
    with _Switch(_RECORD, answers):
        function(inputs)
    return answers


def tracing(answers):
    """Return a context to trace in: with the answers of an evaluation, or None to do without."""
    return _Switch(_TRACE if answers is None else _REPLAY, answers)


def is_unknown(failure):
    """Tell whether a trace failed because it needs answers."""
    while isinstance(failure, NodeError):
        failure = failure.cause
    return isinstance(failure, Unknown)
