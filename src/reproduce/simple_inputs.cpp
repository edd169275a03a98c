#include "reproduce/simple_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "reproduce/python_source.h"

namespace assay {
namespace {

constexpr std::int64_t kSmall = 64;  // elements that a script may as well hold

double shortened(double value) {
  return std::isfinite(value) ? std::stod(fmt::format("{:.1e}", value)) : value;
}

// The numbers with two digits each; none if they have no more.
std::optional<Tensor> shortened(const Tensor& tensor) {
  if (!is_real(tensor.type())) return std::nullopt;
  std::vector<double> values = tensor.reals();
  for (double& value : values) value = shortened(value);
  Tensor result = make_tensor(tensor.type(), tensor.shape(), values);
  if (identical(result, tensor)) return std::nullopt;
  return result;
}

// numpy's RandomState(seed).uniform(low, high, count): the Mersenne twister, 53 bits a number.
std::vector<double> drawn(unsigned seed, double low, double high, std::int64_t count) {
  std::mt19937 twister(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    const double upper = static_cast<double>(twister() >> 5);
    const double lower = static_cast<double>(twister() >> 6);
    value = low + (high - low) * ((upper * 67108864.0 + lower) / 9007199254740992.0);
  }
  return values;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

std::optional<Range> range_of(const Tensor& tensor) {
  Range range;
  for (const double value : tensor.reals()) {
    if (!std::isfinite(value)) return std::nullopt;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  if (range.low >= range.high) return std::nullopt;
  if (is_integer(tensor.type())) {
    range.high += 1;  // what is drawn is cut off
    return range;
  }
  return Range{shortened(range.low), shortened(range.high)};
}

}  // namespace

std::optional<SimpleInputs> simple_inputs(const BackendTest& test) {
  SimpleInputs simple{test, {}};
  bool changed = false;
  unsigned seed = 0;
  for (NamedValue& input : simple.test.inputs) {
    if (!input.value.is_tensor()) continue;
    const Tensor& tensor = input.value.tensor();
    if (tensor.size() <= kSmall) {
      const std::optional<Tensor> shorter = shortened(tensor);
      changed = changed || shorter;
      if (shorter) input.value = *shorter;
      continue;
    }
    const bool number = is_real(tensor.type()) || is_integer(tensor.type());
    if (!number || !numpy_has(tensor.type())) continue;
    const std::optional<Range> range = range_of(tensor);
    if (!range) continue;
    std::vector<double> values = drawn(seed, range->low, range->high, tensor.size());
    if (is_integer(tensor.type())) {
      for (double& value : values) value = std::trunc(value);
    }
    simple.sources[input.name] =
        fmt::format("np.random.RandomState({}).uniform({}, {}, {}).astype({})", seed, range->low,
                    range->high, tuple_source(tensor.shape()), numpy_type(tensor.type()));
    input.value = make_tensor(tensor.type(), tensor.shape(), values);
    ++seed;
  }
  if (simple.sources.empty() && !changed) return std::nullopt;
  return simple;
}

}  // namespace assay
