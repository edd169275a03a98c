// Slices, with the masks of TensorFlow's strided ones, and their gradient.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// So many elements of an axis from a place on that only data tell. TensorFlow refuses what leaves
// the axis, as Gather does; Slice would take less.
std::string taken_from(Builder& b, const std::string& value, std::int64_t axis,
                       const std::string& begin, std::int64_t size) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(size));
  std::iota(steps.begin(), steps.end(), std::int64_t{0});
  const std::string below = b("Less", {begin, b.integer(0)});
  const std::string inside = b("Where", {below, extent(b, value, axis), begin});
  return b("Gather", {value, b("Add", {inside, b.integers(steps)})}, {attribute("axis", axis)});
}

std::string slice_by_data(Builder& b, const std::vector<std::int64_t>& sizes) {
  std::string value = b.input(0);
  const std::string begins = flat_indices(b, 1);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    const std::string begin = b("Gather", {begins, b.integers({axis})});
    value = sizes[d] < 0 ? b("Slice", {value, begin, b.integers({kToEnd}), b.integers({axis})})
                         : taken_from(b, value, axis, begin, sizes[d]);
  }
  return value;
}

// (value, begin, size): a size of -1 takes the rest.
void slice(Builder& b) {
  constexpr std::int64_t kMostTaken = 4096;
  const auto sizes = known_integers(b, 2);
  const bool few = sizes && !sizes->empty() &&
                   std::all_of(sizes->begin(), sizes->end(),
                               [](std::int64_t size) { return size <= kMostTaken; });
  if (few && !known_integers(b, 1)) return b.output(0, slice_by_data(b, *sizes));
  const std::string begin = flat_indices(b, 1), size = flat_indices(b, 2);
  const std::string rest = b("Less", {size, b.integer(0)});
  const std::string end = b("Where", {rest, b.integer(kToEnd), b("Add", {begin, size})});
  b.output(0, b("Slice", {b.input(0), begin, end}));
}

// One entry of the specification that takes part of an axis. Axes after an ellipsis are counted
// from the end.
struct Entry {
  std::size_t place;  // in begin, end and strides
  std::int64_t axis;
};

class StridedSlice {
 public:
  // begin is input `first`, end and strides follow.
  StridedSlice(Builder& b, std::size_t first) : b_(b), first_(first) { read_masks(); }

  std::string apply(std::string value) {
    value = cut(value);
    for (const Entry& entry : in_order_of_removal()) {
      value = b_("Gather", {value, element(first_, entry.place, true)},
                 {attribute("axis", entry.axis)});
    }
    if (!added_.empty()) value = b_("Unsqueeze", {value, b_.integers(added_)});
    return value;
  }

 private:
  bool has(const char* mask, std::size_t place) const {
    return ((b_.site().integer(mask) >> place) & 1) != 0;
  }

  std::size_t length() const {
    for (std::size_t i = first_; i < first_ + 3; ++i) {
      if (const auto known = known_integers(b_, i)) return known->size();
      const Dims* dims = b_.site().dims(i);
      if (dims && dims->size() == 1 && dims->front().known()) {
        return static_cast<std::size_t>(dims->front().value);
      }
    }
    throw NotDefined("the length of its begin is not known before the graph runs");
  }

  void read_masks() {
    const std::size_t count = length();
    std::size_t ellipsis = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (has("ellipsis_mask", i)) ellipsis = std::min(ellipsis, i);
    }
    const auto in_range = [&](std::size_t i) { return i != ellipsis; };
    std::int64_t axes_after = 0, results_after = 0;
    for (std::size_t i = ellipsis + 1; i < count; ++i) {
      if (!has("new_axis_mask", i)) ++axes_after;
      if (has("new_axis_mask", i) || !has("shrink_axis_mask", i)) ++results_after;
    }
    std::int64_t axis = 0, result = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!in_range(i)) {
        axis = -axes_after;
        result = -results_after;
      } else if (has("new_axis_mask", i)) {
        added_.push_back(result++);
      } else if (has("shrink_axis_mask", i)) {
        removed_.push_back({i, axis++});
      } else {
        cut_.push_back({i, axis++});
        ++result;
      }
    }
  }

  // Removing an axis moves those after it, or, counted from the end, those before it.
  std::vector<Entry> in_order_of_removal() const {
    std::vector<Entry> order = removed_;
    std::stable_sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
      if ((a.axis < 0) != (b.axis < 0)) return a.axis < 0;
      return a.axis < 0 ? a.axis < b.axis : a.axis > b.axis;
    });
    return order;
  }

  std::string element(std::size_t input, std::size_t place, bool scalar) {
    const auto at = static_cast<std::int64_t>(place);
    if (const auto known = known_integers(b_, input)) {
      return scalar ? b_.integer(known->at(place)) : b_.integers({known->at(place)});
    }
    return b_("Gather", {indices(b_, input), scalar ? b_.integer(at) : b_.integers({at})});
  }

  std::int64_t stride(std::size_t place) const {
    const auto known = known_integers(b_, first_ + 2);
    if (!known) throw NotDefined("its strides are not known before the graph runs");
    if (place >= known->size()) throw NotDefined("its strides are fewer than its begins");
    return (*known)[place];
  }

  std::string cut(const std::string& value) {
    Names starts, ends;
    std::vector<std::int64_t> axes, steps;
    for (const Entry& entry : cut_) {
      const std::int64_t step = stride(entry.place);
      const bool whole = has("begin_mask", entry.place) && has("end_mask", entry.place);
      if (whole && step == 1) continue;
      starts.push_back(has("begin_mask", entry.place) ? b_.integers({step > 0 ? 0 : kToEnd})
                                                      : element(first_, entry.place, false));
      ends.push_back(has("end_mask", entry.place) ? b_.integers({step > 0 ? kToEnd : kToStart})
                                                  : element(first_ + 1, entry.place, false));
      axes.push_back(entry.axis);
      steps.push_back(step);
    }
    if (axes.empty()) return value;
    return b_("Slice",
              {value, join(b_, starts), join(b_, ends), b_.integers(axes), b_.integers(steps)});
  }

  Builder& b_;
  std::size_t first_;
  std::vector<Entry> cut_, removed_;
  std::vector<std::int64_t> added_;
};

void strided_slice(Builder& b) {
  b.output(0, b("Identity", {StridedSlice(b, 1).apply(b.input(0))}));
}

// (shape, begin, end, strides, gradient): the gradient, back where the slice had taken its elements
// from. Slicing the numbers of the elements tells where.
void strided_slice_grad(Builder& b) {
  const std::string shape = flat_indices(b, 0);
  const std::string count = b("ReduceProd", {shape}, {attribute("keepdims", 1)});
  const std::string places = StridedSlice(b, 1).apply(b("Reshape", {count_up(b, count), shape}));
  const std::string spread =
      b("ScatterElements", {zeros(b, count, type_of(b)), flat(b, places), flat(b, b.input(4))});
  b.output(0, b("Reshape", {spread, shape}, {attribute("allowzero", 1)}));
}

}  // namespace

std::vector<Definition> slice_definitions() {
  return {
      {"Slice", slice}, {"StridedSlice", strided_slice}, {"StridedSliceGrad", strided_slice_grad}};
}

}  // namespace assay::tensorflow
