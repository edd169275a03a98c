"""The protobuf wire format, both ways, for messages that are declared as tables.

Old frameworks pin old protobuf packages, so a worker has a codec of its own. A message is a class
whose FIELDS name each field number: (name, kind, repeated). Unknown fields are passed over.
"""

import struct

INT, DOUBLE, FLOAT, TEXT, BYTES = "int", "double", "float", "text", "bytes"
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes that are no message."""


class Message(object):
    """A record with the fields of FIELDS; absent ones are empty."""

    FIELDS = {}  # number: (name, kind or message class, repeated)

    def __init__(self, **values):
        """Set the given fields."""
        for name, kind, repeated in self.FIELDS.values():
            setattr(self, name, values.pop(name, [] if repeated else _empty(kind)))
        if values:
            raise TypeError("%s has no %s" % (type(self).__name__, ", ".join(values)))


def _empty(kind):
    if kind in (DOUBLE, FLOAT):
        return 0.0
    return {INT: 0, TEXT: "", BYTES: b""}.get(kind)


def write_varint(number):
    """Encode a number of up to 64 bits, negative ones in two's complement."""
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number > 0x7F:
        out.append(0x80 | (number & 0x7F))
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    """Return the number that starts at a place, and the place after it."""
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError("a number is cut off")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def _signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def encode(message):
    """Return the bytes of a message."""
    parts = []
    for number, (name, kind, repeated) in message.FIELDS.items():
        value = getattr(message, name)
        if repeated:
            for one in value:
                _encode_field(number, kind, one, parts)
        elif value is not None and value != _empty(kind):
            _encode_field(number, kind, value, parts)
    return b"".join(parts)


def _encode_field(number, kind, value, parts):
    if kind == INT:
        parts.append(write_varint(number << 3 | _VARINT) + write_varint(int(value)))
        return
    if kind == DOUBLE:
        parts.append(write_varint(number << 3 | _FIXED64) + struct.pack("<d", value))
        return
    if kind == FLOAT:
        parts.append(write_varint(number << 3 | _FIXED32) + struct.pack("<f", value))
        return
    if kind == TEXT:
        value = value.encode("utf-8", "replace")
    elif kind != BYTES:
        value = encode(value)
    parts.append(write_varint(number << 3 | _LENGTH) + write_varint(len(value)))
    parts.append(value)


def decode(kind, data):
    """Return the message of a class that some bytes hold; bytes fields are views of them."""
    message = kind()
    data = memoryview(data)
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        field = kind.FIELDS.get(key >> 3)
        value, at = _read_value(data, at, key & 7)
        if field is not None:
            _set_field(message, field, value, key & 7)
    return message


def _read_value(data, at, wire):
    if wire == _VARINT:
        return read_varint(data, at)
    if wire == _LENGTH:
        size, at = read_varint(data, at)
    elif wire in (_FIXED64, _FIXED32):
        size = 8 if wire == _FIXED64 else 4
    else:
        raise WireError("wire type %d is unknown" % wire)
    if at + size > len(data):
        raise WireError("a field is cut off")
    return data[at : at + size], at + size


def _set_field(message, field, value, wire):
    name, kind, repeated = field
    if repeated and wire == _LENGTH and kind in (INT, DOUBLE, FLOAT):
        getattr(message, name).extend(_unpack(kind, value))
        return
    value = _convert(kind, value)
    if repeated:
        getattr(message, name).append(value)
    else:
        setattr(message, name, value)


def _unpack(kind, data):
    if kind == INT:
        numbers, at = [], 0
        while at < len(data):
            number, at = read_varint(data, at)
            numbers.append(_signed(number))
        return numbers
    letter, size = ("d", 8) if kind == DOUBLE else ("f", 4)
    return struct.unpack("<%d%s" % (len(data) // size, letter), data)


def _convert(kind, value):
    if kind == INT:
        return _signed(value)
    if kind == DOUBLE:
        return struct.unpack("<d", value)[0]
    if kind == FLOAT:
        return struct.unpack("<f", value)[0]
    if kind == TEXT:
        return bytes(value).decode("utf-8", "replace")
    if kind == BYTES:
        return value
    return decode(kind, value)
