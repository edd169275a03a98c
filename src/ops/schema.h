// The standard's own table of operators: what a node of each version may look like.
// The table is written at build time from the pinned onnx wheel (tools/make_schemas.py).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

// How many values a formal parameter takes.
enum class Arity : std::uint8_t { single, optional, variadic };

// An input or an output.
struct FormalParameter {
  std::string_view name;
  std::string_view type;  // a constraint's name ("T") or a type ("tensor(int64)")
  Arity arity;
  bool homogeneous;  // variadic: all its values are of one type
  int min_arity;     // variadic: how many at least
};

// The types that a name such as "T" may stand for, as the standard spells them.
struct TypeConstraint {
  std::string_view name;
  std::span<const std::string_view> allowed;  // "tensor(float)", "seq(tensor(float))", ...
};

// Numbered as AttributeProto.AttributeType.
enum class AttributeKind : std::uint8_t {
  real = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  texts = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};

// An attribute. With `has_default`, the field of its kind holds the default: a real one is the
// float32 that a file would hold, not the decimal number of the text.
struct AttributeFormal {
  std::string_view name;
  AttributeKind kind;
  bool required;
  bool has_default;
  double real;
  std::int64_t integer;
  std::string_view text;
  std::span<const double> reals;
  std::span<const std::int64_t> integers;
  std::span<const std::string_view> texts;
};

// One version of an operator. Attributes are sorted by name.
struct Schema {
  std::string_view domain;  // "" is the standard's own
  std::string_view name;
  int since_version;
  bool deprecated;
  std::span<const FormalParameter> inputs, outputs;
  int min_inputs, max_inputs, min_outputs, max_outputs;  // no limit: kNoLimit
  std::span<const TypeConstraint> constraints;
  std::span<const AttributeFormal> attributes;

  const AttributeFormal* find_attribute(std::string_view attribute) const;
  const TypeConstraint* find_constraint(std::string_view type) const;
};
inline constexpr int kNoLimit = 2147483647;

// All versions of all operators, sorted by domain, name, since_version.
std::span<const Schema> schemas();

// The newest version that a model of this opset of `domain` can mean; nullptr if there is none.
// The domain "ai.onnx" is "". A version that ends an operator's life is found, as deprecated.
const Schema* find_schema(std::string_view domain, std::string_view name, int opset);

}  // namespace assay
