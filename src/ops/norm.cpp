// Normalisations: subtract a mean, divide by a deviation, scale and shift.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ops/alignment.h"
#include "ops/families.h"
#include "patterns/rows.h"

namespace assay {
namespace {

// Axes [first, rank).
std::vector<std::int64_t> axes_from(std::int64_t first, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t d = first; d < rank; ++d) axes.push_back(d);
  return axes;
}

std::vector<std::int64_t> all_but_channel(std::int64_t rank) {
  std::vector<std::int64_t> axes = axes_from(2, rank);
  axes.insert(axes.begin(), 0);
  return axes;
}

// Statistics of the batch, mixed into the running ones: m * running + (1 - m) * current.
template <class S>
S mixed(const S& running, const S& current, double momentum) {
  return running * constant<S>(momentum) + current * (constant<S>(1.0) - constant<S>(momentum));
}

// From version 14 on `training_mode` asks for the batch's own statistics; below, the number of
// outputs (from version 7) or is_test does.
bool trains(const Site& site) {
  if (site.version() >= 14) return site.integer("training_mode") != 0;
  if (site.version() < 7) return site.integer("is_test") == 0;
  return site.output_count() > 1;
}

// Below version 9, spatial=0 keeps statistics for each place of a channel too.
bool per_place(const Site& site) { return site.version() < 9 && site.integer("spatial", 1) == 0; }

struct BatchNormalization {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> scale = f.input(1), shift = f.input(2);
    Array<S> mean = f.input(3), variance = f.input(4);
    const S epsilon = constant<S>(f.site().real("epsilon"));
    const Shape& shape = f.shape(0);
    const std::int64_t inner = per_place(f.site()) ? 1 : places(shape), groups = mean.size();
    if (trains(f.site())) train(f, f.input(0), mean, variance);
    std::vector<S> factors;
    for (std::int64_t g = 0; g < groups; ++g)
      factors.push_back(scale[g] / sqrt(variance[g] + epsilon));
    Settler<S> settler(f.call().output_type(0), shape);
    const Rounding& rules = rounding();
    for_rows(shape[0] * groups, inner, [&](std::int64_t begin, std::int64_t end) {
      const RoundingScope scope(rules);
      std::vector<S> row(static_cast<std::size_t>(inner));
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t g = r % groups;
        load<S>(f.call().input(0), r * inner, (r + 1) * inner, row.data());
        normalize(std::span<S>(row), mean[g], factors[static_cast<std::size_t>(g)], shift[g]);
        settler.put(r * inner, inner, row.data());
      }
    });
    f.output(0, settler.finish());
  }

  static std::int64_t places(const Shape& shape) {
    return shape.size() < 2 ? 1 : element_count(std::span(shape).subspan(2));
  }

  // (x - mean) * factor + shift; runtimes fold it into x * factor + (shift - mean * factor), so a
  // bound takes the three terms in any order.
  template <class S>
  static void normalize(std::span<S> row, const S& mean, const S& factor, const S& shift) {
    if constexpr (Plain<S>) {
      for (S& x : row) x = (x - mean) * factor + shift;
    } else {
      const S center = -(mean * factor);
      for (S& x : row) x = sum(std::span<const S>(std::array<S, 3>{x * factor, center, shift}));
    }
  }

  // Replaces mean and variance by the batch's; the running ones and the batch's are outputs.
  template <class S>
  static void train(Frame<S>& f, const Array<S>& x, Array<S>& mean, Array<S>& variance) {
    const double momentum = f.site().real("momentum");
    const auto rank = static_cast<std::int64_t>(x.shape.size());
    const RowLayout layout =
        row_layout(x.shape, per_place(f.site()) || rank < 2 ? std::vector<std::int64_t>{0}
                                                            : all_but_channel(rank));
    Array<S> running_mean = mean, running_variance = variance;
    std::vector<S> buffer;
    for (std::int64_t g = 0; g < mean.size(); ++g) {
      const std::span<const S> row = row_of(x, layout, static_cast<std::size_t>(g), buffer);
      const S current_mean = assay::mean(row), current_variance = assay::variance(row);
      running_mean[g] = mixed(mean[g], current_mean, momentum);
      running_variance[g] = mixed(variance[g], current_variance, momentum);
      mean[g] = current_mean;
      variance[g] = current_variance;
    }
    if (f.wants(1)) f.output(1, running_mean);
    if (f.wants(2)) f.output(2, running_variance);
    if (f.wants(3)) f.output(3, mean);
    if (f.wants(4)) f.output(4, variance);
  }
};

void require_batch_norm(Check& c) {
  const bool older = c.site.version() < 14;
  if (!c.rank("X", at_least(1))) return;
  const Dims& x = *c.dims("X");
  const Dim channels = x.size() > 1 ? x[1] : Dim(1);
  for (std::string_view name :
       {"scale", "B", older ? "mean" : "input_mean", older ? "var" : "input_var"})
    if (per_place(c.site))
      c.rank(name, at_least(1));
    else if (c.rank(name, exactly(1)))
      c.weight_extent(name, 0, channels, "the channels of X");
  if (const auto shape = to_shape(x); per_place(c.site) && shape)
    for (std::string_view name : {"scale", "B", "mean", "var"})
      c.element_count_is(name, element_count(std::span(*shape).subspan(1)));
  c.argument(c.site.version() < 14 || trains(c.site) || c.site.output_count() < 2, "outputs",
             "one output outside of training", fmt::format("{}", c.site.output_count()));
}

void infer_batch_norm(Infer& n) {
  n.output(0, n.site.type(0));
  for (std::size_t i = 1; i < n.outputs.size(); ++i) {
    ValueType statistic = n.site.type(i % 2 == 1 ? 3 : 4);
    n.output(i, std::move(statistic));
  }
}

// onnx.reference at opsets 9 to 13 mixes the batch's own statistics into the given ones.
void batch_statistics_mixed_in(Builder& b) {
  const auto rank = static_cast<std::int64_t>(b.site().dims(0)->size());
  const std::string x = b.input(0), axes = b.integers(all_but_channel(rank));
  const std::string center = b("ReduceMean", {x, axes}, {attribute("keepdims", 1)});
  const std::string spread = b("Sub", {x, center});
  const std::string variance =
      b("ReduceMean", {b("Mul", {spread, spread}), axes}, {attribute("keepdims", 0)});
  const std::string m = b.like(0, b.site().real("momentum")),
                    rest = b.like(0, 1 - b.site().real("momentum"));
  const auto mix = [&](const std::string& running, const std::string& current) {
    return b("Add", {b("Mul", {running, m}), b("Mul", {current, rest})});
  };
  const std::string mean = mix(b.input(3), b("ReduceMean", {x, axes}, {attribute("keepdims", 0)}));
  b.output(0, b("BatchNormalization", {x, b.input(1), b.input(2), mean, mix(b.input(4), variance)},
                {attribute("epsilon", b.site().real("epsilon"))}));
}

void epsilon_outside_the_root(Builder& b) {
  const auto rank = b.site().dims(0)->size();
  Shape to(rank, 1);
  if (rank > 1) to[1] = -1;
  const auto spread = [&](std::size_t i) { return b("Reshape", {b.input(i), b.integers(to)}); };
  const std::string deviation =
      b("Add", {b("Sqrt", {spread(4)}), b.like(0, b.site().real("epsilon"))});
  const std::string normal = b("Div", {b("Sub", {b.input(0), spread(3)}), deviation});
  b.output(0, b("Add", {b("Mul", {normal, spread(1)}), spread(2)}));
}

void default_epsilon(Builder& b) { b.output(0, b.again({attribute("epsilon", 1e-5)}).front()); }

Operator batch_normalization() {
  return {
      .name = "BatchNormalization",
      .versions = {1, 6, 7, 9, 14, 15},
      .summary = "(x - mean) / sqrt(variance + epsilon) * scale + B, with given or own statistics.",
      .attributes = {{"consumed_inputs", Role::number},
                     {"epsilon", Role::epsilon},
                     {"is_test", Role::flag},
                     {"momentum", Role::ratio},
                     {"spatial", Role::flag},
                     {"training_mode", Role::flag}},
      .require = require_batch_norm,
      .infer = infer_batch_norm,
      .align = align_batch_norm,
      .meaning = compute<BatchNormalization>(Pattern::rowwise),
      .variants = {{"batch-statistics-mixed-in", Variant::Kind::defect,
                    "onnx.reference 1.23 at opsets 9 to 13", batch_statistics_mixed_in},
                   {"epsilon-outside-the-root", Variant::Kind::difference,
                    "implementations that add epsilon to the deviation", epsilon_outside_the_root},
                   {"default-epsilon", Variant::Kind::defect,
                    "Keras 2.1 on CNTK, which ignores the given epsilon", default_epsilon}}};
}

// One mean and variance a row; scale and shift by the place of the element.
struct GroupStatistics {
  std::vector<std::int64_t> axes;  // of a row
  Shape grouped;                   // the shape that these axes refer to
};

// Standardises rows of x seen as `grouped`, then scales and shifts with `factor(i)`, `offset(i)`.
template <class S, class Factor, class Offset>
Array<S> normalize_rows(const Array<S>& x, const GroupStatistics& g, const S& epsilon,
                        const Factor& factor, const Offset& offset, std::vector<S>* means = nullptr,
                        std::vector<S>* inverses = nullptr) {
  const RowLayout layout = row_layout(g.grouped, g.axes);
  Array<S> y(x.shape);
  std::vector<S> buffer;
  for (std::size_t r = 0; r < layout.starts.size(); ++r) {
    const std::span<const S> row = row_of(x, layout, r, buffer);
    const S center = mean(row), inverse = reciprocal(sqrt(variance(row) + epsilon));
    if (means) means->push_back(center);
    if (inverses) inverses->push_back(inverse);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::int64_t at = layout.starts[r] + layout.offsets[i];
      y[at] = (row[i] - center) * inverse * factor(at) + offset(at);
    }
  }
  return y;
}

struct InstanceNormalization {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0), scale = f.input(1), shift = f.input(2);
    const auto rank = static_cast<std::int64_t>(x.shape.size());
    const std::int64_t inner = BatchNormalization::places(x.shape), channels = x.shape[1];
    const auto channel = [&](std::int64_t at) { return at / inner % channels; };
    f.output(0, normalize_rows(
                    x, {axes_from(2, rank), x.shape}, constant<S>(f.site().real("epsilon")),
                    [&](std::int64_t at) { return scale[channel(at)]; },
                    [&](std::int64_t at) { return shift[channel(at)]; }));
  }
};

void require_instance_norm(Check& c) {
  if (!c.rank("input", at_least(3))) return;
  const Dim& channels = (*c.dims("input"))[1];
  for (std::string_view name : {"scale", "B"})
    if (c.rank(name, exactly(1))) c.weight_extent(name, 0, channels, "the channels of input");
}

// PyTorch's unbiased estimate, divided by n - 1: used by implementations that reuse torch.var.
void sample_variance(Builder& b) {
  const Dims& x = *b.site().dims(0);
  const auto rank = static_cast<std::int64_t>(x.size());
  const std::string axes = b.integers(axes_from(2, rank));
  double n = 1;
  for (std::size_t d = 2; d < x.size(); ++d) n *= static_cast<double>(x[d].value);
  const std::string spread = b("Sub", {b.input(0), b("ReduceMean", {b.input(0), axes})});
  const std::string total = b("ReduceSum", {b("Mul", {spread, spread}), axes});
  const std::string variance = b("Div", {total, b.like(0, n - 1)});
  Shape to(x.size() - 1, 1);
  to[0] = -1;
  const std::string scale = b("Reshape", {b.input(1), b.integers(to)}),
                    shift = b("Reshape", {b.input(2), b.integers(to)});
  const std::string root = b("Sqrt", {b("Add", {variance, b.like(0, b.site().real("epsilon"))})});
  b.output(0, b("Add", {b("Mul", {b("Div", {spread, root}), scale}), shift}));
}

Operator instance_normalization() {
  return {.name = "InstanceNormalization",
          .versions = {1, 6, 22},
          .summary = "Each channel of each instance standardised, scaled and shifted.",
          .attributes = {{"consumed_inputs", Role::number}, {"epsilon", Role::epsilon}},
          .require = require_instance_norm,
          .infer = same_as_first,
          .align = align_instance_norm,
          .meaning = compute<InstanceNormalization>(Pattern::rowwise),
          .variants = {{"sample-variance", Variant::Kind::difference,
                        "implementations with the unbiased variance, divided by n - 1",
                        sample_variance}}};
}

// Version 18 has scale and bias for each group, 21 for each channel.
struct GroupNormalization {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0), scale = f.input(1), shift = f.input(2);
    const std::int64_t groups = f.site().integer("num_groups"),
                       inner = BatchNormalization::places(x.shape);
    const std::int64_t channels = x.shape[1];
    const bool by_group = f.site().version() < 21;
    const auto index = [&](std::int64_t at) {
      const std::int64_t channel = at / inner % channels;
      return by_group ? channel / (channels / groups) : channel;
    };
    const GroupStatistics g{{2}, {x.shape[0], groups, channels / groups * inner}};
    f.output(0, normalize_rows(
                    x, g, constant<S>(f.site().real("epsilon")),
                    [&](std::int64_t at) { return scale[index(at)]; },
                    [&](std::int64_t at) { return shift[index(at)]; }));
  }
};

void require_group_norm(Check& c) {
  if (!c.rank("X", at_least(3)) || !c.positive({"num_groups"})) return;
  const Dim& channels = (*c.dims("X"))[1];
  const std::int64_t groups = c.site.integer("num_groups");
  if (!c.divisible(channels, groups, "the channels of X")) return;
  const Dim expected = c.site.version() < 21 ? Dim(groups) : channels;
  for (std::string_view name : {"scale", "bias"})
    if (c.rank(name, exactly(1)))
      c.weight_extent(name, 0, expected,
                      c.site.version() < 21 ? "num_groups" : "the channels of X");
}

void one_group(Builder& b) { b.output(0, b.again({attribute("num_groups", 1)}).front()); }

Operator group_normalization() {
  return {.name = "GroupNormalization",
          .versions = {18, 21},
          .summary = "Groups of channels of each instance standardised, scaled and shifted.",
          .attributes = {{"epsilon", Role::epsilon},
                         {"num_groups", Role::count},
                         {"stash_type", Role::type}},
          .require = require_group_norm,
          .infer = same_as_first,
          .meaning = compute<GroupNormalization>(Pattern::rowwise),
          .variants = {{"one-group", Variant::Kind::defect,
                        "layer normalisation put in its place by a converter", one_group}}};
}

std::int64_t first_axis(const Site& site, std::size_t rank) {
  return *normalize_axis(site.integer("axis"), static_cast<std::int64_t>(rank));
}

// Where element `at` of x lies in a tensor that broadcasts to x's shape.
class Broadcasting {
 public:
  Broadcasting(const Shape& from, const Shape& to)
      : extents_(to), strides_(broadcast_strides(from, to)) {}
  std::int64_t operator()(std::int64_t at) const {
    std::int64_t index = 0;
    for (std::size_t d = extents_.size(); d-- > 0; at /= extents_[d])
      index += at % extents_[d] * strides_[d];
    return index;
  }

 private:
  Shape extents_;
  std::vector<std::int64_t> strides_;
};

struct LayerNormalization {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0), scale = f.input(1);
    const Array<S> shift = f.has(2) ? f.input(2) : Array<S>(Shape{});
    const auto rank = static_cast<std::int64_t>(x.shape.size());
    const Broadcasting by_scale(scale.shape, x.shape), by_shift(shift.shape, x.shape);
    std::vector<S> means, inverses;
    f.output(0, normalize_rows(
                    x, {axes_from(first_axis(f.site(), x.shape.size()), rank), x.shape},
                    constant<S>(f.site().real("epsilon")),
                    [&](std::int64_t at) { return scale[by_scale(at)]; },
                    [&](std::int64_t at) { return shift[by_shift(at)]; }, &means, &inverses));
    if (f.wants(1)) put(f, 1, std::move(means));
    if (f.wants(2)) put(f, 2, std::move(inverses));
  }
  template <class S>
  static void put(Frame<S>& f, std::size_t i, std::vector<S> values) {
    Array<S> statistic;
    statistic.shape = f.output_shape(i);
    statistic.data = std::move(values);
    f.output(i, statistic);
  }
};

void require_layer_norm(Check& c) {
  if (!c.rank("X", at_least(1)) || !c.axis("axis", "X")) return;
  c.broadcasts_to("Scale", "X");
  c.broadcasts_to("B", "X");
  c.in_range("stash_type", between(1, 16));
}

void infer_layer_norm(Infer& n) {
  n.output(0, n.site.type(0));
  const Dims* x = n.dims(0);
  const auto stash = n.site.integer("stash_type") == 1 ? ElementType::f32 : ElementType::bf16;
  for (std::size_t i = 1; i < n.outputs.size(); ++i) {
    if (!x) {
      n.output(i, stash);
      continue;
    }
    Dims dims = *x;
    for (auto d = static_cast<std::size_t>(first_axis(n.site, x->size())); d < dims.size(); ++d)
      dims[d] = 1;
    n.output(i, stash, dims);
  }
}

struct RmsNormalization {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0), scale = f.input(1);
    const auto rank = static_cast<std::int64_t>(x.shape.size());
    const RowLayout layout =
        row_layout(x.shape, axes_from(first_axis(f.site(), x.shape.size()), rank));
    const Broadcasting by_scale(scale.shape, x.shape);
    const S epsilon = constant<S>(f.site().real("epsilon"));
    const S count = constant<S>(static_cast<double>(layout.offsets.size()));
    Array<S> y(x.shape);
    std::vector<S> buffer;
    for (std::size_t r = 0; r < layout.starts.size(); ++r) {
      const std::span<const S> row = row_of(x, layout, r, buffer);
      const S root = sqrt(sum_of_squares(row) / count + epsilon);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::int64_t at = layout.starts[r] + layout.offsets[i];
        y[at] = row[i] / root * scale[by_scale(at)];
      }
    }
    f.output(0, y);
  }
};

void require_rms_norm(Check& c) {
  if (!c.rank("X", at_least(1)) || !c.axis("axis", "X")) return;
  c.broadcasts_to("scale", "X");
  c.in_range("stash_type", between(1, 16));
}

void layer_epsilon_outside(Builder& b) {
  const auto rank = static_cast<std::int64_t>(b.site().dims(0)->size());
  const std::string axes =
      b.integers(axes_from(first_axis(b.site(), static_cast<std::size_t>(rank)), rank));
  const std::string spread = b("Sub", {b.input(0), b("ReduceMean", {b.input(0), axes})});
  const std::string root = b("Sqrt", {b("ReduceMean", {b("Mul", {spread, spread}), axes})});
  const std::string normal =
      b("Div", {spread, b("Add", {root, b.like(0, b.site().real("epsilon"))})});
  const std::string scaled = b("Mul", {normal, b.input(1)});
  b.output(0, b.has(2) ? b("Add", {scaled, b.input(2)}) : scaled);
}

Operator layer_normalization() {
  return {
      .name = "LayerNormalization",
      .versions = {17},
      .summary = "The axes from `axis` on standardised, scaled and shifted.",
      .attributes = {{"axis", Role::axis}, {"epsilon", Role::epsilon}, {"stash_type", Role::type}},
      .require = require_layer_norm,
      .infer = infer_layer_norm,
      .align = align_layer_norm,
      .meaning = compute<LayerNormalization>(Pattern::rowwise),
      .variants = {{"epsilon-outside-the-root", Variant::Kind::difference,
                    "implementations that add epsilon to the deviation", layer_epsilon_outside}}};
}

Operator rms_normalization() {
  return {
      .name = "RMSNormalization",
      .versions = {23},
      .summary = "The axes from `axis` on divided by their root mean square, and scaled.",
      .attributes = {{"axis", Role::axis}, {"epsilon", Role::epsilon}, {"stash_type", Role::type}},
      .require = require_rms_norm,
      .infer = same_as_first,
      .align = align_layer_norm,
      .meaning = compute<RmsNormalization>(Pattern::rowwise)};
}

// The standard divides by the deviation plus 1e-9.
struct MeanVarianceNormalization {
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    const S center = mean(x), deviation = sqrt(variance(x)) + constant<S>(1e-9);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - center) / deviation;
  }
};

std::vector<std::int64_t> given_axes(const Call& call) {
  std::vector<std::int64_t> axes = call.site.integers("axes");
  for (std::int64_t& axis : axes) axis = *normalize_axis(axis, call.input(0).tensor().rank());
  return axes;
}

Operator mean_variance_normalization() {
  return {.name = "MeanVarianceNormalization",
          .versions = {9, 13},
          .summary = "The row with its mean taken away, divided by its deviation.",
          .attributes = {{"axes", Role::axes}},
          .require = [](Check& c) { c.axes("axes", "X"); },
          .infer = same_as_first,
          .meaning = rowwise<MeanVarianceNormalization, given_axes>()};
}

}  // namespace

std::vector<Operator> norm_operators() {
  return {batch_normalization(), group_normalization(),         instance_normalization(),
          layer_normalization(), mean_variance_normalization(), rms_normalization()};
}

}  // namespace assay
