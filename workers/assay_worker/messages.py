"""The messages between engine and worker; src/backends/protocol.proto is the engine's side."""

from .wire import BYTES, DOUBLE, INT, TEXT, Message


class Tensor(Message):
    """Elements as they lie in ONNX files, here or in the arena; texts apart."""

    FIELDS = {
        1: ("type", INT, False),  # TensorProto.DataType
        2: ("dims", INT, True),
        3: ("data", BYTES, False),
        4: ("in_arena", INT, False),
        5: ("offset", INT, False),
        6: ("length", INT, False),
        7: ("texts", BYTES, True),
    }


class Value(Message):
    """A tensor, a sequence, an optional with at most one element, or a map (keys, values)."""

    ABSENT, TENSOR, SEQUENCE, OPTIONAL, MAP = range(5)


Value.FIELDS = {
    1: ("kind", INT, False),
    2: ("tensor", Tensor, False),
    3: ("elements", Value, True),
}


class Named(Message):
    """A value and its name."""

    FIELDS = {1: ("name", TEXT, False), 2: ("value", Value, False)}


class Script(Message):
    """What a model is in a framework's own calls, as parts of a script."""

    FIELDS = {
        1: ("imports", TEXT, True),
        2: ("lines", TEXT, True),  # the last one sets `found`, a list of numpy's arrays
        3: ("variables", TEXT, True),  # that the lines read
        4: ("puts", TEXT, True),  # what makes each of them of numpy's array, which is {}
        5: ("model", INT, False),  # the lines read `model`, an ONNX file's bytes, and `feed`
        6: ("onnx", TEXT, False),  # imports the package onnx, to build `model` with, if it is there
    }


class Request(Message):
    """What the engine asks: `verb` says which of the other fields count."""

    FIELDS = {
        1: ("id", INT, False),
        2: ("verb", TEXT, False),  # hello, load, run, again, fetch, forget, …
        3: ("model", TEXT, False),  # the name under which a model or a run's values stay here
        4: ("bytes", BYTES, False),  # load: an ONNX file's content
        5: ("path", TEXT, False),  # load: or where it is
        6: ("inputs", Named, True),
        7: ("outputs", TEXT, True),
        8: ("hidden", INT, False),  # run: answer the value of every node
        9: ("keep", INT, False),  # run: answer no values; they stay here for fetch
        10: ("threads", INT, False),
        11: ("seed", INT, False),
        12: ("token", TEXT, False),  # hello: what the arena starts with, if it is shared
        40: ("values", TEXT, True),  # script: names of inputs and initializers,
        41: ("variables", TEXT, True),  # and of the variables that hold them, in the same order
        13: ("disabled", TEXT, True),  # load: passes of the optimizer that stay away; "*": all
        14: ("watched", TEXT, True),  # run, with hidden: only these; x/ is all that is below x
        15: ("form", INT, False),  # run: the form of these inputs gets this number; again: which
        16: ("count", INT, False),  # again: so many feeds, a block each,
        17: ("placed", INT, False),  # which lie in the arena,
        18: ("data", BYTES, False),  # or here
        19: ("shown_start", INT, False),  # run, with hidden: where their tensors may lie
    }


class Result(Message):
    """What came of one of many feeds."""

    FIELDS = {
        1: ("status", TEXT, False),  # ok, unsupported, failed
        2: ("message", TEXT, False),
        3: ("node", TEXT, False),
        4: ("op", TEXT, False),
        5: ("values", Named, True),
        6: ("seconds", DOUBLE, False),
    }


class Reply(Message):
    """What the worker answers."""

    FIELDS = {
        1: ("id", INT, False),
        2: ("status", TEXT, False),  # ok, unsupported, failed, restart
        3: ("message", TEXT, False),
        4: ("node", TEXT, False),
        5: ("op", TEXT, False),
        6: ("values", Named, True),
        7: ("hidden", Named, True),
        8: ("seconds", DOUBLE, False),  # of the framework's own work
        9: ("framework", TEXT, False),
        10: ("version", TEXT, False),
        11: ("python", TEXT, False),
        12: ("operators", TEXT, True),
        13: ("shared", INT, False),
        14: ("missing", Named, True),  # operators: those that are not there
        15: ("reasons", TEXT, True),  # and why, in the same order
        40: ("script", Script, False),
        16: ("passes", TEXT, True),  # passes: those that changed the model come first
        17: ("changed", INT, False),  # and so many they are
        18: ("variables", TEXT, True),  # restart: NAME=VALUE, with which to start and ask again
        19: ("again", INT, False),  # hello: it knows that verb
        20: ("times", BYTES, False),  # again: seconds of each feed, a list of doubles, packed
        21: ("placed", INT, False),  # again: a block for each feed lies in the arena,
        22: ("data", BYTES, False),  # or here,
        24: ("shown_end", INT, False),  # run, with hidden: where these tensors end
        23: ("results", Result, True),  # or answers are of other forms, and come one by one
    }
