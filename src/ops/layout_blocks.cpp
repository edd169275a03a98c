// Blocks of elements that trade places: between channels and space, in time, about a diagonal.
#include <algorithm>

#include <fmt/format.h>

#include "ops/layout_moves.h"
#include "ops/shape_numbers.h"
#include "patterns/move.h"

namespace assay {
namespace {

bool channels_last(const Site& site) { return site.text("mode") == "CRD"; }

bool require_blocks(Check& c) {
  bool good = c.rank("input", exactly(4));
  good = c.positive({"blocksize"}) && good;
  return c.one_of("mode", {"DCR", "CRD"}) && good;
}

Dims depth_to_space_dims(const Site& site, const Dims& x) {
  const std::int64_t b = site.integer("blocksize");
  const Dim area = Dim(b) * Dim(b);
  const bool divides = area.known() && x[1].known();
  return {x[0], divides ? Dim(x[1].value / area.value) : Dim(), x[2] * b, x[3] * b};
}

Dims space_to_depth_dims(const Site& site, const Dims& x) {
  const std::int64_t b = site.integer("blocksize");
  const auto part = [&](const Dim& extent) {
    return extent.known() ? Dim(extent.value / b) : b == 1 ? extent : Dim();
  };
  return {x[0], x[1] * b * b, part(x[2]), part(x[3])};
}

template <Dims (*dims)(const Site&, const Dims&)>
void infer_blocks(Infer& n) {
  const Dims* x = n.dims(0);
  const bool good = x && x->size() == 4 && n.site.integer("blocksize") > 0;
  n.output(0, n.element(0), good ? dims(n.site, *x) : Dims(4));
}

// Extents that overflow come out unknown though all that they are made of is known.
void require_block_sizes(Check& c, const Dims& x, const Dims& y) {
  if (to_shape(x) && !to_shape(y)) c.shape(false, "size", "extents below 2^63", "larger ones");
  sensible_size(c, y);
}

void require_depth_to_space(Check& c) {
  if (!require_blocks(c)) return;
  const Dims& x = *c.dims("input");
  const std::int64_t b = c.site.integer("blocksize");
  std::int64_t area = 0;
  if (__builtin_mul_overflow(b, b, &area)) area = std::numeric_limits<std::int64_t>::max();
  if (c.divisible(x[1], area, "the number of channels"))
    require_block_sizes(c, x, depth_to_space_dims(c.site, x));
}

void require_space_to_depth(Check& c) {
  if (!require_blocks(c)) return;
  const Dims& x = *c.dims("input");
  const std::int64_t b = c.site.integer("blocksize");
  bool good = c.divisible(x[2], b, "the height");
  good = c.divisible(x[3], b, "the width") && good;
  if (good) require_block_sizes(c, x, space_to_depth_dims(c.site, x));
}

std::vector<Movement> depth_to_space_movement(const Call& call) {
  const Shape &x = call.input(0).shape(), y = call.output_shape(0);
  const std::int64_t b = call.site.integer("blocksize"), plane = x[2] * x[3], depth = y[1];
  Region region;
  region.extents = {x[0], depth, x[2], b, x[3], b};
  region.to_strides = strides_of(region.extents);
  if (channels_last(call.site))
    region.from_strides = {x[1] * plane, b * b * plane, x[3], b * plane, 1, plane};
  else
    region.from_strides = {x[1] * plane, plane, x[3], b * depth * plane, 1, depth * plane};
  return {{{region}, {}, true}};
}

std::vector<Movement> space_to_depth_movement(const Call& call) {
  const Shape &x = call.input(0).shape(), y = call.output_shape(0);
  const std::int64_t b = call.site.integer("blocksize"), plane = x[2] * x[3];
  Region region;
  if (channels_last(call.site)) {
    region.extents = {x[0], x[1], b, b, y[2], y[3]};
    region.from_strides = {x[1] * plane, plane, x[3], 1, b * x[3], b};
  } else {
    region.extents = {x[0], b, b, x[1], y[2], y[3]};
    region.from_strides = {x[1] * plane, x[3], 1, plane, b * x[3], b};
  }
  region.to_strides = strides_of(region.extents);
  return {{{region}, {}, true}};
}

void other_order(Builder& b) {
  const Attribute size = attribute("blocksize", b.site().integer("blocksize"));
  const Attribute mode = attribute("mode", channels_last(b.site()) ? "DCR" : "CRD");
  b.output(0, b(b.site().node().op, {b.input(0)}, {size, mode}));
}

Operator depth_to_space() {
  return {
      .name = "DepthToSpace",
      .versions = {1, 11, 13, 28},
      .summary = "Channels spread over blocks of space.",
      .attributes = {{"blocksize", Role::count}, {"mode", Role::choice}},
      .require = require_depth_to_space,
      .infer = infer_blocks<depth_to_space_dims>,
      .meaning = move(depth_to_space_movement),
      .variants = {{"other-channel-order", Variant::Kind::difference,
                    "torch.nn.PixelShuffle where the mode is DCR, tf.nn.depth_to_space where it "
                    "is CRD",
                    other_order}}};
}

Operator space_to_depth() {
  return {.name = "SpaceToDepth",
          .versions = {1, 13, 28},
          .summary = "Blocks of space gathered into channels.",
          .attributes = {{"blocksize", Role::count}, {"mode", Role::choice}},
          .require = require_space_to_depth,
          .infer = infer_blocks<space_to_depth_dims>,
          .meaning = move(space_to_depth_movement),
          .variants = {{"other-channel-order", Variant::Kind::difference,
                        "torch.nn.PixelUnshuffle where the mode is DCR, tf.nn.space_to_depth where "
                        "it is CRD",
                        other_order}}};
}

void require_reverse_sequence(Check& c) {
  if (!c.rank("input", at_least(2)) || !c.rank("sequence_lens", exactly(1))) return;
  const std::int64_t batch = c.site.integer("batch_axis"), time = c.site.integer("time_axis");
  if (!c.axis("batch_axis", batch, between(0, 1)) || !c.axis("time_axis", time, between(0, 1)))
    return;
  if (batch == time) {
    c.argument(false, "axes-unique", "two axes", fmt::format("axis {} for both", batch));
    return;
  }
  const Dims& x = *c.dims("input");
  c.extent("sequence_lens", 0, x[static_cast<std::size_t>(batch)], "the batch");
  const Numbers lengths = numbers(c.site, "", 1);
  const Dim& steps = x[static_cast<std::size_t>(time)];
  if (!lengths.values || !steps.known())
    return c.undecided("length-range", "the lengths and the number of steps");
  for (std::int64_t length : *lengths.values)
    if (length < 0 || length > steps.value) {
      c.argument(false, "length-range", fmt::format("lengths from 0 to {}", steps.value),
                 fmt::format("{}", length));
      return;
    }
}

std::vector<Movement> reverse_sequence_movement(const Call& call) {
  const std::vector<std::int64_t> lengths = exact_numbers(call, "", 1);
  const Shape& x = call.input(0).shape();
  const auto batch = static_cast<std::size_t>(call.site.integer("batch_axis"));
  const auto time = static_cast<std::size_t>(call.site.integer("time_axis"));
  const Shape strides = strides_of(x);
  const std::int64_t inner = strides[1], step = strides[time];
  Movement movement;
  movement.complete = true;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) * strides[batch], length = lengths[i];
    if (length > 0)
      movement.regions.push_back(
          {0, {length, inner}, at + (length - 1) * step, at, {-step, 1}, {step, 1}});
    movement.regions.push_back({0,
                                {x[time] - length, inner},
                                at + length * step,
                                at + length * step,
                                {step, 1},
                                {step, 1}});
  }
  return {movement};
}

Operator reverse_sequence() {
  return {
      .name = "ReverseSequence",
      .versions = {10, 28},
      .summary = "The first steps of each sequence of a batch in reverse, the others as they are.",
      .attributes = {{"batch_axis", Role::axis}, {"time_axis", Role::axis}},
      .require = require_reverse_sequence,
      .infer = same_as_first,
      .meaning = move(reverse_sequence_movement)};
}

std::vector<Movement> trilu_movement(const Call& call) {
  const Shape& x = call.input(0).shape();
  const std::int64_t rows = x[x.size() - 2], columns = x[x.size() - 1], matrix = rows * columns;
  const std::vector<std::int64_t> given = exact_numbers(call, "", 1);
  if (element_count(x) == 0) return {whole(0)};
  const std::int64_t batches = element_count(x) / matrix;
  const std::int64_t k = std::clamp(given.empty() ? 0 : given[0], -rows, columns);
  const bool upper = call.site.integer("upper") != 0;
  Movement movement;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t first = upper ? std::clamp<std::int64_t>(i + k, 0, columns) : 0;
    const std::int64_t last = upper ? columns : std::clamp<std::int64_t>(i + k + 1, 0, columns);
    if (first == last) continue;
    const std::int64_t at = i * columns + first;
    movement.regions.push_back({0, {batches, last - first}, at, at, {matrix, 1}, {matrix, 1}});
  }
  return {movement};
}

Operator trilu() {
  return {
      .name = "Trilu",
      .versions = {14},
      .summary = "The upper or lower triangle of each matrix, from the k-th diagonal on; else 0.",
      .attributes = {{"upper", Role::flag}},
      .require =
          [](Check& c) {
            c.rank("input", at_least(2));
            c.element_count_is("k", 1);
          },
      .infer = same_as_first,
      .meaning = move(trilu_movement)};
}

}  // namespace

std::vector<Operator> layout_block_operators() {
  return {depth_to_space(), reverse_sequence(), space_to_depth(), trilu()};
}

}  // namespace assay
