#include "ops/shape_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "patterns/move.h"

namespace assay {

std::vector<std::int64_t> whole_numbers(const Tensor& tensor) {
  std::vector<std::int64_t> result;
  if (!is_real(tensor.type())) {
    result = tensor.integers();
    if (tensor.type() == ElementType::u64)  // beyond 2^63 they come out negative
      for (std::int64_t& x : result) x = x < 0 ? std::numeric_limits<std::int64_t>::max() : x;
    return result;
  }
  constexpr double kEnd = 0x1p62;
  for (double x : tensor.reals())
    result.push_back(
        static_cast<std::int64_t>(x == x ? std::clamp(std::trunc(x), -kEnd, kEnd) : 0));
  return result;
}

Numbers numbers(const Site& site, std::string_view attribute, std::size_t input) {
  if (!attribute.empty() && site.has(attribute)) return {true, site.integers(attribute)};
  if (!site.has_input(input)) return {};
  const Tensor* known = site.constant(input);
  return {true, known ? std::optional(whole_numbers(*known)) : std::nullopt};
}

std::vector<std::int64_t> exact_numbers(const Call& call, std::string_view attribute,
                                        std::size_t input) {
  if (!attribute.empty() && call.site.has(attribute)) return call.site.integers(attribute);
  return call.has(input) ? whole_numbers(call.exact(input)) : std::vector<std::int64_t>{};
}

std::vector<std::size_t> normalized(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<std::size_t> result;
  for (std::int64_t axis : axes)
    if (const auto place = normalize_axis(axis, static_cast<std::int64_t>(rank)))
      result.push_back(static_cast<std::size_t>(*place));
  return result;
}

std::size_t axis_of(const Site& site, std::string_view attribute, std::size_t rank,
                    std::int64_t fallback) {
  const auto axis = find_axis(site, attribute, rank, fallback);
  ASSAY_CHECK(axis.has_value());
  return *axis;
}

std::optional<std::size_t> find_axis(const Site& site, std::string_view attribute, std::size_t rank,
                                     std::int64_t fallback) {
  const auto axis =
      normalize_axis(site.integer(attribute, fallback), static_cast<std::int64_t>(rank));
  return axis ? std::optional(static_cast<std::size_t>(*axis)) : std::nullopt;
}

bool sensible_size(Check& c, const Dims& output) {
  const auto shape = to_shape(output);
  if (!shape) return true;
  const auto count = checked_element_count(*shape);
  if (count && *count <= kMostElements) return true;
  return c.shape(false, "size", fmt::format("at most {} elements", kMostElements), to_text(output));
}

bool require_axis(Check& c, std::string_view input, std::int64_t fallback) {
  const auto rank = c.rank_of(input);
  if (!rank) {
    c.undecided("axis-range", fmt::format("the rank of {}", input));
    return false;
  }
  const std::int64_t axis = c.site.integer("axis", fallback);
  if (axis >= -*rank && axis < *rank) return true;
  return c.axis("axis", axis, between(-*rank, *rank - 1));
}

bool require_indices(Check& c, std::string_view input, const Dim& extent) {
  const Tensor* known = c.site.constant(*c.index_of(input));
  if (!known || !extent.known()) {
    c.undecided("index-range", fmt::format("the elements of {}", input));
    return false;
  }
  const auto check = [&]<class T>(std::span<const T> values) {
    for (const T value : values)
      if (value < -extent.value || value >= extent.value)
        return c.argument(false, "index-range",
                          fmt::format("{} from {} to {}", input, -extent.value, extent.value - 1),
                          fmt::format("{}", value));
    return true;
  };
  if (known->type() == ElementType::i32) return check(known->data<std::int32_t>());
  return check(known->data<std::int64_t>());
}

Around around(const Shape& shape, std::size_t axis) {
  Around result;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != axis) (d < axis ? result.outer : result.inner) *= shape[d];
  return result;
}

Meaning reshape() {
  return custom(Pattern::move, [](Call& call) {
    static const Movement kWhole = whole(0);
    for (std::size_t i = 1; i < call.inputs.size(); ++i)
      if (call.has(i)) call.exact(i);
    if (!call.site.has_output(0)) return;
    call.outputs[0] = moved(call, kWhole, call.output_type(0), call.output_shape(0));
  });
}

}  // namespace assay
