// One of two, the largest, the different ones, those that a partition names.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// A condition for each row of the values is stretched over the row.
void select(Builder& b) {
  const auto condition = b.site().rank(0), value = b.site().rank(1);
  std::string by_row = b.input(0);
  if (!condition || !value || (*condition == 1 && *value > 1)) {
    const std::string rank = rank_of(b, b.input(1));
    const std::string more = b("Sub", {rank, rank_of(b, b.input(0))});
    const std::string ones = zeros(b, more, ElementType::i64, 1);
    by_row = b("Reshape", {b.input(0), join(b, {b("Shape", {b.input(0)}), ones})});
  }
  b.output(0, b("Where", {by_row, b.input(1), b.input(2)}));
}

void select_v2(Builder& b) { b.output(0, b("Where", {b.input(0), b.input(1), b.input(2)})); }

void top_k(Builder& b, const std::string& k) {
  const Names found = b.many("TopK", {b.input(0), k}, 2);
  b.output(0, found[0]);
  const auto type = b.site().integer("index_type", static_cast<int>(ElementType::i32));
  b.output(1, cast(b, found[1], static_cast<ElementType>(type)));
}

void top_k_v1(Builder& b) { top_k(b, b.integers({b.site().integer("k")})); }

void top_k_v2(Builder& b) { top_k(b, flat_indices(b, 1)); }

// (predictions, targets, k): whether fewer than k classes beat the target.
void in_top_k(Builder& b) {
  const std::string k = b.has(2) ? indices(b, 2) : b.integer(b.site().integer("k"));
  const std::string places = b("Unsqueeze", {indices(b, 1), b.integers({1})});
  const std::string score = b("GatherElements", {b.input(0), places}, {attribute("axis", 1)});
  const std::string better = cast(b, b("Greater", {b.input(0), score}), ElementType::i64);
  b.output(0, b("Less", {sum_over(b, better, b.integers({1}), false), k}));
}

// In order of first appearance.
void unique(Builder& b) {
  const Names found = b.many("Unique", {b.input(0)}, 4, {attribute("sorted", 0)});
  const auto type = b.site().integer("out_idx", static_cast<int>(ElementType::i32));
  b.output(0, found[0]);
  b.output(1, cast(b, found[2], static_cast<ElementType>(type)));
  b.output(2, cast(b, found[3], static_cast<ElementType>(type)));
}

// (data, partitions)
void dynamic_partition(Builder& b) {
  const std::int64_t count = b.site().integer("num_partitions");
  const std::string rank = rank_of(b, b.input(1));
  const std::string row = shape_from(b, b.input(0), rank);
  const std::string rows = b("Reshape", {b.input(0), join(b, {b.integers({-1}), row})});
  const std::string part = flat_indices(b, 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string here = b("Equal", {part, b.integer(i)});
    b.output(static_cast<std::size_t>(i), b("Compress", {rows, here}, {attribute("axis", 0)}));
  }
}

}  // namespace

std::vector<Definition> select_definitions() {
  return {{"DynamicPartition", dynamic_partition, 0, "num_partitions"},
          {"InTopK", in_top_k},
          {"InTopKV2", in_top_k},
          {"Select", select},
          {"SelectV2", select_v2},
          {"TopK", top_k_v1, 2},
          {"TopKV2", top_k_v2, 2},
          {"Unique", unique, 2},
          {"UniqueWithCounts", unique, 3}};
}

}  // namespace assay::tensorflow
