"""Tensors as bytes, the form in which they travel, and as numpy's arrays."""

import os

import numpy as np

from .failure import Failed, Unsupported

# TensorProto.DataType: name and, where numpy has the type, its name there. A framework that has
# more of them adds to NUMPY_TYPES.
TYPE_NAMES = {
    1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "double", 12: "uint32", 13: "uint64",
    14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz",
    19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1",
    24: "float8e8m0", 25: "uint2", 26: "int2", 27: "float6e2m3", 28: "float6e3m2",
}  # fmt: skip
NUMPY_TYPES = {
    1: np.dtype("float32"), 2: np.dtype("uint8"), 3: np.dtype("int8"), 4: np.dtype("uint16"),
    5: np.dtype("int16"), 6: np.dtype("int32"), 7: np.dtype("int64"), 9: np.dtype("bool"),
    10: np.dtype("float16"), 11: np.dtype("float64"), 12: np.dtype("uint32"),
    13: np.dtype("uint64"), 14: np.dtype("complex64"), 15: np.dtype("complex128"),
}  # fmt: skip
# What numpy has through the package ml_dtypes, by its name there.
ML_DTYPES = {
    16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2",
    20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu",
    25: "uint2", 26: "int2",
}  # fmt: skip
STRING = 8
# Elements that lie side by side in a byte, and how many bits each has.
NARROW_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}


def take_ml_dtypes():
    """Add the types of ml_dtypes, as far as there are, to those that numpy has."""
    try:
        import ml_dtypes
    except ImportError:
        return
    for number, name in ML_DTYPES.items():
        if hasattr(ml_dtypes, name):
            NUMPY_TYPES[number] = np.dtype(getattr(ml_dtypes, name))


class Array(object):
    """Element type (a number of ONNX), shape, and the elements' bytes as in ONNX files.

    Of texts `data` is a list of bytes.
    """

    __slots__ = ("type", "shape", "data")

    def __init__(self, type_, shape, data):
        """Take the elements as they are, without a copy."""
        self.type, self.shape, self.data = type_, tuple(shape), data

    def count(self):
        """Return the number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def numpy(self):
        """Return the elements as numpy's array: a view where the bytes allow it."""
        if self.type == STRING:
            texts = np.array([bytes(t).decode("utf-8", "replace") for t in self.data], object)
            return texts.reshape(self.shape)
        kind = NUMPY_TYPES.get(self.type)
        if kind is None:
            raise Unsupported("%s tensors" % TYPE_NAMES.get(self.type, self.type))
        if self.type in NARROW_BITS:
            return _unpack(self, kind)
        if not self.count():
            return np.zeros(self.shape, kind)
        return np.frombuffer(self.data, kind, self.count()).reshape(self.shape)

    def integers(self):
        """Return the elements of an integer tensor as Python's numbers, in order."""
        return [int(x) for x in self.numpy().reshape(-1)]


def _unpack(array, kind):
    """Give each narrow element a byte of its own."""
    bits = NARROW_BITS[array.type]
    packed = np.frombuffer(array.data, np.uint8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = ((packed[:, None] >> shifts) & np.uint8((1 << bits) - 1)).reshape(-1)[: array.count()]
    if array.type in (22, 26):  # signed: spread the sign bit
        sign = np.uint8(1 << (bits - 1))
        parts = ((parts ^ sign).astype(np.int16) - np.int16(sign)).astype(np.int8)
        return parts.astype(kind).reshape(array.shape)
    if array.type == 23:  # the bits are the value
        return parts.view(kind).reshape(array.shape)
    return parts.astype(kind).reshape(array.shape)


def _pack(elements, type_):
    bits = NARROW_BITS[type_]
    each = 8 // bits
    raw = elements.view(np.uint8) if type_ == 23 else elements.astype(np.int8).view(np.uint8)
    raw = raw.reshape(-1) & np.uint8((1 << bits) - 1)
    raw = np.concatenate([raw, np.zeros(-len(raw) % each, np.uint8)]).reshape(-1, each)
    packed = np.zeros(len(raw), np.uint8)
    for place in range(each):
        packed |= raw[:, place] << np.uint8(place * bits)
    return packed.tobytes()


def from_numpy(elements, type_=None):
    """Return numpy's array as an Array; the type is told where numpy cannot know it."""
    elements = np.asarray(elements)
    if elements.dtype.kind in "OUS":
        texts = [
            t if isinstance(t, bytes) else str(t).encode("utf-8") for t in elements.reshape(-1)
        ]
        return Array(STRING, elements.shape, texts)
    if type_ is None:
        type_ = type_number(elements.dtype)
    if type_ in NARROW_BITS:
        return Array(type_, elements.shape, _pack(np.ascontiguousarray(elements), type_))
    if not elements.flags.c_contiguous:
        elements = elements.copy(order="C")
    data = memoryview(elements.reshape(-1).view(np.uint8)) if elements.size else b""
    return Array(type_, elements.shape, data)


def type_number(dtype):
    """Return ONNX's number of a numpy type."""
    for number, kind in NUMPY_TYPES.items():
        if kind == dtype:
            return number
    raise Failed("the framework answered with elements of type %s" % dtype)


def from_proto(proto, folder):
    """Return a tensor of a file; one whose data lie apart is looked for in a folder."""
    shape = tuple(proto.dims)
    if proto.data_location == 1:
        return Array(proto.data_type, shape, _external(proto, folder))
    if proto.data_type == STRING:
        return Array(STRING, shape, proto.string_data)
    if len(proto.raw_data):
        return Array(proto.data_type, shape, proto.raw_data)
    kind = NUMPY_TYPES.get(proto.data_type)
    if proto.float_data:
        return from_numpy(np.array(proto.float_data, np.float32).view(kind).reshape(shape))
    if proto.double_data:
        return from_numpy(np.array(proto.double_data, np.float64).view(kind).reshape(shape))
    numbers = proto.int64_data or [n & 0xFFFFFFFFFFFFFFFF for n in proto.uint64_data]
    if numbers:
        return from_numpy(np.array(numbers, kind).reshape(shape))
    return _from_int32(proto, shape, kind)


def _from_int32(proto, shape, kind):
    """Read narrower types, which the standard keeps as 32-bit integers: bits or packed bytes."""
    numbers = np.array([n & 0xFFFFFFFF for n in proto.int32_data], np.uint32)
    if proto.data_type in NARROW_BITS or proto.data_type in (17, 18, 19, 20, 24, 27, 28):
        return Array(proto.data_type, shape, numbers.astype(np.uint8).tobytes())
    if proto.data_type in (10, 16):
        return Array(proto.data_type, shape, numbers.astype(np.uint16).tobytes())
    if kind is None:
        raise Unsupported("%s tensors" % TYPE_NAMES.get(proto.data_type, proto.data_type))
    return from_numpy(numbers.astype(kind).reshape(shape))


def _external(proto, folder):
    entries = {entry.key: entry.value for entry in proto.external_data}
    place = os.path.normpath(os.path.join(folder, entries.get("location", "")))
    if not place.startswith(os.path.join(os.path.normpath(folder), "")):
        raise Failed("tensor %s: its data lie outside the model's folder" % proto.name)
    with open(place, "rb") as file:
        file.seek(int(entries.get("offset", 0)))
        return file.read(int(entries["length"]) if "length" in entries else -1)
