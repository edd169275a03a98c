// The predicates of Check that are about attributes and known elements.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "ops/check.h"

namespace assay {
namespace {

// An integer attribute, or a list of them, as a list; empty if absent.
std::span<const std::int64_t> numbers(const Site& site, std::string_view attribute) {
  const AttributeValue* value = site.node().find(attribute);
  if (!value) return {};
  if (const auto* one = std::get_if<std::int64_t>(value)) return {one, 1};
  const auto* list = std::get_if<std::vector<std::int64_t>>(value);
  return list ? std::span(*list) : std::span<const std::int64_t>();
}

std::string range_text(Limits limits) {
  if (limits.most == std::numeric_limits<std::int64_t>::max())
    return fmt::format("at least {}", limits.least);
  if (limits.least == std::numeric_limits<std::int64_t>::min())
    return fmt::format("at most {}", limits.most);
  return fmt::format("{} to {}", limits.least, limits.most);
}

}  // namespace

bool Check::axis(std::string_view attribute, std::string_view input) {
  if (!site.has(attribute) || !index_of(input)) return true;
  const auto rank = rank_of(input);
  if (!rank) {
    undecided("axis-range", fmt::format("the rank of {}", input));
    return false;
  }
  return axis(attribute, site.integer(attribute), between(-*rank, *rank - 1));
}

bool Check::axis(std::string_view attribute, std::int64_t value, Limits limits) {
  if (value >= limits.least && value <= limits.most) return true;
  return argument(false, "axis-range", fmt::format("{} in {}", attribute, range_text(limits)),
                  fmt::format("{}", value));
}

bool Check::axes(std::string_view attribute, std::string_view input) {
  if (!site.has(attribute) || !index_of(input)) return true;
  const auto rank = rank_of(input);
  if (!rank) {
    undecided("axis-range", fmt::format("the rank of {}", input));
    return false;
  }
  const std::span<const std::int64_t> values = numbers(site, attribute);
  return axes(attribute, std::vector(values.begin(), values.end()), *rank);
}

bool Check::axes(std::string_view what, const std::vector<std::int64_t>& values,
                 std::int64_t rank) {
  InlineVector<std::int64_t, 8> seen;
  for (std::int64_t value : values) {
    if (!axis(what, value, between(-rank, rank - 1))) return false;
    const std::int64_t place = value < 0 ? value + rank : value;
    if (std::ranges::find(seen, place) != seen.end()) {
      return argument(false, "axes-unique", fmt::format("each axis once in {}", what),
                      fmt::format("{}", values));
    }
    seen.push_back(place);
  }
  return true;
}

bool Check::length(std::string_view attribute, std::int64_t count) {
  if (!site.has(attribute)) return true;
  const auto found = static_cast<std::int64_t>(numbers(site, attribute).size());
  if (found == count) return true;
  return argument(false, "length", fmt::format("{} numbers in {}", count, attribute),
                  fmt::format("{}", found));
}

bool Check::in_range(std::string_view attribute, Limits limits) {
  for (std::int64_t value : numbers(site, attribute))
    if (value < limits.least || value > limits.most)
      return argument(false, "range", fmt::format("{} {}", attribute, range_text(limits)),
                      fmt::format("{}", value));
  return true;
}

bool Check::real_in_range(std::string_view attribute, double least, double most) {
  if (!site.has(attribute)) return true;
  const double value = site.real(attribute);
  if (value >= least && value <= most) return true;
  return argument(false, "range", fmt::format("{} in [{}, {}]", attribute, least, most),
                  fmt::format("{}", value));
}

bool Check::positive(std::initializer_list<std::string_view> attributes) {
  bool holds = true;
  for (std::string_view attribute : attributes)
    for (std::int64_t value : numbers(site, attribute))
      holds = (value > 0 || argument(false, "positive", fmt::format("{} above 0", attribute),
                                     fmt::format("{}", value))) &&
              holds;
  return holds;
}

bool Check::not_negative(std::initializer_list<std::string_view> attributes) {
  bool holds = true;
  for (std::string_view attribute : attributes)
    for (std::int64_t value : numbers(site, attribute))
      holds =
          (value >= 0 || argument(false, "not-negative", fmt::format("{} not below 0", attribute),
                                  fmt::format("{}", value))) &&
          holds;
  return holds;
}

bool Check::one_of(std::string_view attribute, std::initializer_list<std::string_view> choices) {
  if (!site.has(attribute)) return true;
  const std::string& found = site.text(attribute);
  if (std::find(choices.begin(), choices.end(), found) != choices.end()) return true;
  return argument(false, "choice", fmt::format("{} one of {}", attribute, fmt::join(choices, ", ")),
                  in_quotes(found));
}

bool Check::required(std::string_view attribute) {
  if (site.has(attribute)) return true;
  return argument(false, "required", fmt::format("attribute {}", attribute), "none");
}

bool Check::index_range(std::string_view input, std::int64_t extent) {
  const auto i = index_of(input);
  if (!i) return true;
  const Tensor* known = site.constant(*i);
  if (!known) {
    undecided("index-range", fmt::format("the elements of {}", input));
    return false;
  }
  for (std::int64_t value : known->integers())
    if (value < -extent || value >= extent)
      return argument(false, "index-range",
                      fmt::format("{} in {} to {}", input, -extent, extent - 1),
                      fmt::format("{}", value));
  return true;
}

}  // namespace assay
