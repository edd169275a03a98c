// The same elements in another arrangement.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// 0 is an extent of 0 here, not "as before".
void reshape(Builder& b) {
  b.output(0, b("Reshape", {b.input(0), flat_indices(b, 1)}, {attribute("allowzero", 1)}));
}

void transpose_by(Builder& b) {
  b.output(0, transpose(b, b.input(0), needed_integers(b, 1, "its permutation")));
}

void expand_dims(Builder& b) { b.output(0, b("Unsqueeze", {b.input(0), flat_indices(b, 1)})); }

void squeeze(Builder& b) {
  const std::vector<std::int64_t>& axes = b.site().integers("squeeze_dims");
  Names inputs = {b.input(0)};
  if (!axes.empty()) inputs.push_back(b.integers(axes));
  b.output(0, b("Squeeze", std::move(inputs)));
}

void concat(Builder& b, std::size_t axis, std::size_t first, std::size_t last) {
  Names parts;
  for (std::size_t i = first; i < last; ++i) parts.push_back(b.input(i));
  b.output(0,
           b("Concat", std::move(parts), {attribute("axis", needed_integer(b, axis, "its axis"))}));
}

void concat_v2(Builder& b) {
  if (b.site().input_count() < 2) throw NotDefined("it has nothing to join");
  concat(b, b.site().input_count() - 1, 0, b.site().input_count() - 1);
}

void concat_v1(Builder& b) { concat(b, 0, 1, b.site().input_count()); }

void pack(Builder& b) {
  const std::int64_t axis = b.site().integer("axis");
  Names parts;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) {
    parts.push_back(b("Unsqueeze", {b.input(i), b.integers({axis})}));
  }
  b.output(0, b("Concat", std::move(parts), {attribute("axis", axis)}));
}

void unpack(Builder& b) {
  const std::int64_t axis = b.site().integer("axis");
  const auto count = static_cast<std::size_t>(b.site().integer("num"));
  for (std::size_t i = 0; i < count; ++i) {
    b.output(i, b("Gather", {b.input(0), b.integer(static_cast<std::int64_t>(i))},
                  {attribute("axis", axis)}));
  }
}

void outputs_of(Builder& b, const Names& values) {
  for (std::size_t i = 0; i < values.size(); ++i) b.output(i, values[i]);
}

// (axis, value)
void split(Builder& b) {
  const std::int64_t count = b.site().integer("num_split");
  outputs_of(b, b.many("Split", {b.input(1)}, static_cast<std::size_t>(count),
                       {attribute("axis", needed_integer(b, 0, "its axis")),
                        attribute("num_outputs", count)}));
}

// (value, sizes, axis): a size of -1 takes the rest.
void split_v(Builder& b) {
  const std::int64_t axis = needed_integer(b, 2, "its axis");
  const auto count = static_cast<std::size_t>(b.site().integer("num_split"));
  std::string sizes = flat_indices(b, 1);
  const std::string rest = b("Less", {sizes, b.integer(0)});
  const std::string given = b("Where", {rest, b.integer(0), sizes});
  const std::string taken = b("ReduceSum", {given}, {attribute("keepdims", 1)});
  sizes = b("Where", {rest, b("Sub", {extent(b, b.input(0), axis), taken}), sizes});
  outputs_of(b, b.many("Split", {b.input(0), sizes}, count, {attribute("axis", axis)}));
}

void reverse(Builder& b) {
  const std::string axes = flat_indices(b, 1);
  const std::string count = b("Shape", {axes});
  const auto all = [&](std::int64_t value) { return b("Expand", {b.integers({value}), count}); };
  b.output(0, b("Slice", {b.input(0), all(-1), all(kToStart), axes, all(-1)}));
}

// (value, lengths)
void reverse_sequence(Builder& b) {
  const std::int64_t time = b.site().integer("seq_dim"), batch = b.site().integer("batch_dim");
  if (time > 1 || batch > 1) throw NotDefined("time and batch are not its first axes");
  b.output(0, b("ReverseSequence", {b.input(0), flat_indices(b, 1)},
                {attribute("time_axis", time), attribute("batch_axis", batch)}));
}

void depth_to_space(Builder& b) {
  b.output(0, as_data_format(b, b("DepthToSpace", {channels_first(b, b.input(0))},
                                  {attribute("blocksize", b.site().integer("block_size"))})));
}

void space_to_depth(Builder& b) {
  b.output(0, as_data_format(b, b("SpaceToDepth", {channels_first(b, b.input(0))},
                                  {attribute("blocksize", b.site().integer("block_size"))})));
}

}  // namespace

std::vector<Definition> layout_definitions() {
  return {{"Concat", concat_v1},
          {"ConcatV2", concat_v2},
          {"DepthToSpace", depth_to_space},
          {"ExpandDims", expand_dims},
          {"Pack", pack},
          {"Reshape", reshape},
          {"ReverseSequence", reverse_sequence},
          {"ReverseV2", reverse},
          {"SpaceToDepth", space_to_depth},
          {"Split", split, 0, "num_split"},
          {"SplitV", split_v, 0, "num_split"},
          {"Squeeze", squeeze},
          {"Transpose", transpose_by},
          {"Unpack", unpack, 0, "num"}};
}

}  // namespace assay::tensorflow
