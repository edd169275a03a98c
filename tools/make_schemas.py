"""Write the schemas of the installed onnx package as a table of C++ constants.

usage: make_schemas.py OUTPUT.inc

The output is included by src/ops/schema.cpp, inside its anonymous namespace; the structs are
documented in src/ops/schema.h. Equal lists are written once: the 119 lists of allowed types and
the attributes that a new version inherits make up most of the table.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
from onnx.defs import OpSchema

KINDS = {
    OpSchema.AttrType.FLOAT: "real",
    OpSchema.AttrType.INT: "integer",
    OpSchema.AttrType.STRING: "text",
    OpSchema.AttrType.TENSOR: "tensor",
    OpSchema.AttrType.GRAPH: "graph",
    OpSchema.AttrType.FLOATS: "reals",
    OpSchema.AttrType.INTS: "integers",
    OpSchema.AttrType.STRINGS: "texts",
    OpSchema.AttrType.TENSORS: "tensors",
    OpSchema.AttrType.GRAPHS: "graphs",
    OpSchema.AttrType.SPARSE_TENSOR: "sparse_tensor",
    OpSchema.AttrType.SPARSE_TENSORS: "sparse_tensors",
    OpSchema.AttrType.TYPE_PROTO: "type",
    OpSchema.AttrType.TYPE_PROTOS: "types",
}
ARITIES = {
    OpSchema.FormalParameterOption.Single: "single",
    OpSchema.FormalParameterOption.Optional: "optional",
    OpSchema.FormalParameterOption.Variadic: "variadic",
}


def array(element: str, name: str, items: Sequence[str]) -> str:
    """Return the C++ definition of a constant array, one element a line."""
    return f"constexpr {element} {name}[] = {{\n  " + ",\n  ".join(items) + "};\n"


class Pool:
    """One flat C++ array of elements in which equal lists share a place."""

    def __init__(self, name: str, element: str) -> None:
        """Make an empty pool that will be written as array `name` of `element`."""
        self.name = name
        self.element = element
        self._items: list[str] = []
        self._places: dict[tuple[str, ...], int] = {}

    def span(self, items: Sequence[str]) -> str:
        """Return the C++ expression of a span over these elements."""
        key = tuple(items)
        if not key:
            return "{}"
        if key not in self._places:
            self._places[key] = len(self._items)
            self._items.extend(key)
        return f"{{{self.name} + {self._places[key]}, {len(key)}}}"

    def definition(self) -> str:
        """Return the C++ definition of the array; an unused pool keeps one element."""
        return array(self.element, self.name, self._items or ["{}"])


def text(value: str | bytes) -> str:
    """Return a string_view literal; JSON's escapes of ASCII text are C++'s too."""
    decoded = value.decode() if isinstance(value, bytes) else value
    if not decoded.isascii() or not decoded.isprintable():
        raise ValueError(f"text beyond printable ASCII: {decoded!r}")
    return json.dumps(decoded) + "sv"


def real(value: float) -> str:
    """Return a double literal that is exactly the value."""
    if not math.isfinite(value):
        raise ValueError(f"a default that is not finite: {value}")
    return repr(float(value))


def integer(value: int) -> str:
    """Return an int64 literal; the smallest one has no literal of its own in C++."""
    return f"({value + 1} - 1)" if value == -(2**63) else str(value)


def boolean(value: bool) -> str:
    """Return the C++ spelling."""
    return "true" if value else "false"


class Table:
    """All schemas, gathered into pools."""

    def __init__(self) -> None:
        """Make an empty table."""
        self._types = Pool("kTypes", "std::string_view")
        self._reals = Pool("kReals", "double")
        self._integers = Pool("kIntegers", "std::int64_t")
        self._texts = Pool("kTexts", "std::string_view")
        self._parameters = Pool("kParameters", "FormalParameter")
        self._constraints = Pool("kConstraints", "TypeConstraint")
        self._attributes = Pool("kAttributes", "AttributeFormal")
        self._schemas: list[str] = []

    def _parameter(self, formal: OpSchema.FormalParameter) -> str:
        arity = ARITIES[formal.option]
        return (
            f"{{{text(formal.name)}, {text(formal.type_str)}, Arity::{arity}, "
            f"{boolean(formal.is_homogeneous)}, {formal.min_arity}}}"
        )

    def _constraint(self, constraint: OpSchema.TypeConstraintParam) -> str:
        allowed = self._types.span([text(t) for t in sorted(constraint.allowed_type_strs)])
        return f"{{{text(constraint.type_param_str)}, {allowed}}}"

    def _attribute(self, attribute: OpSchema.Attribute) -> str:
        kind = KINDS[attribute.type]
        default = attribute.default_value
        has_default = default.type != onnx.AttributeProto.UNDEFINED
        fields: dict[str, str] = {
            "real": "0",
            "integer": "0",
            "text": '""sv',
            "reals": "{}",
            "integers": "{}",
            "texts": "{}",
        }
        convert: dict[str, Callable[[], str]] = {
            "real": lambda: real(default.f),
            "integer": lambda: integer(default.i),
            "text": lambda: text(default.s),
            "reals": lambda: self._reals.span([real(v) for v in default.floats]),
            "integers": lambda: self._integers.span([integer(v) for v in default.ints]),
            "texts": lambda: self._texts.span([text(v) for v in default.strings]),
        }
        if has_default:
            fields[kind] = convert[kind]()
        head = (
            f"{text(attribute.name)}, AttributeKind::{kind}, "
            f"{boolean(attribute.required)}, {boolean(has_default)}"
        )
        return f"{{{head}, {', '.join(fields.values())}}}"

    def add(self, schema: OpSchema) -> None:
        """Append a schema; the caller keeps the order."""
        attributes = sorted(schema.attributes.values(), key=lambda a: a.name)
        self._schemas.append(
            f"{{{text(schema.domain)}, {text(schema.name)}, {schema.since_version}, "
            f"{boolean(schema.deprecated)}, "
            f"{self._parameters.span([self._parameter(p) for p in schema.inputs])}, "
            f"{self._parameters.span([self._parameter(p) for p in schema.outputs])}, "
            f"{schema.min_input}, {schema.max_input}, {schema.min_output}, {schema.max_output}, "
            f"{self._constraints.span([self._constraint(c) for c in schema.type_constraints])}, "
            f"{self._attributes.span([self._attribute(a) for a in attributes])}}}"
        )

    def source(self) -> str:
        """Return the C++ text."""
        pools = (
            self._types,
            self._reals,
            self._integers,
            self._texts,
            self._parameters,
            self._constraints,
            self._attributes,
        )
        head = f"// {len(self._schemas)} schemas of onnx {onnx.__version__}, by make_schemas.py.\n"
        return (
            head
            + "".join(pool.definition() for pool in pools)
            + array("Schema", "kSchemas", self._schemas)
        )


def main(arguments: Sequence[str]) -> int:
    """Write the table to the path that is the only argument."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    table = Table()
    everything = onnx.defs.get_all_schemas_with_history()
    for schema in sorted(everything, key=lambda s: (s.domain, s.name, s.since_version)):
        table.add(schema)
    Path(arguments[0]).write_text(table.source())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
