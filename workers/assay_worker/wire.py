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
    """A record with the fields of FIELDS; absent ones are empty, and take no room."""

    FIELDS = {}  # number: (name, kind or message class, repeated)

    def __init__(self, **values):
        """Set the given fields."""
        fields = _layout(type(self))
        unknown = [name for name in values if name not in fields]
        if unknown:
            raise TypeError("%s has no %s" % (type(self).__name__, ", ".join(unknown)))
        self.__dict__.update(values)

    def __getattr__(self, name):
        """Return what an absent field is; a list is the message's own from now on."""
        field = _layout(type(self)).get(name)
        if field is None:
            raise AttributeError("%s has no %s" % (type(self).__name__, name))
        if not field[2]:
            return _EMPTY.get(field[1])
        value = self.__dict__[name] = []
        return value


_EMPTY = {INT: 0, DOUBLE: 0.0, FLOAT: 0.0, TEXT: "", BYTES: b""}
_LAYOUTS = {}  # by class: what its FIELDS come to, worked out once


def _layout(kind):
    """Return (key's bytes, kind, repeated) of each field by its name."""
    if kind not in _LAYOUTS:
        fields = _LAYOUTS[kind] = {}
        for number, (name, inner, repeated) in kind.FIELDS.items():
            wire = {INT: _VARINT, DOUBLE: _FIXED64, FLOAT: _FIXED32}.get(inner, _LENGTH)
            fields[name] = write_varint(number << 3 | wire), inner, repeated
    return _LAYOUTS[kind]


_SMALL = [bytes([number]) for number in range(128)]


def write_varint(number):
    """Encode a number of up to 64 bits, negative ones in two's complement."""
    if 0 <= number < 128:
        return _SMALL[number]
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number > 0x7F:
        out.append(0x80 | (number & 0x7F))
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    """Return the number that starts at a place, and the place after it."""
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
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
    """Return the bytes of a message, in the order in which its fields were set."""
    parts, fields = [], _layout(type(message))
    for name, value in message.__dict__.items():
        if not value:  # what is empty is left out
            continue
        key, kind, repeated = fields[name]
        if repeated:
            for one in value:
                _encode_field(key, kind, one, parts)
        else:
            _encode_field(key, kind, value, parts)
    return b"".join(parts)


def _encode_field(key, kind, value, parts):
    parts.append(key)
    if kind == INT:
        parts.append(write_varint(int(value)))
        return
    if kind == DOUBLE:
        parts.append(struct.pack("<d", value))
        return
    if kind == FLOAT:
        parts.append(struct.pack("<f", value))
        return
    if kind == TEXT:
        value = value.encode("utf-8", "replace")
    elif kind != BYTES:
        value = encode(value)
    parts.append(write_varint(len(value)))
    parts.append(value)


def decode(kind, data):
    """Return the message of a class that some bytes hold; bytes fields are views of them."""
    message = kind.__new__(kind)
    _decode_into(message, kind.FIELDS, memoryview(data))
    return message


def _decode_into(message, fields, data):
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key > 0x7F:
            key, at = read_varint(data, at - 1)
        wire = key & 7
        if wire == _VARINT:
            value, at = read_varint(data, at)
        else:
            if wire == _LENGTH:
                size, at = read_varint(data, at)
            elif wire in (_FIXED64, _FIXED32):
                size = 8 if wire == _FIXED64 else 4
            else:
                raise WireError("wire type %d is unknown" % wire)
            value = data[at : at + size]
            at += size
            if at > end:
                raise WireError("a field is cut off")
        field = fields.get(key >> 3)
        if field is not None:
            _set_field(message, field, value, wire)


def _set_field(message, field, value, wire):
    name, kind, repeated = field
    if not repeated:
        message.__dict__[name] = _convert(kind, value)
        return
    values = message.__dict__.setdefault(name, [])
    if wire == _LENGTH and kind in (INT, DOUBLE, FLOAT):
        values.extend(_unpack(kind, value))
    else:
        values.append(_convert(kind, value))


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
