#include "numeric/abstract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "patterns/array.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

constexpr std::int64_t kFewElements = 256;

// Which cell of an axis each position of another list of cuts begins in: for cell c of `to`, the
// first and the last cell of `from` that it touches.
std::vector<std::pair<std::int64_t, std::int64_t>> touched(const std::vector<std::int64_t>& from,
                                                           const std::vector<std::int64_t>& to) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  result.reserve(to.size() + 1);
  for (std::size_t c = 0; c <= to.size(); ++c) {
    const std::int64_t begin = c == 0 ? 0 : to[c - 1];
    const auto first = std::upper_bound(from.begin(), from.end(), begin) - from.begin();
    const auto last = c == to.size()
                          ? static_cast<std::ptrdiff_t>(from.size())
                          : std::lower_bound(from.begin(), from.end(), to[c]) - from.begin();
    result.emplace_back(first, last);
  }
  return result;
}

Cell joined(const Cell& a, const Cell& b) {
  return {hull(a.range, b.range), a.form == b.form ? a.form : 0};
}

// The cell of each position along an axis of the given extent.
std::vector<std::int64_t> cell_by_position(const std::vector<std::int64_t>& cuts,
                                           std::int64_t extent) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(extent));
  std::size_t cell = 0;
  for (std::int64_t i = 0; i < extent; ++i) {
    while (cell < cuts.size() && cuts[cell] <= i) ++cell;
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(cell);
  }
  return result;
}

// Calls visit(range) for each element in turn, without a range for all of them at once.
template <class Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
  constexpr std::int64_t kTogether = 512;
  std::vector<Interval> ranges(static_cast<std::size_t>(std::min(kTogether, tensor.size())));
  const Value value(tensor);
  for (std::int64_t begin = 0; begin < tensor.size(); begin += kTogether) {
    const std::int64_t end = std::min(begin + kTogether, tensor.size());
    load<Interval>(value, begin, end, ranges.data());
    std::for_each(ranges.begin(), ranges.begin() + (end - begin), visit);
  }
}

std::vector<Cell> regrid_exact(const Tensor& tensor, const Cuts& cuts) {
  const Shape grid = cells_of(cuts);
  std::vector<Cell> cells(static_cast<std::size_t>(element_count(grid)),
                          {Interval::no_number(false)});
  const Shape steps = strides_of(grid);
  std::vector<std::vector<std::int64_t>> offsets;
  for (std::size_t d = 0; d < grid.size(); ++d) {
    offsets.push_back(cell_by_position(cuts[d], tensor.shape()[d]));
    for (std::int64_t& offset : offsets.back()) offset *= steps[d];
  }
  std::vector<std::size_t> index(grid.size());
  for_each_element(tensor, [&](const Interval& element) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < grid.size(); ++d) at += offsets[d][index[d]];
    Interval& cell = cells[static_cast<std::size_t>(at)].range;
    cell = hull(cell, element);
    for (std::size_t d = grid.size(); d-- > 0;) {
      if (++index[d] < offsets[d].size()) break;
      index[d] = 0;
    }
  });
  return cells;
}

std::vector<Cell> regrid_cells(const Abstract& x, const Cuts& cuts) {
  const Shape from = cells_of(x.cuts), to = cells_of(cuts);
  const Shape steps = strides_of(from);
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> spans;
  for (std::size_t d = 0; d < to.size(); ++d) spans.push_back(touched(x.cuts[d], cuts[d]));
  const auto count = static_cast<std::size_t>(element_count(to));
  std::vector<Cell> cells(count);
  std::vector<std::size_t> index(to.size());
  std::vector<std::int64_t> at(to.size());
  for (Cell& cell : cells) {
    for (std::size_t d = 0; d < to.size(); ++d) at[d] = spans[d][index[d]].first;
    bool first = true;
    for (bool more = true; more;) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < to.size(); ++d) offset += at[d] * steps[d];
      const Cell& source = x.cells[static_cast<std::size_t>(offset)];
      cell = first ? source : joined(cell, source);
      first = false;
      more = false;
      for (std::size_t d = to.size(); d-- > 0;) {
        if (++at[d] <= spans[d][index[d]].second) {
          more = true;
          break;
        }
        at[d] = spans[d][index[d]].first;
      }
    }
    for (std::size_t d = to.size(); d-- > 0;) {
      if (++index[d] < spans[d].size()) break;
      index[d] = 0;
    }
  }
  return cells;
}

}  // namespace

Shape cells_of(const Cuts& cuts) {
  Shape shape;
  shape.reserve(cuts.size());
  for (const auto& axis : cuts) shape.push_back(static_cast<std::int64_t>(axis.size()) + 1);
  return shape;
}

std::vector<std::int64_t> united(const std::vector<std::int64_t>& a,
                                 const std::vector<std::int64_t>& b) {
  if (a.empty()) return b;
  std::vector<std::int64_t> result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

std::vector<std::int64_t> every_position(std::int64_t extent) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(std::max<std::int64_t>(extent - 1, 0)));
  std::iota(result.begin(), result.end(), std::int64_t{1});
  return result;
}

Interval finite_range(ElementType type) {
  Interval range = whole_range(type);
  if (is_real(type)) {
    const double largest = format_of(type).largest;
    range = {-largest, largest, false};
  }
  return range;
}

Abstract uniform(const ValueType& type, const Interval& range) {
  Abstract result;
  result.type = type;
  result.cuts.resize(result.rank());
  const auto shape = type.dims ? to_shape(*type.dims) : std::nullopt;
  const bool empty = shape && element_count(*shape) == 0;
  if (type.is_tensor() && !empty) result.cells = {{range}};
  return result;
}

Abstract constant_abstract(const Tensor& tensor) {
  Abstract result;
  result.type = ValueType::tensor(tensor.type(), to_dims(tensor.shape()));
  result.cuts.resize(static_cast<std::size_t>(tensor.rank()));
  result.exact = tensor;
  return result;
}

Abstract anything(const ValueType& type) {
  const bool numbers = type.is_tensor() && has_numbers(type.element);
  Abstract result = numbers ? uniform(type, finite_range(type.element)) : Abstract{};
  result.type = type;
  result.assumed = true;
  return result;
}

Interval hull_of(const Abstract& x) {
  if (!x.exact.defined() && x.cells.size() == 1) return x.cells.front().range;
  Interval all = Interval::no_number(false);
  if (x.exact.defined()) {
    if (!has_numbers(x.exact.type())) return Interval::everything();
    for_each_element(x.exact, [&](const Interval& element) { all = hull(all, element); });
    return all;
  }
  for (const Cell& cell : x.cells) all = hull(all, cell.range);
  return all;
}

ElementKinds kinds_of(const Abstract& x) {
  ElementKinds kinds;
  const auto look = [&](auto elements) {
    for (const auto element : elements) {
      kinds.finite = kinds.finite && std::isfinite(element);
      kinds.nan = kinds.nan || std::isnan(element);
    }
  };
  if (x.exact.defined()) {
    storage_of(x.exact.type()) == Storage::f32 ? look(x.exact.data<float>())
                                               : look(x.exact.data<double>());
    return kinds;
  }
  for (const auto& [range, form] : x.cells) {
    const bool bounded = std::isfinite(range.low) && std::isfinite(range.high);
    kinds.finite = kinds.finite && !range.nan && (bounded || !range.has_number());
    kinds.nan = kinds.nan || range.nan;
  }
  return kinds;
}

std::vector<Cell> regrid(const Abstract& x, const Cuts& cuts) {
  if (x.exact.defined()) return regrid_exact(x.exact, cuts);
  if (x.cells.empty()) return {};
  if (x.cuts == cuts) return x.cells;
  if (x.cells.size() == 1) {  // as weights are, of which a grid has 10^5 cells
    return std::vector<Cell>(static_cast<std::size_t>(element_count(cells_of(cuts))), x.cells[0]);
  }
  if (std::all_of(cuts.begin(), cuts.end(), [](const auto& axis) { return axis.empty(); }))
    return {std::accumulate(x.cells.begin() + 1, x.cells.end(), x.cells.front(), joined)};
  return regrid_cells(x, cuts);
}

Cuts natural_cuts(const Abstract& x, TensorMode mode) {
  const std::int64_t few = mode == TensorMode::expand ? std::int64_t{1} << 20 : kFewElements;
  if (!x.exact.defined() || mode == TensorMode::smash || x.exact.size() > few) {
    return x.cuts;
  }
  Cuts cuts;
  for (std::int64_t extent : x.exact.shape()) cuts.push_back(every_position(extent));
  return cuts;
}

Cuts limited(Cuts cuts, std::int64_t most) {
  while (element_count(cells_of(cuts)) > most) {
    auto longest = std::max_element(
        cuts.begin(), cuts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    longest->clear();
  }
  return cuts;
}

std::string to_text(const Interval& range) {
  if (!range.has_number()) return range.nan ? "NaN" : "nothing";
  return fmt::format("[{:.6g}, {:.6g}]{}", range.low, range.high, range.nan ? " or NaN" : "");
}

}  // namespace assay
