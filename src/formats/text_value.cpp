#include "formats/text_value.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdlib>

#include <fmt/format.h>

#include "tensor/tensor.h"

namespace assay {
namespace {

// The double that a whole text stands for: decimal, hexadecimal, nan, inf.
std::optional<double> to_real(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> to_integer(std::string_view text) {
  T value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double parse_real(TextCursor& cursor, ElementType type) {
  if (cursor.starts_with("'")) cursor.fail("a number");
  const std::string text = cursor.number_text();
  const auto value = to_real(text);
  if (!value) cursor.refuse(fmt::format("'{}' is no number", text));
  if (std::isfinite(*value) && !std::isfinite(round_to(type, *value))) {
    cursor.refuse(fmt::format("{} does not fit into {}", text, short_name(type)));
  }
  return *value;
}

// Unsigned numbers of 64 bits come as the signed ones of the same bits.
std::int64_t parse_integer(TextCursor& cursor, ElementType type) {
  const std::string text = cursor.number_text();
  if (domain_of(type) == Domain::unsigned_integer) {
    const auto value = to_integer<std::uint64_t>(text);
    if (value && *value <= largest_integer(type)) return static_cast<std::int64_t>(*value);
  } else {
    const auto value = to_integer<std::int64_t>(text);
    const auto largest = static_cast<std::int64_t>(largest_integer(type));
    if (value && *value >= smallest_integer(type) && *value <= largest) return *value;
  }
  cursor.refuse(fmt::format("'{}' is no number of type {}", text, short_name(type)));
}

std::int64_t parse_boolean(TextCursor& cursor) {
  const std::string text = cursor.number_text();
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  cursor.refuse(fmt::format("'{}' is neither true nor false", text));
}

std::complex<double> parse_complex(TextCursor& cursor, ElementType type) {
  const ElementType part = type == ElementType::c64 ? ElementType::f32 : ElementType::f64;
  if (!cursor.accept("(")) return parse_real(cursor, part);
  const double real = parse_real(cursor, part);
  cursor.expect(",");
  const double imaginary = parse_real(cursor, part);
  cursor.expect(")");
  return {real, imaginary};
}

bool ends_elements(TextCursor& cursor) {
  return cursor.at_end() || cursor.starts_with("->") || cursor.starts_with("}");
}

// Elements by `parse_one` until they end; `...` repeats the last one until there are `count`.
template <class T, class F>
std::vector<T> parse_elements(TextCursor& cursor, std::int64_t count, F&& parse_one) {
  std::vector<T> elements;
  while (!ends_elements(cursor)) {
    if (!elements.empty() && cursor.accept("...")) {
      const auto wanted = static_cast<std::size_t>(count);
      if (elements.size() < wanted) elements.resize(wanted, T(elements.back()));
      break;
    }
    elements.push_back(parse_one());
  }
  if (static_cast<std::int64_t>(elements.size()) != count) {
    cursor.refuse(fmt::format("the shape needs {} elements, there are {}", count, elements.size()));
  }
  return elements;
}

template <class T>
Tensor complex_tensor(ElementType type, const Shape& shape,
                      const std::vector<std::complex<double>>& values) {
  Tensor tensor(type, shape);
  const auto data = tensor.mutate<std::complex<T>>();
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::complex<T>(values[i]);
  return tensor;
}

Tensor parse_tensor(TextCursor& cursor, ElementType type, const Shape& shape) {
  constexpr std::int64_t kLargest = 1 << 24;  // of a file that a person writes
  const auto counted = checked_element_count(shape);
  if (!counted || *counted > kLargest) cursor.refuse("the shape is too large for a case");
  const std::int64_t count = *counted;
  switch (domain_of(type)) {
    case Domain::real:
      return make_tensor(type, shape, parse_elements<double>(cursor, count, [&] {
                           return parse_real(cursor, type);
                         }));
    case Domain::signed_integer:
    case Domain::unsigned_integer:
      return make_integers(type, shape, parse_elements<std::int64_t>(cursor, count, [&] {
                             return parse_integer(cursor, type);
                           }));
    case Domain::boolean:
      return make_integers(type, shape, parse_elements<std::int64_t>(cursor, count, [&] {
                             return parse_boolean(cursor);
                           }));
    case Domain::complex: {
      const auto values = parse_elements<std::complex<double>>(
          cursor, count, [&] { return parse_complex(cursor, type); });
      return type == ElementType::c64 ? complex_tensor<float>(type, shape, values)
                                      : complex_tensor<double>(type, shape, values);
    }
    case Domain::text:
      return make_strings(
          shape, parse_elements<std::string>(cursor, count, [&] { return cursor.quoted_text(); }));
    case Domain::none:
      break;
  }
  cursor.refuse("the type has no elements");
}

Shape concrete_shape(TextCursor& cursor, const ValueType& type) {
  const auto shape = to_shape(type.dims.value_or(Dims()));
  if (!shape) cursor.refuse(fmt::format("{} has an extent that is not a number", to_text(type)));
  return *shape;
}

Value parse_braced(TextCursor& cursor, const ValueType& type) {
  cursor.expect("{");
  Value value = parse_tensor(cursor, type.element, concrete_shape(cursor, type));
  cursor.expect("}");
  return value;
}

// An element of a sequence: a tensor says its own type, f32[2]={1 2}.
Value parse_element(TextCursor& cursor, const ValueType& expected) {
  if (!expected.is_tensor()) return parse_value(cursor, expected);
  const ValueType type = parse_type(cursor);
  if (!type.is_tensor() || type.element != expected.element) {
    cursor.refuse(fmt::format("an element of type {} is expected, it is {}", to_text(expected),
                              to_text(type)));
  }
  cursor.expect("=");
  return parse_braced(cursor, type);
}

Value parse_sequence(TextCursor& cursor, const ValueType& type) {
  std::vector<Value> elements;
  cursor.expect("[");
  while (!cursor.accept("]")) {
    if (cursor.at_end()) cursor.fail("']'");
    elements.push_back(parse_element(cursor, *type.inner));
    cursor.accept(",");
  }
  return Value::sequence(*type.inner, std::move(elements));
}

Value parse_map(TextCursor& cursor, const ValueType& type) {
  const bool text_keys = type.element == ElementType::string;
  if (!type.inner->is_tensor() || (!text_keys && !is_integer(type.element))) {
    cursor.refuse("a map is from text or integers to scalars");
  }
  std::vector<std::string> texts;
  std::vector<std::int64_t> integers;
  std::vector<double> values;
  std::vector<std::string> text_values;
  cursor.expect("{");
  while (!cursor.accept("}")) {
    if (cursor.at_end()) cursor.fail("'}'");
    if (text_keys) {
      texts.push_back(cursor.quoted_text());
    } else {
      integers.push_back(parse_integer(cursor, type.element));
    }
    cursor.expect(":");
    if (type.inner->element == ElementType::string) {
      text_values.push_back(cursor.quoted_text());
    } else {
      values.push_back(parse_real(cursor, ElementType::f64));
    }
    cursor.accept(",");
  }
  const Shape shape{static_cast<std::int64_t>(text_keys ? texts.size() : integers.size())};
  Tensor keys =
      text_keys ? make_strings(shape, texts) : make_integers(type.element, shape, integers);
  Tensor mapped = type.inner->element == ElementType::string
                      ? make_strings(shape, text_values)
                      : make_tensor(type.inner->element, shape, values);
  return Value::map(std::move(keys), std::move(mapped));
}

Dim parse_dim(TextCursor& cursor) {
  const std::string text = cursor.accept("?") ? "?" : cursor.word("an extent");
  if (text == "?") return {};
  const auto known = to_integer<std::int64_t>(text);
  if (known && *known < 0) cursor.refuse(fmt::format("the extent {} is negative", text));
  return known ? Dim(*known) : Dim::named(text);
}

Dims parse_dims(TextCursor& cursor) {
  Dims dims;
  cursor.expect("[");
  while (!cursor.accept("]")) {
    if (!dims.empty()) cursor.expect(",");
    dims.push_back(parse_dim(cursor));
  }
  return dims;
}

ElementType parse_element_type(TextCursor& cursor) {
  const std::string text = cursor.word("an element type");
  const auto element = element_type_from_short_name(text);
  if (!element) cursor.refuse(fmt::format("'{}' is no element type", text));
  return *element;
}

AttributeValue parse_number_attribute(TextCursor& cursor) {
  const std::string text = cursor.number_text();
  if (const auto integer = to_integer<std::int64_t>(text)) return *integer;
  if (const auto real = to_real(text)) return *real;
  cursor.refuse(fmt::format("'{}' is no value of an attribute", text));
}

// A list has the type of its elements; one real number makes all of them real.
AttributeValue to_list(TextCursor& cursor, std::vector<AttributeValue> elements) {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::vector<Tensor> tensors;
  std::vector<std::shared_ptr<const Graph>> graphs;
  for (AttributeValue& element : elements) {
    if (const auto* integer = std::get_if<std::int64_t>(&element)) {
      integers.push_back(*integer);
      reals.push_back(static_cast<double>(*integer));
    } else if (const auto* real = std::get_if<double>(&element)) {
      reals.push_back(*real);
    } else if (const auto* text = std::get_if<std::string>(&element)) {
      texts.push_back(*text);
    } else if (const auto* tensor = std::get_if<Tensor>(&element)) {
      tensors.push_back(*tensor);
    } else if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&element)) {
      graphs.push_back(*graph);
    }
  }
  const std::size_t count = elements.size();
  if (integers.size() == count) return integers;
  if (reals.size() == count) return reals;
  if (texts.size() == count) return texts;
  if (tensors.size() == count) return tensors;
  if (graphs.size() == count) return graphs;
  cursor.refuse("the elements of a list are of one type");
}

Tensor parse_typed_tensor(TextCursor& cursor) {
  const ValueType type = parse_type(cursor);
  cursor.expect("=");
  return parse_braced(cursor, type).tensor();
}

AttributeValue parse_sparse(TextCursor& cursor) {
  SparseTensor sparse;
  const Dims dims = parse_dims(cursor);
  sparse.shape = concrete_shape(cursor, ValueType::tensor(ElementType::f32, dims));
  cursor.expect(",");
  sparse.indices = parse_typed_tensor(cursor);
  cursor.expect(",");
  sparse.values = parse_typed_tensor(cursor);
  cursor.expect(")");
  return std::make_shared<const SparseTensor>(std::move(sparse));
}

}  // namespace

std::int64_t parse_whole_number(TextCursor& cursor) {
  return parse_integer(cursor, ElementType::i64);
}

double parse_number(TextCursor& cursor) { return parse_real(cursor, ElementType::f64); }

ValueType parse_type(TextCursor& cursor) {
  const auto inner = [&] {
    ValueType type = parse_type(cursor);
    cursor.expect(")");
    return type;
  };
  if (cursor.accept("seq(")) return ValueType::sequence(inner());
  if (cursor.accept("opt(")) return ValueType::optional(inner());
  if (cursor.accept("map(")) {
    const ElementType key = parse_element_type(cursor);
    cursor.expect(",");
    return ValueType::map(key, inner());
  }
  const ElementType element = parse_element_type(cursor);
  if (!cursor.glued('[')) return ValueType::tensor(element);
  return ValueType::tensor(element, parse_dims(cursor));
}

Value parse_value(TextCursor& cursor, const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::sequence:
      return parse_sequence(cursor, type);
    case ValueType::Kind::map:
      return parse_map(cursor, type);
    case ValueType::Kind::optional:
      if (cursor.accept("none")) return Value::optional(*type.inner);
      return Value::optional(parse_value(cursor, *type.inner));
    default:
      break;
  }
  if (cursor.starts_with("{")) return parse_braced(cursor, type);
  return parse_tensor(cursor, type.element, concrete_shape(cursor, type));
}

AttributeValue parse_attribute(TextCursor& cursor, const TextGraphs& graphs) {
  if (cursor.starts_with("'")) return cursor.quoted_text();
  if (cursor.accept("@")) {
    const std::string name = cursor.word("a graph's name");
    const auto found = graphs.find(name);
    if (found == graphs.end()) cursor.refuse(fmt::format("no graph '{}' stands before this", name));
    return found->second;
  }
  if (cursor.accept("[")) {
    std::vector<AttributeValue> elements;
    while (!cursor.accept("]")) {
      if (!elements.empty()) cursor.expect(",");
      elements.push_back(parse_attribute(cursor, graphs));
    }
    return to_list(cursor, std::move(elements));
  }
  if (cursor.accept("ints[]")) return std::vector<std::int64_t>();
  if (cursor.accept("floats[]")) return std::vector<double>();
  if (cursor.accept("strings[]")) return std::vector<std::string>();
  if (cursor.accept("sparse(")) return parse_sparse(cursor);
  if (cursor.accept("dtype(")) {
    const auto number = static_cast<std::int64_t>(parse_element_type(cursor));
    cursor.expect(")");
    return number;
  }
  TextCursor ahead = cursor;
  const std::string text = ahead.number_text();
  if (to_real(text)) return parse_number_attribute(cursor);
  const ValueType type = parse_type(cursor);
  if (!cursor.glued('=')) return type;
  cursor.expect("=");
  if (!type.is_tensor()) cursor.refuse("only tensors can be given as values of attributes");
  return parse_braced(cursor, type).tensor();
}

}  // namespace assay
