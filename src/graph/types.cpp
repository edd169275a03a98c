#include "graph/types.h"

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {

struct Symbol::Name {
  std::string text;
  const Name* base = nullptr;  // null: itself
  std::int64_t factor = 1;
};

namespace {

constexpr std::int64_t kLargestFactor = std::int64_t{1} << 40;

std::mutex& symbol_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Symbol::Symbol(std::string_view name) {
  if (name.empty()) return;
  static std::map<std::string, Name, std::less<>> names;  // whose elements stay where they are
  const std::lock_guard lock(symbol_mutex());
  auto found = names.find(name);
  if (found == names.end()) found = names.emplace(name, Name{std::string(name)}).first;
  name_ = &found->second;
}

Symbol Symbol::times(std::int64_t factor) const {
  if (empty() || factor == 1) return *this;
  std::int64_t all = 0;
  if (factor < 1 || __builtin_mul_overflow(factor, name_->factor, &all) || all > kLargestFactor)
    return {};
  static std::map<std::pair<const Name*, std::int64_t>, Name> multiples;
  const std::lock_guard lock(symbol_mutex());
  const Name* const of = name_->base ? name_->base : name_;
  const auto [found, fresh] = multiples.try_emplace({of, all});
  if (fresh) found->second = {fmt::format("{}*{}", all, of->text), of, all};
  return Symbol(&found->second);
}

Symbol Symbol::base() const { return empty() || !name_->base ? *this : Symbol(name_->base); }

std::int64_t Symbol::factor() const { return empty() ? 1 : name_->factor; }

const std::string& Symbol::text() const {
  static const std::string kNone;
  return name_ ? name_->text : kNone;
}

Dim Dim::named(Symbol symbol) {
  Dim dim;
  dim.symbol = symbol;
  return dim;
}

bool Dim::same_as(const Dim& other) const {
  if (known() || other.known()) return known() && other.known() && value == other.value;
  return !symbol.empty() && symbol == other.symbol;
}

bool Dim::differs_from(const Dim& other) const {
  return known() && other.known() && value != other.value;
}

namespace {

bool is_exactly(const Dim& dim, std::int64_t value) { return dim.known() && dim.value == value; }

// An extent cannot be negative, so a negative result says that nothing is known.
Dim known_or_unknown(bool overflow, std::int64_t value) {
  return overflow || value < 0 ? Dim() : Dim(value);
}

}  // namespace

Dim operator+(const Dim& a, const Dim& b) {
  if (is_exactly(a, 0)) return b;
  if (is_exactly(b, 0)) return a;
  if (!a.known() || !b.known()) return {};
  std::int64_t result = 0;
  const bool overflow = __builtin_add_overflow(a.value, b.value, &result);
  return known_or_unknown(overflow, result);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.same_as(b)) return {0};
  if (is_exactly(b, 0)) return a;
  if (!a.known() || !b.known()) return {};
  return known_or_unknown(false, a.value - b.value);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (is_exactly(a, 0) || is_exactly(b, 0)) return {0};
  if (is_exactly(a, 1)) return b;
  if (is_exactly(b, 1)) return a;
  if (a.known() != b.known()) {
    return a.known() ? Dim::named(b.symbol.times(a.value)) : Dim::named(a.symbol.times(b.value));
  }
  if (!a.known()) return {};
  std::int64_t result = 0;
  const bool overflow = __builtin_mul_overflow(a.value, b.value, &result);
  return known_or_unknown(overflow, result);
}

Dims to_dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::optional<Shape> to_shape(const Dims& dims) {
  Shape shape;
  shape.reserve(dims.size());
  for (const Dim& dim : dims) {
    if (!dim.known()) return std::nullopt;
    shape.push_back(dim.value);
  }
  return shape;
}

std::string to_text(const Dims& dims) {
  std::string text = "[";
  for (const Dim& dim : dims) {
    if (text.size() > 1) text += ',';
    if (dim.known()) {
      text += std::to_string(dim.value);
    } else {
      text += dim.symbol.empty() ? "?" : printable(dim.symbol.text());
    }
  }
  return text + "]";
}

ValueType ValueType::tensor(ElementType element, Dims dims) {
  ValueType type = tensor(element);
  type.dims = std::move(dims);
  return type;
}

ValueType ValueType::sequence(ValueType inner) {
  ValueType type;
  type.kind = Kind::sequence;
  type.inner = std::make_shared<const ValueType>(std::move(inner));
  return type;
}

ValueType ValueType::optional(ValueType inner) {
  ValueType type;
  type.kind = Kind::optional;
  type.inner = std::make_shared<const ValueType>(std::move(inner));
  return type;
}

ValueType ValueType::map(ElementType key, ValueType inner) {
  ValueType type;
  type.kind = Kind::map;
  type.element = key;
  type.inner = std::make_shared<const ValueType>(std::move(inner));
  return type;
}

static bool is_opaque(const ValueType& type) { return type.notes && !type.notes->opaque.empty(); }

// Of each element type: every check of a node asks for the names of its inputs' types.
static const std::string& tensor_name(ElementType element) {
  static const auto kNames = [] {
    std::array<std::string, kElementTypeCount> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = fmt::format("tensor({})", standard_name(static_cast<ElementType>(i)));
    }
    return names;
  }();
  return kNames[static_cast<std::size_t>(element)];
}

std::string standard_name(const ValueType& type) {
  if (type.is_tensor()) return tensor_name(type.element);
  const std::string inner = type.inner ? standard_name(*type.inner) : "undefined";
  switch (type.kind) {
    case ValueType::Kind::unknown:
    case ValueType::Kind::tensor:
      break;
    case ValueType::Kind::sparse_tensor:
      return fmt::format("sparse_tensor({})", standard_name(type.element));
    case ValueType::Kind::sequence:
      return fmt::format("seq({})", inner);
    case ValueType::Kind::optional:
      return fmt::format("optional({})", inner);
    case ValueType::Kind::map:
      // The standard writes the values of a map without "tensor(…)".
      return fmt::format("map({}, {})", standard_name(type.element),
                         type.inner && type.inner->is_tensor()
                             ? std::string(standard_name(type.inner->element))
                             : inner);
  }
  return is_opaque(type) ? fmt::format("opaque({})", printable(type.notes->opaque)) : "undefined";
}

std::string to_text(const ValueType& type) {
  const std::string inner = type.inner ? to_text(*type.inner) : "?";
  const std::string dims = type.dims ? to_text(*type.dims) : "";
  switch (type.kind) {
    case ValueType::Kind::unknown:
      break;
    case ValueType::Kind::tensor:
      return fmt::format("{}{}", short_name(type.element), dims);
    case ValueType::Kind::sparse_tensor:
      return fmt::format("sparse({}{})", short_name(type.element), dims);
    case ValueType::Kind::sequence:
      return fmt::format("seq({})", inner);
    case ValueType::Kind::optional:
      return fmt::format("opt({})", inner);
    case ValueType::Kind::map:
      return fmt::format("map({},{})", short_name(type.element), inner);
  }
  return is_opaque(type) ? fmt::format("opaque({})", printable(type.notes->opaque)) : "?";
}

}  // namespace assay
