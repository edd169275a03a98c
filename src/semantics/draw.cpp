#include "semantics/draw.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {
namespace {

// SplitMix64: small, fast, and the same everywhere.
class Generator {
 public:
  Generator(std::uint64_t seed, std::string_view name) : state_(seed) {
    for (char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  std::uint64_t operator()() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // A multiple of 2^-bits in [0, 1).
  double real(int bits) { return std::ldexp(static_cast<double>((*this)() >> (64 - bits)), -bits); }

 private:
  std::uint64_t state_;
};

Tensor draw_reals(ElementType type, const Shape& shape, Generator& next) {
  const int bits = format_of(type).precision;  // so that nothing rounds up to 1
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (double& value : values) value = next.real(bits);
  return make_tensor(type, shape, values);
}

Tensor draw_strings(const Shape& shape, Generator& next) {
  std::vector<std::string> words(static_cast<std::size_t>(element_count(shape)));
  for (std::string& word : words) {
    for (int i = 0; i < 4; ++i) word += static_cast<char>('a' + next() % 26);
  }
  return make_strings(shape, std::move(words));
}

Tensor draw_complex(ElementType type, const Shape& shape, Generator& next) {
  Tensor tensor(type, shape);
  if (type == ElementType::c64) {
    for (auto& x : tensor.mutate<std::complex<float>>()) {
      x = {static_cast<float>(next.real(24)), static_cast<float>(next.real(24))};
    }
  } else {
    for (auto& x : tensor.mutate<std::complex<double>>()) x = {next.real(53), next.real(53)};
  }
  return tensor;
}

Tensor draw_tensor(ElementType type, const Shape& shape, Generator& next) {
  switch (domain_of(type)) {
    case Domain::real:
      return draw_reals(type, shape, next);
    case Domain::complex:
      return draw_complex(type, shape, next);
    case Domain::text:
      return draw_strings(shape, next);
    default:
      break;
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(shape)));
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(next() >> 63);
  return make_integers(type, shape, values);
}

}  // namespace

Result<Value> draw(const std::string& name, const ValueType& type, const DrawOptions& options) {
  const auto refuse = [&](const char* reason) {
    return Error{"usage",
                 fmt::format("input {} of type {} cannot be drawn at random: {}", in_quotes(name),
                             to_text(type), reason),
                 name};
  };
  if (!type.is_tensor() || type.element == ElementType::undefined) return refuse("it is no tensor");
  if (!type.dims) return refuse("its rank is not known");
  Shape shape;
  for (const Dim& dim : *type.dims) {
    const auto given = options.extents.find(dim.symbol.text());
    shape.push_back(dim.known()                                             ? dim.value
                    : !dim.symbol.empty() && given != options.extents.end() ? given->second
                                                                            : 1);
  }
  if (!checked_element_count(shape)) return refuse("it has too many elements");
  Generator next(options.seed, name);
  try {
    return Value(draw_tensor(type.element, shape, next));
  } catch (const MemoryLimitError& failure) {
    return Error{"limit", fmt::format("input {}: {}", in_quotes(name), failure.what()), name};
  } catch (const std::bad_alloc&) {
    return Error{"limit", fmt::format("input {}: out of memory", in_quotes(name)), name};
  } catch (const std::length_error&) {
    return Error{"limit", fmt::format("input {}: out of memory", in_quotes(name)), name};
  }
}

}  // namespace assay
