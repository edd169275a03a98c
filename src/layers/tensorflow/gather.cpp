// Elements and rows picked by index.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

void gather_rows(Builder& b) {
  b.output(0, b("Gather", {b.input(0), indices(b, 1)}, {attribute("axis", 0)}));
}

// (value, indices, axis)
void gather_v2(Builder& b) {
  const std::int64_t axis = needed_integer(b, 2, "its axis");
  const std::int64_t batch = b.site().integer("batch_dims");
  if (batch == 0) {
    return b.output(0, b("Gather", {b.input(0), indices(b, 1)}, {attribute("axis", axis)}));
  }
  if (axis != batch) throw NotDefined("axes lie between those of the batch and its own");
  const std::string places = b("Unsqueeze", {indices(b, 1), b.integers({-1})});
  b.output(0, b("GatherND", {b.input(0), places}, {attribute("batch_dims", batch)}));
}

void gather_nd(Builder& b) { b.output(0, b("GatherND", {b.input(0), indices(b, 1)})); }

// (indices, depth, on, off): an index outside, below zero too, has no place.
void one_hot(Builder& b) {
  const std::string depth = indices(b, 1), given = indices(b, 0);
  const std::string places = b("Where", {b("Less", {given, b.integer(0)}), depth, given});
  const std::string values = join(b, {flat(b, b.input(3)), flat(b, b.input(2))});
  b.output(0,
           b("OneHot", {places, depth, values}, {attribute("axis", b.site().integer("axis", -1))}));
}

void where_true(Builder& b) {
  if (!b.site().has("T") || type_of(b) == ElementType::boolean) {
    return b.output(0, transpose(b, b("NonZero", {b.input(0)}), {1, 0}));
  }
  b.output(0, transpose(b, b("NonZero", {cast(b, b.input(0), ElementType::boolean)}), {1, 0}));
}

}  // namespace

std::vector<Definition> gather_definitions() {
  return {{"Gather", gather_rows}, {"GatherNd", gather_nd},         {"GatherV2", gather_v2},
          {"OneHot", one_hot},     {"ResourceGather", gather_rows}, {"Where", where_true}};
}

}  // namespace assay::tensorflow
