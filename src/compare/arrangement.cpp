#include "compare/arrangement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostAxes = 6;  // 720 permutations

Shape squeezed(const Shape& shape) {
  Shape rest;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(rest),
               [](std::int64_t extent) { return extent != 1; });
  return rest;
}

}  // namespace

std::string to_text(const Arrangement& arrangement) {
  if (!arrangement.axes.empty()) return fmt::format("axes {}", fmt::join(arrangement.axes, ","));
  return arrangement.reshaped ? "reshaped" : "";
}

std::vector<Arrangement> arrangements(const Shape& from, const Shape& to) {
  if (element_count(from) != element_count(to)) return {};
  const Shape first = squeezed(from), second = squeezed(to);
  std::vector<Arrangement> found = {{{}, first != second}};
  std::vector<std::size_t> axes(first.size());
  if (first.size() != second.size() || first.size() > kMostAxes) return found;
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  while (std::next_permutation(axes.begin(), axes.end())) {
    bool fits = true;
    for (std::size_t i = 0; i < axes.size() && fits; ++i) fits = first[axes[i]] == second[i];
    if (fits) found.push_back({axes, false});
  }
  return found;
}

std::vector<double> arranged(const std::vector<double>& elements, const Shape& shape,
                             const Arrangement& arrangement) {
  if (arrangement.axes.empty() || elements.empty()) return elements;
  const Shape from = squeezed(shape);
  const Shape strides = strides_of(from);
  std::vector<double> result(elements.size());
  std::vector<std::int64_t> index(from.size(), 0);
  std::int64_t offset = 0;
  for (double& element : result) {
    element = elements[static_cast<std::size_t>(offset)];
    for (std::size_t i = index.size(); i-- > 0;) {
      const std::size_t axis = arrangement.axes[i];
      offset += strides[axis];
      if (++index[i] < from[axis]) break;
      offset -= strides[axis] * from[axis];
      index[i] = 0;
    }
  }
  return result;
}

bool has_numbers(const Tensor& tensor) { return tensor.defined() && has_numbers(tensor.type()); }

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return kInfinity;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double apart = std::abs(a[i] - b[i]);
    if (std::isnan(apart)) return kInfinity;
    largest = std::max(largest, apart);
  }
  return largest;
}

Fit fit(const Tensor& a, const Tensor& b, double room) {
  const std::vector<double> first = a.reals(), second = b.reals();
  Fit best{{}, kInfinity};
  for (const Arrangement& one : arrangements(a.shape(), b.shape())) {
    const double apart = largest_difference(arranged(first, a.shape(), one), second);
    if (apart <= room) return {one, apart};
    const bool plain_stays = best.arrangement.plain() && best.difference < kInfinity;
    if (apart < best.difference && !plain_stays) best = {one, apart};
  }
  return best;
}

}  // namespace assay
