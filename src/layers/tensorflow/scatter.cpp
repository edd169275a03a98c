// Rows put where indices say.
#include <limits>

#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// Rows of `data` for indices of any rank: their axes become one.
std::string rows_of(Builder& b, const std::string& data, const std::string& index) {
  const std::string row = shape_from(b, data, rank_of(b, index));
  return b("Reshape", {data, join(b, {b.integers({-1}), row})});
}

std::string as_places(Builder& b, const std::string& vector) {
  return b("Unsqueeze", {vector, b.integers({-1})});
}

// (indices…, data…): of rows for one place the last counts.
void dynamic_stitch(Builder& b) {
  const std::size_t count = b.site().input_count() / 2;
  Names places, rows;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(flat_indices(b, i));
    rows.push_back(rows_of(b, b.input(count + i), b.input(i)));
  }
  const std::string index = join(b, places), values = join(b, rows);
  const std::string last = b("ReduceMax", {index}, {attribute("keepdims", 1)});
  const std::string row = shape_from(b, values, b.integers({1}));
  const std::string shape = join(b, {b("Add", {last, b.integers({1})}), row});
  b.output(0, b("ScatterND", {zeros(b, shape, type_of(b)), as_places(b, index), values}));
}

// `size` rows that begin with `start` and take in the rows of input 0 by `reduction`; a row whose
// segment is below zero is left out, by way of one row too many.
std::string segments(Builder& b, const std::string& size, double start, const char* reduction) {
  const std::string given = flat_indices(b, 1);
  const std::string index = b("Where", {b("Less", {given, b.integer(0)}), size, given});
  const std::string rows = rows_of(b, b.input(0), b.input(1));
  const std::string row = shape_from(b, rows, b.integers({1}));
  const std::string shape = join(b, {b("Add", {size, b.integers({1})}), row});
  const std::string all =
      b("ScatterND", {zeros(b, shape, type_of(b), start), as_places(b, index), rows},
        {attribute("reduction", reduction)});
  return b("Slice", {all, b.integers({0}), size, b.integers({0})});
}

double lowest(ElementType type) {
  return is_real(type) ? -format_of(type).largest : static_cast<double>(smallest_integer(type));
}

double highest(ElementType type) {
  return is_real(type) ? format_of(type).largest : static_cast<double>(largest_integer(type));
}

void unsorted_segment_sum(Builder& b) { b.output(0, segments(b, flat_indices(b, 2), 0, "add")); }

void unsorted_segment_prod(Builder& b) { b.output(0, segments(b, flat_indices(b, 2), 1, "mul")); }

void unsorted_segment_max(Builder& b) {
  b.output(0, segments(b, flat_indices(b, 2), lowest(type_of(b)), "max"));
}

void unsorted_segment_min(Builder& b) {
  b.output(0, segments(b, flat_indices(b, 2), highest(type_of(b)), "min"));
}

// Sorted: the last index says how many there are.
std::string segment_count(Builder& b) {
  const std::string last = b("ReduceMax", {flat_indices(b, 1)}, {attribute("keepdims", 1)});
  return b("Add", {last, b.integers({1})});
}

void segment_sum(Builder& b) { b.output(0, segments(b, segment_count(b), 0, "add")); }

// (indices, updates, shape)
void scatter_nd(Builder& b) {
  const std::string base = zeros(b, flat_indices(b, 2), type_of(b));
  b.output(0, b("ScatterND", {base, indices(b, 0), b.input(1)}, {attribute("reduction", "add")}));
}

// (indices, shape, values, default): indices may lack their last axis, values may be one.
void sparse_to_dense(Builder& b) {
  const std::string shape = flat_indices(b, 1);
  const std::string base = b("Expand", {b.input(3), shape});
  const std::string width = join(b, {b.integers({-1}), b("Shape", {shape})});
  const std::string places = b("Reshape", {indices(b, 0), width});
  const std::string values = b("Expand", {b.input(2), extent(b, places, 0)});
  b.output(0, b("ScatterND", {base, places, values}));
}

}  // namespace

std::vector<Definition> scatter_definitions() {
  return {{"DynamicStitch", dynamic_stitch},
          {"ParallelDynamicStitch", dynamic_stitch},
          {"ScatterNd", scatter_nd},
          {"SegmentSum", segment_sum},
          {"SparseToDense", sparse_to_dense},
          {"UnsortedSegmentMax", unsorted_segment_max},
          {"UnsortedSegmentMin", unsorted_segment_min},
          {"UnsortedSegmentProd", unsorted_segment_prod},
          {"UnsortedSegmentSum", unsorted_segment_sum}};
}

}  // namespace assay::tensorflow
