"""Runs of one model on inputs of one form, again and again, without a word about them.

A form is what the inputs of one `run` were, and what came of it: names, types, shapes. From then
on the tensors of a feed lie side by side in a block, each at a multiple of 64 bytes, and blocks lie
one after the other; so do those of the answers. What runs the model on a block of the arena is made
once.
"""

import struct
import time

import numpy as np

from .arrays import NARROW_BITS, NUMPY_TYPES, STRING, Array, from_numpy
from .channel import ALIGNMENT
from .failure import refuse
from .messages import Named, Result, Tensor, Value

FEEDS_START = 64  # in the arena: the engine's token is before it


class Block(object):
    """How tensors lie side by side: (name, type, shape, start, end) of each."""

    def __init__(self, named):
        """Take messages with tensors."""
        self.places, self.size = [], 0
        for one in named:
            tensor = one.value.tensor
            length = tensor.length if tensor.in_arena else len(tensor.data)
            end = self.size + length
            self.places.append((one.name, tensor.type, tuple(tensor.dims), self.size, end))
            self.size = -(-end // ALIGNMENT) * ALIGNMENT

    @staticmethod
    def of(named):
        """Return the block of some messages; None if one has no tensor of numbers."""
        plain = all(n.value.kind == Value.TENSOR and n.value.tensor.type != STRING for n in named)
        return Block(named) if plain else None

    def arrays(self, data, number):
        """Return the tensors of the block with a number, by name."""
        first = number * self.size
        return {
            name: Array(kind, shape, data[first + start : first + end])
            for name, kind, shape, start, end in self.places
        }

    def targets(self, data, number):
        """Return where the tensors of a block go."""
        return [_Target(name, array) for name, array in self.arrays(data, number).items()]


class _Target(object):
    """A tensor's place, as bytes and, where numpy has the type, as its array."""

    __slots__ = ("name", "array", "view", "kind", "shape")

    def __init__(self, name, array):
        self.name, self.array, self.shape = name, array, array.shape
        self.view = self.kind = None
        if array.type in NUMPY_TYPES and array.type not in NARROW_BITS:
            self.view = array.numpy()
            self.kind = self.view.dtype

    def put(self, value):
        """Copy a value; False if it is of another form."""
        if type(value) is np.ndarray:
            if value.shape != self.shape or value.dtype != self.kind:
                return False
            self.view[...] = value
            return True
        same = isinstance(value, Array) and value.type == self.array.type
        if not same or value.shape != self.shape or len(value.data) != len(self.array.data):
            return False
        self.array.data[:] = value.data
        return True


class Form(object):
    """A model, and how its inputs and its answers lie."""

    def __init__(self, model, request, reply):
        """Take a run and its reply."""
        self.model, self.outputs = model, list(request.outputs)
        self.feed, self.answer = Block.of(request.inputs), Block.of(reply.values)
        self.calls = []  # for the blocks of the arenas

    def run(self, request, reply, channel):
        """Run the model on each of a request's blocks."""
        count, size, buffer = request.count, request.count * self.answer.size, None
        feeds = request.data
        if request.placed:
            feeds = channel.inward.view(FEEDS_START, count * self.feed.size)
        if channel.outward is None or not channel.outward.reserve(size):
            buffer = bytearray(size)
        answers = memoryview(channel.outward.map if buffer is None else buffer)
        if request.placed and buffer is None:
            new = range(len(self.calls), count)
            self.calls += [self._call(feeds, answers, number, True) for number in new]
            calls = self.calls
        else:
            calls = [self._call(feeds, answers, number, False) for number in range(count)]
        times, others = _run_all(count, calls)
        if others:
            self.tell(times, others, reply, channel, buffer)
            return
        reply.times = struct.pack("<%dd" % count, *times)
        if buffer is None:
            reply.placed = 1
        else:
            reply.data = buffer

    def run_placed(self, count):
        """Run on blocks of the arenas that have been used before.

        Returns the seconds of each, and by number what could not be put in its place.
        """
        return _run_all(count, self.calls)

    def _call(self, feeds, answers, number, lasting):
        """Return what runs the model on a block, and where its answers go."""
        targets = self.answer.targets(answers, number)
        places = {one.name: one.view for one in targets} if lasting else {}
        return self.model.bind(self.feed.arrays(feeds, number), self.outputs, places), targets

    def tell(self, times, others, reply, channel, buffer=None):
        """Put all answers one by one into a reply, because some have no place of their own."""
        if buffer is None:
            channel.outward.used = len(times) * self.answer.size
        results = []
        for number, seconds in enumerate(times):
            result = Result(status="ok", seconds=seconds)
            values = others.get(number)
            if number not in others:
                result.values = self._placed(number, buffer)
            elif isinstance(values, Exception):
                refuse(result, values)
            else:
                result.values = [channel.named(n, _travelling(v)) for n, v in values.items()]
            results.append(result)
        reply.results = results

    def _placed(self, number, buffer):
        """Return the values of a block as messages."""
        found, first = [], number * self.answer.size
        for name, kind, shape, start, end in self.answer.places:
            tensor = Tensor(type=kind, dims=shape)
            if buffer is None:
                tensor.in_arena, tensor.offset, tensor.length = 1, first + start, end - start
            else:
                tensor.data = buffer[first + start : first + end]
            found.append(Named(name=name, value=Value(kind=Value.TENSOR, tensor=tensor)))
        return found


def _run_all(count, calls):
    """Return the seconds of each block, and by number what could not be put in its place."""
    answers, times, others, clock = [], [], {}, time.perf_counter
    for number in range(count):
        start = clock()
        try:
            answers.append(calls[number][0]())
        except Exception as failure:
            answers.append({})
            others[number] = failure
        times.append(clock() - start)
    # To copy all at last is quicker: a model leaves nothing of this code in the caches.
    for number, values in enumerate(answers):
        if values is None:
            continue
        for target in calls[number][1]:
            if not target.put(values.get(target.name)):
                others.setdefault(number, values)
    return times, others


def _travelling(value):
    return from_numpy(value) if isinstance(value, np.ndarray) else value
