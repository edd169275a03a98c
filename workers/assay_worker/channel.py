"""The pipe to the engine: messages with their length before them, tensors beside them.

On the engine's own machine two nameless files are inherited, one for each direction; tensors lie
there. A worker elsewhere has them in the messages. Nothing but messages may reach the pipe, so
standard output becomes standard error before a framework is imported.
"""

import mmap
import os
import select
import time

from .arrays import STRING, Array
from .messages import Named, Tensor, Value
from .wire import WireError, decode, encode, write_varint

_ALIGNMENT = 64
_PATIENCE = 300e-6  # seconds
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
        data = memoryview(data)
        start = -(-self.used // _ALIGNMENT) * _ALIGNMENT
        end = start + data.nbytes
        if self.map is None or len(self.map) < end:
            size = max(end, 1 << 20, 0 if self.map is None else 2 * len(self.map))
            try:
                os.posix_fallocate(self.descriptor, 0, size)
                self.map = mmap.mmap(self.descriptor, size)
            except OSError:
                return None
        self.map[start:end] = data
        self.used = end
        return start


class Channel(object):
    """Requests in, replies out."""

    def __init__(self):
        """Take over standard input and output."""
        self.source = os.fdopen(os.dup(0), "rb")
        self.target = os.dup(1)
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        self.inward = self.outward = None

    def share(self, token):
        """Use the inherited files if what the engine wrote there can be read; tell whether."""
        places = os.environ.get("ASSAY_ARENAS", "").split(",")
        try:
            inward = Arena(int(places[0]), False)
            if token and bytes(inward.view(0, len(token))) == token.encode():
                self.inward, self.outward = inward, Arena(int(places[1]), True)
        except (ValueError, IndexError, OSError, WireError):
            pass
        return self.inward is not None

    def receive(self, kind):
        """Return the next message, or None at the end."""
        # The next request of a campaign is about to come: to sleep and wake up takes longer.
        patience = time.perf_counter() + _PATIENCE
        while not select.select([self.source], [], [], 0)[0]:
            if time.perf_counter() > patience:
                break
        size = shift = 0
        while True:
            byte = self.source.read(1)
            if not byte:
                return None
            size |= (byte[0] & 0x7F) << shift
            if byte[0] < 0x80:
                break
            shift += 7
        data = self.source.read(size)
        return decode(kind, data) if len(data) == size else None

    def send(self, message):
        """Write a message whole."""
        data = encode(message)
        data = memoryview(write_varint(len(data)) + data)
        while data:
            data = data[os.write(self.target, data) :]
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
        return Named(name=name, value=self._message(value))

    def _message(self, value):
        if value is None:
            return Value(kind=Value.OPTIONAL)
        if isinstance(value, Array):
            return Value(kind=Value.TENSOR, tensor=self._tensor(value))
        kind = Value.MAP if isinstance(value, tuple) else Value.SEQUENCE
        return Value(kind=kind, elements=[self._message(one) for one in value])

    def _tensor(self, array):
        tensor = Tensor(type=array.type, dims=array.shape)
        if array.type == STRING:
            tensor.texts = array.data
            return tensor
        size = memoryview(array.data).nbytes
        place = None
        if self.outward is not None and size > _SMALL:
            place = self.outward.append(array.data)
        if place is None:
            tensor.data = bytes(array.data)
        else:
            tensor.in_arena, tensor.offset, tensor.length = 1, place, size
        return tensor
