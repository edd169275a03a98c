// Attention: means of values, weighted by how well their keys fit a query.
#include "layers/keras/attention.h"

#include "layers/keras/layers.h"

namespace assay::keras {

static constexpr std::string_view kMasks[] = {"query_mask", "value_mask", "key_mask"};

std::vector<std::string_view> attention_inputs() { return {"query", "value", "key"}; }

std::vector<Argument> with_call_options(std::vector<Argument> arguments) {
  arguments.push_back(flag_argument("use_causal_mask", false));
  arguments.push_back(flag_argument("return_attention_scores", false));
  arguments.push_back(masked());
  return arguments;
}

void require_attention_inputs(Check& c, Limits rank) {
  c.rank("query", rank);
  if (!c.argument(c.site.has_input(1), "inputs", "a query and a value", "a query alone")) return;
  const std::int64_t same = c.site.rank(0).value_or(3);
  c.rank("value", exactly(same)), c.rank("key", exactly(same));
  for (std::int64_t axis = 1; c.site.has_input(2) && axis < same - 1; ++axis) {
    if (c.violations.empty())
      c.extent("key", axis, extent(c.site, axis, 1), "the number of values");
  }
}

void add_masks(const Site& site, Weights& weights) {
  for (std::size_t i = 0; i < std::size(kMasks); ++i) {
    if ((site.integer("masked") >> i & 1) == 0) continue;
    weights.push_back({kMasks[i], {extent(site, 0, i), extent(site, 1, i)}});
  }
}

std::string truth(Body& l, const std::string& value) {
  return l("Cast", {value}, {attribute("to", static_cast<std::int64_t>(ElementType::boolean))});
}

std::string mask_along(Body& l, std::string_view name, std::int64_t new_axis) {
  const std::string mask = l.weight(name);
  return mask.empty() ? "" : l("Unsqueeze", {truth(l, mask), l.b.integers({new_axis})});
}

// Ones where key − query is at most `most`, or with `upper` at least that.
static std::string band(Body& l, const std::string& scores, std::int64_t most, bool upper) {
  const std::string shape = l("Shape", {scores}, {attribute("start", -2)});
  const Tensor one = make_scalar(ElementType::f32, 1).reshaped({1});
  const std::string ones = l("ConstantOfShape", {shape}, {attribute("value", one)});
  return truth(l, l("Trilu", {ones, l.b.integer(most)}, {attribute("upper", upper ? 1 : 0)}));
}

std::string in_order(Body& l, const std::string& scores) {
  const bool asked = flag(l.site, "use_causal_mask") || flag(l.site, "causal");
  return asked ? band(l, scores, 0, false) : "";
}

std::string in_window(Body& l, const std::string& scores) {
  if (!l.site.has("sliding_window")) return "";
  const std::int64_t most = l.site.integer("sliding_window") - 1;
  return l("And", {band(l, scores, most, false), band(l, scores, -most, true)});
}

std::string all_of(Body& l, const Names& conditions) {
  std::string all;
  for (const std::string& one : conditions) {
    if (!one.empty()) all = all.empty() ? one : l("And", {all, one});
  }
  return all;
}

double far_below(ElementType type) { return type == ElementType::f16 ? -65504 : -1e9; }

namespace {

// Σ tanh(scale · (query + key)), for each query and each key.
std::string sum_of_both(Body& l, const std::string& query, const std::string& key) {
  std::string both = l("Add", {l("Unsqueeze", {query, l.b.integers({-2})}),
                               l("Unsqueeze", {key, l.b.integers({-3})})});
  const std::string scale = l.weight("scale");
  const bool inside = l.layer.name == "Attention";
  if (inside && !scale.empty()) both = l("Mul", {both, scale});
  both = l("Tanh", {both});
  if (!inside && !scale.empty()) both = l("Mul", {both, scale});
  return l("ReduceSum", {both, l.b.integers({-1})}, {attribute("keepdims", 0)});
}

std::string scores_of(Body& l, const std::string& key) {
  if (l.layer.name == "AdditiveAttention") return sum_of_both(l, l.x, key);
  if (l.site.text("score_mode") == "concat") {
    return l("Mul", {sum_of_both(l, l.x, key), l.weight("concat_score_weight")});
  }
  const std::string scores = l("MatMul", {l.x, l.transposed(key, {0, 2, 1})});
  const std::string scale = l.weight("scale");
  return scale.empty() ? scores : l("Mul", {scores, scale});
}

// A value that does not count has a score that is lower by far; a query that does not count gives
// zeros. The mask of a key says nothing.
std::string attend(Body& l) {
  std::string scores = scores_of(l, l.has(2) ? l.input(2) : l.input(1));
  const std::string seen = all_of(l, {mask_along(l, "value_mask", 1), in_order(l, scores)});
  if (!seen.empty()) {
    const std::string low = l("Add", {scores, l.number(far_below(l.type()))});
    scores = l("Where", {seen, scores, low});
  }
  const std::string weights = l("Softmax", {scores}, {attribute("axis", -1)});
  if (l.site.has_output(1)) l.b.output(1, weights);
  const std::string y = l("MatMul", {weights, l.input(1)});
  const std::string counts = mask_along(l, "query_mask", 2);
  return counts.empty() ? y : l("Where", {counts, y, l.number(0)});
}

Weights attention_weights(const Site& site) {
  Weights weights;
  if (flag(site, "use_scale")) {
    const bool additive = site.node().op == "AdditiveAttention";
    weights.push_back({"scale", additive ? Dims{extent(site, -1)} : Dims{}});
  }
  if (site.text("score_mode") == "concat") weights.push_back({"concat_score_weight", {}});
  add_masks(site, weights);
  return weights;
}

void require_attention(Check& c) {
  require_attention_inputs(c);
  if (c.site.has("score_mode")) c.one_of("score_mode", {"dot", "concat"});
  if (!c.violations.empty()) return;
  c.extent(c.site.has_input(2) ? "key" : "value", -1, extent(c.site, -1),
           "the number of the query's features");
}

}  // namespace

std::vector<Layer> attention_layers() {
  return {
      {.name = "Attention",
       .summary = "The values' mean, weighted by softmax(query · key).",
       .arguments =
           with_call_options({flag_argument("use_scale", false), flag_argument("causal", false),
                              choice("score_mode", "dot")}),
       .weights = attention_weights,
       .require = require_attention,
       .build = attend,
       .inputs = attention_inputs(),
       .outputs = 2,
       .masks = Masks::keep},
      {.name = "AdditiveAttention",
       .summary = "The values' mean, weighted by softmax(Σ scale · tanh(query + key)).",
       .arguments =
           with_call_options({flag_argument("use_scale", true), flag_argument("causal", false)}),
       .weights = attention_weights,
       .require = require_attention,
       .build = attend,
       .inputs = attention_inputs(),
       .outputs = 2,
       .masks = Masks::keep},
  };
}

}  // namespace assay::keras
