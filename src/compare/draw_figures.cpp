#include "compare/draw_figures.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::int64_t kLooked = 4096;  // elements whose values are looked up among those seen
constexpr double kSame = 1e-6;          // of one value, rounded differently

template <class Term>
DrawFigure add_up(std::string name, std::size_t count, const Term& term) {
  DrawFigure figure{std::move(name)};
  for (std::size_t i = 0; i < count; ++i) {
    const double one = term(i);
    figure.sum += one;
    figure.largest = std::max(figure.largest, std::abs(one));
  }
  return figure;
}

// Elements next to each other along an axis: what is drawn for a whole channel shows here.
void add_neighbours(const std::vector<double>& y, const Shape& shape, std::size_t axis,
                    std::vector<DrawFigure>& figures) {
  std::size_t step = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) step *= static_cast<std::size_t>(shape[d]);
  const auto extent = static_cast<std::size_t>(shape[axis]);
  const auto has_next = [&](std::size_t i) { return i / step % extent + 1 < extent; };
  const auto product = [&](std::size_t i) { return has_next(i) ? y[i] * y[i + step] : 0; };
  const auto change = [&](std::size_t i) {
    return has_next(i) && (y[i] == 0) != (y[i + step] == 0) ? 1 : 0;
  };
  figures.push_back(
      add_up(fmt::format("products of neighbours along axis {}", axis), y.size(), product));
  figures.push_back(
      add_up(fmt::format("zeros beside others along axis {}", axis), y.size(), change));
}

// Tensors that an element of y may belong to: those of its shape.
bool is_beside(const Value& other, const Value& y) {
  return other.is_tensor() && has_numbers(other.type()) && other.shape() == y.shape();
}

DrawFigure products(std::string_view what, std::size_t number, const std::vector<double>& y,
                    const Value& other) {
  const std::vector<double> x = other.tensor().reals();
  return add_up(fmt::format("products with {} {}", what, number), y.size(),
                [&](std::size_t i) { return y[i] * x[i]; });
}

}  // namespace

std::vector<DrawFigure> draw_figures(std::span<const Value> outputs, std::size_t at,
                                     std::span<const Value> inputs) {
  const Value& value = outputs[at];
  const std::vector<double> y = value.tensor().reals();
  std::vector<DrawFigure> figures;
  figures.push_back(add_up("sum", y.size(), [&](std::size_t i) { return y[i]; }));
  figures.push_back(add_up("sum of squares", y.size(), [&](std::size_t i) { return y[i] * y[i]; }));
  figures.push_back(add_up("zeros", y.size(), [&](std::size_t i) { return y[i] == 0 ? 1 : 0; }));
  for (std::size_t axis = 0; axis < value.shape().size(); ++axis) {
    if (value.shape()[axis] > 1) add_neighbours(y, value.shape(), axis, figures);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_beside(inputs[i], value)) figures.push_back(products("input", i, y, inputs[i]));
  }
  for (std::size_t i = at + 1; i < outputs.size(); ++i) {
    if (is_beside(outputs[i], value)) figures.push_back(products("output", i, y, outputs[i]));
  }
  return figures;
}

std::int64_t count_unseen(const Tensor& y, std::span<const Tensor> seen) {
  std::int64_t unseen = 0;
  for (std::int64_t i = 0; i < std::min(y.size(), kLooked); ++i) {
    const double value = y.real(i);
    unseen += std::none_of(seen.begin(), seen.end(), [&](const Tensor& other) {
      return std::abs(other.real(i) - value) <= kSame * std::abs(value);
    });
  }
  return unseen;
}

}  // namespace assay
