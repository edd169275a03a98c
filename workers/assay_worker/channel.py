"""The pipe to the engine: messages with their length before them, tensors beside them.

On the engine's own machine three nameless files are inherited, one for each direction and one for
inner values, which the engine reads where they lie; tensors are there. A worker elsewhere has them
in the messages. Nothing but messages may reach the pipe, so standard output becomes standard error
before a framework is imported.
"""

import mmap
import os
import select
import time

from .arrays import STRING, Array
from .messages import Named, Tensor, Value
from .wire import WireError, read_varint, write_varint

ALIGNMENT = 64
_PATIENCE = 300e-6  # seconds
_READ = 4096  # bytes, with which most requests are whole
_SMALL = 4096  # bytes that are cheaper in the message than beside it


class Arena(object):
    """A file that both sides map. The writer makes it longer; the reader follows."""

    def __init__(self, descriptor, write):
        """Take a descriptor of an open file."""
        self.descriptor, self.write = descriptor, write
        self.map, self.used = None, 0

    def view(self, offset, length):
        """Return bytes that the other side has written."""
        if self.map is None or len(self.map) < offset + length:
            size = os.fstat(self.descriptor).st_size
            if size < offset + length:
                raise WireError("a tensor lies outside the arena")
            self.map = mmap.mmap(self.descriptor, size, access=mmap.ACCESS_READ)
        return memoryview(self.map)[offset : offset + length]

    def append(self, data):
        """Write bytes after those of this message and return where; None if there is no room."""
        data, done = memoryview(data), 0
        start = -(-self.used // ALIGNMENT) * ALIGNMENT
        try:
            # A page that is written whole need not be cleared, nor mapped, before.
            while done < data.nbytes:
                done += os.pwrite(self.descriptor, data[done:], start + done)
        except OSError:
            return None
        self.used = start + done
        return start

    def reserve(self, end):
        """Make it so long that there is room up to an end; tell whether there is."""
        if self.map is not None and len(self.map) >= end:
            return True
        size = max(end, 1 << 20, 0 if self.map is None else 2 * len(self.map))
        try:
            os.posix_fallocate(self.descriptor, 0, size)
            self.map = mmap.mmap(self.descriptor, size)
        except OSError:
            return False
        return True


class Channel(object):
    """Requests in, replies out."""

    def __init__(self):
        """Take over standard input and output."""
        self.source, self.surplus = os.fdopen(os.dup(0), "rb", 0), b""
        self.ready = select.poll()
        self.ready.register(self.source, select.POLLIN)
        self.target = os.dup(1)
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        self.inward = self.outward = self.shown = None

    def share(self, token):
        """Use the inherited files if what the engine wrote there can be read; tell whether."""
        places = os.environ.get("ASSAY_ARENAS", "").split(",")
        try:
            inward = Arena(int(places[0]), False)
            if token and bytes(inward.view(0, len(token))) == token.encode():
                self.inward, self.outward = inward, Arena(int(places[1]), True)
                self.shown = Arena(int(places[2]), True)
        except (ValueError, IndexError, OSError, WireError):
            pass
        return self.inward is not None

    def receive(self):
        """Return the bytes of the next message, or None at the end."""
        # The next request of a campaign is about to come: to sleep and wake up takes longer.
        poll, clock = self.ready.poll, time.perf_counter
        patience = clock() + _PATIENCE
        while not poll(0) and clock() < patience:
            pass
        data = self.surplus or self.source.read(_READ)
        while data and len(data) < 10 and min(data) > 0x7F:  # the length is not whole yet
            more = self.source.read(_READ)
            data = data + more if more else b""
        if not data:
            return None
        size, start = read_varint(data, 0)
        message, self.surplus = data[start : start + size], data[start + size :]
        if len(message) < size:
            message = self._rest(message, size)
        return message

    def _rest(self, message, size):
        """Return a message whose start is here; None if the pipe ends within it."""
        whole = bytearray(size)
        view, done = memoryview(whole), len(message)
        whole[:done] = message
        while done < size:
            count = self.source.readinto(view[done:])
            if not count:
                return None
            done += count
        return whole

    def send(self, data):
        """Write a message whole."""
        data = write_varint(len(data)) + data
        written = os.write(self.target, data)
        while written < len(data):
            written += os.write(self.target, memoryview(data)[written:])
        if self.outward is not None:
            self.outward.used = 0

    def value(self, message):
        """Return a received Value: an Array, a list, None, or a pair of Arrays for a map."""
        if message is None or message.kind == Value.ABSENT:
            return None
        if message.kind == Value.TENSOR:
            return self._array(message.tensor)
        elements = [self.value(one) for one in message.elements]
        if message.kind == Value.OPTIONAL:
            return elements[0] if elements else None
        return tuple(elements) if message.kind == Value.MAP else elements

    def _array(self, tensor):
        if tensor.type == STRING:
            return Array(STRING, tensor.dims, tensor.texts)
        data = tensor.data
        if tensor.in_arena:
            data = self.inward.view(tensor.offset, tensor.length)
        return Array(tensor.type, tensor.dims, data)

    def named(self, name, value):
        """Return a value as a message to send."""
        return Named(name=name, value=self._message(value, self.outward))

    def named_inner(self, values, start):
        """Return inner values by name as messages, and where their tensors end."""
        if self.shown is None:
            return [self.named(name, value) for name, value in values.items()], 0
        self.shown.used = start
        messages = [
            Named(name=name, value=self._message(value, self.shown))
            for name, value in values.items()
        ]
        return messages, self.shown.used

    def _message(self, value, arena):
        if value is None:
            return Value(kind=Value.OPTIONAL)
        if isinstance(value, Array):
            return Value(kind=Value.TENSOR, tensor=self._tensor(value, arena))
        kind = Value.MAP if isinstance(value, tuple) else Value.SEQUENCE
        return Value(kind=kind, elements=[self._message(one, arena) for one in value])

    def _tensor(self, array, arena):
        tensor = Tensor(type=array.type, dims=array.shape)
        if array.type == STRING:
            tensor.texts = array.data
            return tensor
        size = memoryview(array.data).nbytes
        place = None
        if arena is not None and size > _SMALL:
            place = arena.append(array.data)
        if place is None:
            tensor.data = bytes(array.data)
        else:
            tensor.in_arena, tensor.offset, tensor.length = 1, place, size
        return tensor
