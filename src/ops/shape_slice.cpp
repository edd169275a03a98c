// Slice.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ops/shape_moves.h"
#include "ops/shape_numbers.h"
#include "patterns/move.h"

namespace assay {
namespace {

struct SliceNumbers {
  Numbers starts, ends, axes, steps;
};

SliceNumbers slice_numbers(const Site& site) {
  return {numbers(site, "starts", 1), numbers(site, "ends", 2), numbers(site, "axes", 3),
          numbers(site, "", 4)};
}

// The elements that a slice takes along one axis.
struct Cut {
  std::int64_t first, step, count;
};

Cut cut(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (extent == 0) return {0, 1, 0};
  const auto place = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
    return std::clamp(at < 0 ? at + extent : at, least, most);
  };
  if (step > 0) {
    const std::int64_t first = place(start, 0, extent), last = place(end, 0, extent);
    return {first, step, last > first ? (last - first - 1) / step + 1 : 0};
  }
  const std::int64_t first = place(start, 0, extent - 1), last = place(end, -1, extent - 1);
  const std::uint64_t backward = std::uint64_t{0} - static_cast<std::uint64_t>(step);
  return {first, step,
          first > last ? static_cast<std::int64_t>(
                             static_cast<std::uint64_t>(first - last - 1) / backward + 1)
                       : 0};
}

std::vector<std::size_t> slice_axes(const SliceNumbers& n, std::size_t count, std::size_t rank) {
  if (n.axes.given) return normalized(*n.axes.values, rank);
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d < count; ++d) axes.push_back(d);
  return axes;
}

bool require_lengths(Check& c, const SliceNumbers& n, std::int64_t rank) {
  const std::size_t count = n.starts.values->size();
  const auto fits = [&](std::string_view name, const Numbers& list) {
    if (!list.given || list.values->size() == count) return true;
    return c.argument(false, "length", fmt::format("{} numbers in {}, as in starts", count, name),
                      fmt::format("{}", list.values->size()));
  };
  if (!fits("ends", n.ends) || !fits("axes", n.axes) || !fits("steps", n.steps)) return false;
  if (n.axes.given) return c.axes("axes", *n.axes.values, rank);
  return static_cast<std::int64_t>(count) <= rank ||
         c.argument(false, "length", fmt::format("at most {} starts", rank),
                    fmt::format("{}", count));
}

void require_slice(Check& c) {
  if (c.site.version() >= 10)
    for (const char* input : {"starts", "ends", "axes", "steps"})
      if (!c.rank(input, exactly(1))) return;
  const SliceNumbers n = slice_numbers(c.site);
  if (n.steps.values)
    for (std::int64_t step : *n.steps.values)
      if (step == 0) {
        c.argument(false, "step-zero", "steps other than 0", "0");
        return;
      }
  const auto rank = c.rank_of("data");
  for (const Numbers* list : {&n.starts, &n.ends, &n.axes, &n.steps})
    if (list->given && !list->values) return c.undecided("length", "the numbers of the slice");
  if (!rank) return c.undecided("length", "the rank of data");
  require_lengths(c, n, *rank);
}

// The extent of a slice of an extent that is not known: only a slice of everything is sure.
Dim open_cut(const Dim& extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  if (step == 1 && start == 0 && end >= kFar) return extent;
  if (step == -1 && (start == -1 || start >= kFar) && end < -kFar) return extent;
  if ((step > 0 && end == 0) || (start == end && step > 0)) return {0};
  return {};
}

void infer_slice(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, n.element(0));
  Dims y = *x;
  const SliceNumbers s = slice_numbers(n.site);
  if (s.axes.given && !s.axes.values) {
    std::fill(y.begin(), y.end(), Dim());
    return n.output(0, n.element(0), std::move(y));
  }
  const auto length = n.site.extents(1);
  const std::size_t count = s.starts.values ? s.starts.values->size()
                            : length        ? length->size()
                                            : y.size();
  const std::vector<std::size_t> axes = slice_axes(s, count, y.size());
  const bool known = s.starts.values && s.ends.values && (!s.steps.given || s.steps.values);
  for (std::size_t i = 0; i < axes.size() && axes[i] < y.size(); ++i) {
    Dim& extent = y[axes[i]];
    if (!known || i >= s.starts.values->size() || i >= s.ends.values->size()) {
      extent = Dim();
      continue;
    }
    const std::int64_t start = (*s.starts.values)[i], end = (*s.ends.values)[i];
    const std::int64_t step = s.steps.given ? (*s.steps.values)[i] : 1;
    extent = extent.known() ? Dim(cut(extent.value, start, end, step).count)
                            : open_cut(extent, start, end, step);
  }
  n.output(0, n.element(0), std::move(y));
}

std::vector<Movement> slice_movement(const Call& call) {
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    if (call.has(i)) call.exact(i);
  const Shape& x = call.input(0).shape();
  const SliceNumbers s = slice_numbers(call.site);
  Region region;
  region.extents = call.output_shape(0);
  region.from_strides = strides_of(x);
  region.to_strides = strides_of(region.extents);
  const std::vector<std::size_t> axes = slice_axes(s, s.starts.values->size(), x.size());
  bool all = region.extents == x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = axes[i];
    const Cut part = cut(x[d], (*s.starts.values)[i], (*s.ends.values)[i],
                         s.steps.given ? (*s.steps.values)[i] : 1);
    region.from += part.first * region.from_strides[d];
    if (part.count > 1) region.from_strides[d] *= part.step;
    all = all && (part.step > 0 || part.count < 2);
  }
  if (all) return {whole(0)};
  return {{{region}, {}, true}};
}

// The slice with its ends along each axis as `change` leaves them.
template <class Change>
void changed_slice(Builder& b, const Change& change) {
  const SliceNumbers s = slice_numbers(b.site());
  const Dims& x = *b.site().dims(0);
  std::vector<std::int64_t> starts = *s.starts.values, ends = *s.ends.values;
  const std::vector<std::size_t> axes = slice_axes(s, starts.size(), x.size());
  const std::vector<std::int64_t> places(axes.begin(), axes.end());
  const std::vector<std::int64_t> steps =
      s.steps.given ? *s.steps.values : std::vector<std::int64_t>(axes.size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (steps[i] < 0) change(x[axes[i]].value, starts[i], ends[i]);
  b.output(0, b("Slice", {b.input(0), b.integers(starts), b.integers(ends), b.integers(places),
                          b.integers(steps)}));
}

// numpy takes nothing where a backward slice starts before the first element; the standard moves
// the start to the first element.
void early_start_is_empty(Builder& b) {
  changed_slice(b, [](std::int64_t extent, std::int64_t& start, std::int64_t& end) {
    if (start < -extent) start = end = 0;
  });
}

// The largest number as the end of a backward slice leaves nothing; ONNX Runtime takes it for "as
// far as there is".
void largest_end_is_the_beginning(Builder& b) {
  changed_slice(b, [](std::int64_t, std::int64_t&, std::int64_t& end) {
    if (end == std::numeric_limits<std::int32_t>::max() ||
        end == std::numeric_limits<std::int64_t>::max())
      end = std::numeric_limits<std::int64_t>::min();
  });
}

Operator slice() {
  return {.name = "Slice",
          .versions = {1, 10, 11, 13},
          .summary = "The elements from `starts` up to `ends` along some axes, in steps.",
          .attributes = {{"axes", Role::axes}, {"ends", Role::index}, {"starts", Role::index}},
          .require = require_slice,
          .infer = infer_slice,
          .meaning = move(slice_movement),
          .variants = {{"early-start-is-empty", Variant::Kind::difference,
                        "numpy and onnx.reference", early_start_is_empty},
                       {"largest-end-is-the-beginning", Variant::Kind::difference,
                        "ONNX Runtime 1.31", largest_end_is_the_beginning}}};
}

}  // namespace

std::vector<Operator> shape_slice_operators() { return {slice()}; }

}  // namespace assay
