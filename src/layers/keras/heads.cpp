// Attentions of several heads, each on projections of its own.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layers/keras/attention.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr std::int64_t kMostAttentionRank = 5;
constexpr std::size_t kMaskInput = 3;

// As attention_inputs(), and which queries may look at which keys.
std::vector<std::string_view> heads_inputs() {
  std::vector<std::string_view> inputs = attention_inputs();
  inputs.push_back("attention_mask");
  return inputs;
}

// Heads of the query and of keys and values, and the features of each.
struct Heads {
  std::int64_t query, others, key_size, value_size;
};

Heads heads_of(const Site& site) {
  if (site.has("head_dim")) {
    const std::int64_t size = site.integer("head_dim");
    return {site.integer("num_query_heads"), site.integer("num_key_value_heads"), size, size};
  }
  const std::int64_t heads = site.integer("num_heads"), size = site.integer("key_dim");
  return {heads, heads, size, site.integer("value_dim", size)};
}

// What the layer gives for each query: output_shape, or as many features as the query has.
Dims result_shape(const Site& site) {
  Dims shape;
  for (std::int64_t n : site.integers("output_shape")) shape.emplace_back(n);
  if (shape.empty()) shape.push_back(extent(site, -1));
  return shape;
}

// The axes along which keys are weighed: all between the batch and the features, unless some are
// named.
Integers attended_axes(const Site& site) {
  Integers axes;
  const std::int64_t rank = site.rank(0).value_or(3);
  for (std::int64_t axis : site.integers("attention_axes"))
    axes.push_back(normalize_axis(axis, rank).value_or(axis));
  for (std::int64_t axis = 1; axis < rank - 1 && !site.has("attention_axes"); ++axis)
    axes.push_back(axis);
  return axes;
}

// Letters of the axes but the last of a query and of keys and values, and of the scores: what both
// share, then what is attended of each. Also n: heads, d and x: features, i j k: those of the
// result.
struct Letters {
  std::string query, others, batch, targets, sources;
};

Letters letters_of(const Site& site) {
  const Integers axes = attended_axes(site);
  Letters letters;
  for (std::int64_t axis = 0; axis < site.rank(0).value_or(3) - 1; ++axis) {
    const auto place = std::ranges::find(axes, axis) - axes.begin();
    const bool attended = place < std::ssize(axes);
    const char own = static_cast<char>('a' + axis);
    letters.query += attended ? static_cast<char>('t' + place) : own;
    letters.others += attended ? static_cast<char>('p' + place) : own;
    if (!attended) letters.batch += own;
  }
  letters.targets = std::string("tuvw").substr(0, axes.size());
  letters.sources = std::string("pqrs").substr(0, axes.size());
  return letters;
}

Weights heads_weights(const Site& site) {
  const Heads h = heads_of(site);
  Weights weights;
  const auto add = [&](std::string_view kernel, std::string_view bias, Dims shape, Dims out) {
    weights.push_back({kernel, std::move(shape)});
    if (flag(site, "use_bias")) weights.push_back({bias, std::move(out)});
  };
  const auto project = [&](std::string_view kernel, std::string_view bias, std::size_t input,
                           std::int64_t heads, std::int64_t size) {
    add(kernel, bias, {extent(site, -1, input), Dim(heads), Dim(size)}, {Dim(heads), Dim(size)});
  };
  project("query_kernel", "query_bias", 0, h.query, h.key_size);
  project("key_kernel", "key_bias", site.has_input(2) ? 2 : 1, h.others, h.key_size);
  if (flag(site, "use_gate")) project("gate_kernel", "gate_bias", 0, h.query, h.value_size);
  project("value_kernel", "value_bias", 1, h.others, h.value_size);
  const Dims out = result_shape(site);
  Dims kernel = {Dim(h.query), Dim(h.value_size)};
  kernel.insert(kernel.end(), out.begin(), out.end());
  add("output_kernel", "output_bias", std::move(kernel), out);
  add_masks(site, weights);
  return weights;
}

std::string projected(Body& l, const std::string& value, const std::string& name,
                      const std::string& equation) {
  const std::string y =
      l("Einsum", {value, l.weight(name + "_kernel")}, {attribute("equation", equation)});
  const std::string bias = l.weight(name + "_bias");
  return bias.empty() ? y : l("Add", {y, bias});
}

// Each head of a key or value stands for several of the query.
std::string shared(Body& l, const std::string& value) {
  const Heads h = heads_of(l.site);
  if (h.query == h.others) return value;
  Integers each;
  for (std::int64_t i = 0; i < h.query; ++i) each.push_back(i * h.others / h.query);
  return l("Gather", {value, l.b.integers(each)}, {attribute("axis", -2)});
}

// What the call gives. Heads, and other axes before those that are attended, may be left out.
std::string given_mask(Body& l) {
  if (!l.has(kMaskInput)) return "";
  const auto attended = static_cast<std::int64_t>(attended_axes(l.site).size());
  const std::string mask = truth(l, l.input(kMaskInput));
  Integers missing;
  for (std::int64_t rank = *l.site.rank(kMaskInput); rank < l.rank() + attended; ++rank)
    missing.push_back(-2 * attended - 1 - static_cast<std::int64_t>(missing.size()));
  return missing.empty() ? mask : l("Unsqueeze", {mask, l.b.integers(missing)});
}

// Where a query sees no key at all, Keras gives the mean of all values, but zeros where it is asked
// for scores, or there are more axes.
std::string shares(Body& l, const std::string& scores) {
  const std::string axis = l.b.integers({1});
  std::string seen = all_of(l, {mask_along(l, "query_mask", 2), mask_along(l, "value_mask", 1),
                                mask_along(l, "key_mask", 1)});
  if (!seen.empty()) seen = l("Unsqueeze", {seen, axis});
  seen = all_of(l, {given_mask(l), seen, in_order(l, scores), in_window(l, scores)});
  Integers keys;
  for (std::size_t i = attended_axes(l.site).size(); i > 0; --i)
    keys.push_back(-static_cast<std::int64_t>(i));
  if (seen.empty()) return softmax(l, scores, keys);
  const std::string low = l.number(far_below(l.type()));
  const std::string weights = softmax(l, l("Where", {seen, scores, low}), keys);
  const bool zeros = flag(l.site, "return_attention_scores") || l.rank() != 3;
  return zeros ? l("Where", {seen, weights, l.number(0)}) : weights;
}

std::string multi_head(Body& l) {
  const Letters a = letters_of(l.site);
  const std::string q = a.query + "nd", k = a.others + "nd";
  const std::string scored = a.batch + "n" + a.targets + a.sources;
  const auto split = [&](const std::string& from, const char* name, const std::string& letters) {
    return projected(l, from, name, letters + "x,xnd->" + letters + "nd");
  };
  const double scale = 1 / std::sqrt(static_cast<double>(heads_of(l.site).key_size));
  const std::string query = l("Mul", {split(l.x, "query", a.query), l.number(scale)});
  const std::string key = shared(l, split(l.has(2) ? l.input(2) : l.input(1), "key", a.others));
  const std::string value = shared(l, split(l.input(1), "value", a.others));
  const std::string weights =
      shares(l, l("Einsum", {query, key}, {attribute("equation", q + "," + k + "->" + scored)}));
  if (l.site.has_output(1)) l.b.output(1, weights);
  std::string y =
      l("Einsum", {weights, value}, {attribute("equation", scored + "," + k + "->" + q)});
  if (flag(l.site, "use_gate")) y = l("Mul", {y, l("Sigmoid", {split(l.x, "gate", a.query)})});
  const std::string out = std::string("ijk").substr(0, result_shape(l.site).size());
  return projected(l, y, "output", q + ",nd" + out + "->" + a.query + out);
}

// Extents of the scores: what queries and keys share, heads, queries, keys.
Dims scored_shape(const Site& site) {
  const Integers axes = attended_axes(site);
  Dims shape;
  for (std::int64_t axis = 0; axis < site.rank(0).value_or(3) - 1; ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) shape.push_back(extent(site, axis));
  }
  shape.emplace_back(heads_of(site).query);
  for (std::int64_t axis : axes) shape.push_back(extent(site, axis));
  for (std::int64_t axis : axes) shape.push_back(extent(site, axis, 1));
  return shape;
}

void require_given_mask(Check& c) {
  const Dims scores = scored_shape(c.site);
  const auto most = std::ssize(scores), attended = std::ssize(attended_axes(c.site));
  if (!c.site.has_input(kMaskInput) || !c.rank("attention_mask", between(2 * attended, most)))
    return;
  const std::int64_t rank = c.site.rank(kMaskInput).value_or(0);
  for (std::int64_t axis = 0; axis < rank && c.violations.empty(); ++axis) {
    const bool shared = axis < rank - 2 * attended;
    const Dim found = extent(c.site, axis, kMaskInput);
    const Dim& expected = scores[static_cast<std::size_t>(shared ? axis : axis + most - rank)];
    if (found.known() && found.value == 1) continue;
    c.extent("attention_mask", axis, expected, "the extent of the scores");
  }
}

// Other masks are defined for one sequence of keys alone.
void require_heads(Check& c) {
  c.positive({"num_heads", "key_dim", "value_dim", "sliding_window"});
  require_attention_inputs(c, {3, kMostAttentionRank});
  if (!c.violations.empty() || !c.site.rank(0)) return;
  const std::int64_t rank = *c.site.rank(0);
  const Integers axes = attended_axes(c.site);
  if (!c.axes("attention_axes", axes, rank)) return;
  for (std::int64_t axis = 0; axis < rank - 1; ++axis) {
    if (std::ranges::find(axes, axis) == axes.end())
      c.extent("value", axis, extent(c.site, axis), "the query's extent");
  }
  const bool inner = std::ranges::none_of(axes, [&](auto a) { return a == 0 || a == rank - 1; });
  c.argument(inner && !axes.empty(), "attention_axes", "axes between the batch and the features",
             fmt::format("{}", fmt::join(axes, ", ")));
  const bool seen = c.site.has("sliding_window") || flag(c.site, "use_causal_mask") ||
                    c.site.integer("masked") != 0;
  c.argument(!seen || rank == 3, "attention_axes", "one axis, where some keys are not seen",
             fmt::format("inputs of rank {}", rank));
  if (c.violations.empty()) require_given_mask(c);
}

void require_grouped(Check& c) {
  const std::initializer_list<std::string_view> sizes = {"head_dim", "num_query_heads",
                                                         "num_key_value_heads", "sliding_window"};
  if (!c.positive(sizes)) return;
  c.divisible(c.site.integer("num_query_heads"), c.site.integer("num_key_value_heads"),
              "the number of the query's heads");
  require_attention_inputs(c);
  if (!c.violations.empty()) return;
  c.extent("value", -1, extent(c.site, -1), "the number of the query's features");
  if (c.violations.empty()) require_given_mask(c);
}

}  // namespace

std::vector<Layer> heads_layers() {
  return {{.name = "MultiHeadAttention",
           .summary = "Several attentions side by side, each on a projection of its own, joined by "
                      "one more projection.",
           .arguments = with_call_options({count("num_heads"),
                                           count("key_dim"),
                                           {"value_dim", Role::count, {}, true},
                                           {"output_shape", Role::sizes, {}, true},
                                           {"attention_axes", Role::axes, {}, true},
                                           {"sliding_window", Role::count, {}, true},
                                           flag_argument("use_gate", false),
                                           use_bias()}),
           .weights = heads_weights,
           .require = require_heads,
           .build = multi_head,
           .inputs = heads_inputs(),
           .truths = "attention_mask",
           .outputs = 2,
           .masks = Masks::keep},
          {.name = "GroupQueryAttention",
           .summary = "Several attentions, of which some share their keys and values.",
           .arguments = with_call_options({count("head_dim"),
                                           count("num_query_heads"),
                                           count("num_key_value_heads"),
                                           {"sliding_window", Role::count, {}, true},
                                           flag_argument("use_gate", false),
                                           use_bias()}),
           .weights = heads_weights,
           .require = require_grouped,
           .build = multi_head,
           .alias = "GroupedQueryAttention",
           .inputs = heads_inputs(),
           .truths = "attention_mask",
           .since = 3,
           .outputs = 2,
           .masks = Masks::keep}};
}

}  // namespace assay::keras
