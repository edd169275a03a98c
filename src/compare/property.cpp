#include "compare/property.h"

#include <cmath>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr double kDeviations = 6;

Agreement rate_is(double count, double expected, double variance, std::string_view what) {
  const double slack = kDeviations * std::sqrt(variance) + 1e-9;
  if (std::abs(count - expected) <= slack)
    return {true, fmt::format("by property: {} {} of {:.1f} expected", what, count, expected)};
  return {false, fmt::format("{} {}, expected {:.1f} ± {:.1f}", what, count, expected, slack)};
}

Agreement bernoulli(const Tensor& probabilities, const Tensor& draws) {
  double expected = 0, variance = 0, ones = 0;
  for (std::int64_t i = 0; i < draws.size(); ++i) {
    const double p = probabilities.real(i), x = draws.real(i);
    if (x != 0 && x != 1) return {false, fmt::format("element {} is {}, neither 0 nor 1", i, x)};
    if ((p <= 0 && x != 0) || (p >= 1 && x != 1))
      return {false, fmt::format("element {} is {} with probability {}", i, x, p)};
    expected += p;
    variance += p * (1 - p);
    ones += x;
  }
  return rate_is(ones, expected, variance, "ones");
}

// Survivors are scaled by 1/(1-ratio), the others zero; a mask says which.
Agreement dropout(const std::vector<Value>& inputs, const std::vector<Value>& found) {
  const Tensor &x = inputs[0].tensor(), &y = found[0].tensor();
  const double ratio = inputs.size() > 1 && inputs[1].present() ? inputs[1].tensor().real(0) : 0.5;
  const bool training = inputs.size() > 2 && inputs[2].present() && inputs[2].tensor().real(0) != 0;
  double dropped = 0, judged = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double kept = training ? x.real(i) / (1 - ratio) : x.real(i);
    const bool survives = std::abs(y.real(i) - kept) <= 1e-6 * std::abs(kept);
    const bool zero = y.real(i) == 0;
    if (!survives && !zero)
      return {false, fmt::format("element {} is {}, neither 0 nor {}", i, y.real(i), kept)};
    if (found.size() > 1 && found[1].present()) {
      const bool mask = found[1].tensor().integer(i) != 0;
      if ((mask && !survives) || (!mask && !zero))
        return {false, fmt::format("the mask contradicts element {}", i)};
    }
    if (x.real(i) == 0) continue;
    ++judged;
    if (zero && !survives) ++dropped;
  }
  const double rate = training ? ratio : 0;
  return rate_is(dropped, judged * rate, judged * rate * (1 - rate), "dropped");
}

}  // namespace

bool is_random_test(std::string_view id) {
  return id.find("bernoulli") != std::string_view::npos ||
         id.find("training_dropout") != std::string_view::npos;
}

Agreement has_property(std::string_view id, const std::vector<Value>& inputs,
                       const std::vector<Value>& expected, const std::vector<Value>& found) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (found[i].type() != expected[i].type() || found[i].shape() != expected[i].shape())
      return {false, fmt::format("expected {}, found {}", to_text(expected[i].value_type()),
                                 to_text(found[i].value_type()))};
  if (id.find("bernoulli") != std::string_view::npos)
    return bernoulli(inputs[0].tensor(), found[0].tensor());
  return dropout(inputs, found);
}

}  // namespace assay
