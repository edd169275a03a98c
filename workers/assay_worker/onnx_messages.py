"""The parts of ONNX's file format that a worker reads."""

from .wire import BYTES, DOUBLE, FLOAT, INT, TEXT, Message


class Entry(Message):
    """A key and its value."""

    FIELDS = {1: ("key", TEXT, False), 2: ("value", TEXT, False)}


class TensorProto(Message):
    """A tensor in a file."""

    FIELDS = {
        1: ("dims", INT, True),
        2: ("data_type", INT, False),
        4: ("float_data", FLOAT, True),
        5: ("int32_data", INT, True),
        6: ("string_data", BYTES, True),
        7: ("int64_data", INT, True),
        8: ("name", TEXT, False),
        9: ("raw_data", BYTES, False),
        10: ("double_data", DOUBLE, True),
        11: ("uint64_data", INT, True),
        13: ("external_data", Entry, True),
        14: ("data_location", INT, False),
    }


class SparseTensorProto(Message):
    """A tensor most of whose elements are zero."""

    FIELDS = {
        1: ("values", TensorProto, False),
        2: ("indices", TensorProto, False),
        3: ("dims", INT, True),
    }


class ValueInfoProto(Message):
    """The name of an input or output."""

    FIELDS = {1: ("name", TEXT, False)}


class OperatorSetIdProto(Message):
    """A version of the operators of a domain."""

    FIELDS = {1: ("domain", TEXT, False), 2: ("version", INT, False)}


class AttributeProto(Message):
    """A parameter of a node."""


class NodeProto(Message):
    """A call of an operator."""

    FIELDS = {
        1: ("input", TEXT, True),
        2: ("output", TEXT, True),
        3: ("name", TEXT, False),
        4: ("op_type", TEXT, False),
        5: ("attribute", AttributeProto, True),
        7: ("domain", TEXT, False),
        9: ("metadata_props", Entry, True),
    }


class GraphProto(Message):
    """Nodes and initial values."""

    FIELDS = {
        1: ("node", NodeProto, True),
        2: ("name", TEXT, False),
        5: ("initializer", TensorProto, True),
        11: ("input", ValueInfoProto, True),
        12: ("output", ValueInfoProto, True),
        15: ("sparse_initializer", SparseTensorProto, True),
    }


AttributeProto.FIELDS = {
    1: ("name", TEXT, False),
    2: ("f", FLOAT, False),
    3: ("i", INT, False),
    4: ("s", BYTES, False),
    5: ("t", TensorProto, False),
    6: ("g", GraphProto, False),
    7: ("floats", FLOAT, True),
    8: ("ints", INT, True),
    9: ("strings", BYTES, True),
    10: ("tensors", TensorProto, True),
    11: ("graphs", GraphProto, True),
    20: ("type", INT, False),
    21: ("ref_attr_name", TEXT, False),
}


class FunctionProto(Message):
    """An operator that the file defines itself."""

    FIELDS = {
        1: ("name", TEXT, False),
        4: ("input", TEXT, True),
        5: ("output", TEXT, True),
        6: ("attribute", TEXT, True),
        7: ("node", NodeProto, True),
        9: ("opset_import", OperatorSetIdProto, True),
        10: ("domain", TEXT, False),
        11: ("attribute_proto", AttributeProto, True),
    }


class ModelProto(Message):
    """A file."""

    FIELDS = {
        1: ("ir_version", INT, False),
        7: ("graph", GraphProto, False),
        8: ("opset_import", OperatorSetIdProto, True),
        25: ("functions", FunctionProto, True),
    }
