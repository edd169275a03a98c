// Types of values in a model: element type, a shape that may be partly unknown, containers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace assay {

// The name of an extent. Equal names are one string, which stays until the process ends, so that
// extents cost no more to copy than numbers.
class Symbol {
 public:
  Symbol() = default;  // no name
  explicit Symbol(std::string_view name);
  bool empty() const { return name_ == nullptr; }
  const std::string& text() const;
  // So many times the extent, "49*batch"; no name if that is more than an extent may be.
  Symbol times(std::int64_t factor) const;
  Symbol base() const;          // of which this is a multiple
  std::int64_t factor() const;  // 1, unless it is one
  friend bool operator==(Symbol a, Symbol b) { return a.name_ == b.name_; }

 private:
  struct Name;
  explicit Symbol(const Name* name) : name_(name) {}
  const Name* name_ = nullptr;
};

// An extent that is known, named (the same name is the same extent), or unknown.
struct Dim {
  std::int64_t value = -1;
  Symbol symbol;

  Dim() = default;
  Dim(std::int64_t known) : value(known) {}  // NOLINT(google-explicit-constructor)
  static Dim named(Symbol symbol);
  static Dim named(std::string_view symbol) { return named(Symbol(symbol)); }
  bool known() const { return value >= 0; }
  bool same_as(const Dim& other) const;       // certainly equal
  bool differs_from(const Dim& other) const;  // certainly different
};
Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);

using Dims = InlineVector<Dim, 4>;
Dims to_dims(const Shape& shape);
std::optional<Shape> to_shape(const Dims& dims);  // if every extent is known
std::string to_text(const Dims& dims);            // "[batch,3,?]"

// What a file says about a type beyond what it means.
struct TypeNotes {
  std::string denotation;
  std::vector<std::string> axis_denotations;  // of a tensor, "" where an axis has none; or empty
  std::string opaque;  // of kind unknown: the file's opaque type, as "domain/name"
};

struct ValueType {
  enum class Kind : std::uint8_t { unknown, tensor, sparse_tensor, sequence, optional, map };
  Kind kind = Kind::unknown;
  ElementType element = ElementType::undefined;  // of a tensor, or the key type of a map
  std::optional<Dims> dims;                      // of a tensor; absent: rank unknown
  std::shared_ptr<const ValueType> inner;        // of a sequence, an optional, a map's values
  std::shared_ptr<const TypeNotes> notes;        // null: none

  static ValueType tensor(ElementType element) { return {Kind::tensor, element, {}, {}, {}}; }
  static ValueType tensor(ElementType element, Dims dims);
  static ValueType sequence(ValueType inner);
  static ValueType optional(ValueType inner);
  static ValueType map(ElementType key, ValueType inner);
  bool is_tensor() const { return kind == Kind::tensor; }
};
// "tensor(float)", "seq(tensor(int64))", "optional(seq(tensor(float)))",
// "map(string, float)"
std::string standard_name(const ValueType& type);
std::string to_text(const ValueType& type);  // "f32[1,3,?]", "seq(f32[2])"

}  // namespace assay
