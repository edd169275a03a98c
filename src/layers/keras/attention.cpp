// Attention: means of values, weighted by how well their keys fit a query.
#include <cmath>

#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

// Where a query may not look at what comes after it, minus infinity in the place of the score.
std::string causal(Body& l, const std::string& scores) {
  if (!flag(l.site, "use_causal_mask") && !flag(l.site, "causal")) return scores;
  const std::string shape = l("Shape", {scores}, {attribute("start", -2)});
  const Tensor one = make_scalar(ElementType::f32, 1).reshaped({1});
  const std::string before = l("Trilu", {l("ConstantOfShape", {shape}, {attribute("value", one)})},
                               {attribute("upper", 0)});
  const std::string seen =
      l("Cast", {before}, {attribute("to", static_cast<std::int64_t>(ElementType::boolean))});
  return l("Where", {seen, scores, l.number(-INFINITY)});
}

std::string shares(Body& l, const std::string& scores) {
  return l("Softmax", {causal(l, scores)}, {attribute("axis", -1)});
}

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

std::string attend(Body& l) {
  const std::string key = l.has(2) ? l.input(2) : l.input(1);
  std::string scores;
  if (l.layer.name == "AdditiveAttention") {
    scores = sum_of_both(l, l.x, key);
  } else if (l.site.text("score_mode") == "concat") {
    scores = l("Mul", {sum_of_both(l, l.x, key), l.weight("concat_score_weight")});
  } else {
    scores = l("MatMul", {l.x, l.transposed(key, {0, 2, 1})});
    if (const std::string scale = l.weight("scale"); !scale.empty()) {
      scores = l("Mul", {scores, scale});
    }
  }
  const std::string weights = shares(l, scores);
  if (l.site.has_output(1)) l.b.output(1, weights);
  return l("MatMul", {weights, l.input(1)});
}

Weights attention_weights(const Site& site) {
  Weights weights;
  if (flag(site, "use_scale")) {
    const bool additive = site.node().op == "AdditiveAttention";
    weights.push_back({"scale", additive ? Dims{extent(site, -1)} : Dims{}});
  }
  if (site.text("score_mode") == "concat") weights.push_back({"concat_score_weight", {}});
  return weights;
}

void require_inputs(Check& c) {
  c.rank("query", exactly(3));
  if (!c.argument(c.site.has_input(1), "inputs", "a query and a value", "a query alone")) return;
  c.rank("value", exactly(3)), c.rank("key", exactly(3));
  if (c.violations.empty() && c.site.has_input(2)) {
    c.extent("key", 1, extent(c.site, 1, 1), "the number of values");
  }
}

void require_attention(Check& c) {
  require_inputs(c);
  if (c.site.has("score_mode")) c.one_of("score_mode", {"dot", "concat"});
  if (!c.violations.empty()) return;
  c.extent(c.site.has_input(2) ? "key" : "value", -1, extent(c.site, -1),
           "the number of the query's features");
}

Dim value_size(const Site& site) { return site.integer("value_dim", site.integer("key_dim")); }

// What the layer gives for each query: output_shape, or as many features as the query has.
Dims result_shape(const Site& site) {
  Dims shape;
  for (std::int64_t n : site.integers("output_shape")) shape.emplace_back(n);
  if (shape.empty()) shape.push_back(extent(site, -1));
  return shape;
}

Weights heads_weights(const Site& site) {
  const Dim heads = site.integer("num_heads"), size = site.integer("key_dim");
  const bool bias = flag(site, "use_bias");
  Weights weights;
  const auto add = [&](std::string_view kernel, std::string_view name, Dims shape, Dims out) {
    weights.push_back({kernel, std::move(shape)});
    if (bias) weights.push_back({name, std::move(out)});
  };
  const std::size_t key = site.has_input(2) ? 2 : 1;
  add("query_kernel", "query_bias", {extent(site, -1), heads, size}, {heads, size});
  add("key_kernel", "key_bias", {extent(site, -1, key), heads, size}, {heads, size});
  add("value_kernel", "value_bias", {extent(site, -1, 1), heads, value_size(site)},
      {heads, value_size(site)});
  Dims kernel = {heads, value_size(site)};
  const Dims out = result_shape(site);
  kernel.insert(kernel.end(), out.begin(), out.end());
  add("output_kernel", "output_bias", std::move(kernel), out);
  return weights;
}

std::string projected(Body& l, const std::string& value, const std::string& name,
                      const std::string& equation) {
  const std::string y =
      l("Einsum", {value, l.weight(name + "_kernel")}, {attribute("equation", equation)});
  const std::string bias = l.weight(name + "_bias");
  return bias.empty() ? y : l("Add", {y, bias});
}

// b: batch, t: queries, s: keys and values, n: heads, d: features.
std::string multi_head(Body& l) {
  const std::string heads = "btx,xnd->btnd";
  const double scale = 1 / std::sqrt(static_cast<double>(l.site.integer("key_dim")));
  const std::string query = l("Mul", {projected(l, l.x, "query", heads), l.number(scale)});
  const std::string key = projected(l, l.has(2) ? l.input(2) : l.input(1), "key", heads);
  const std::string value = projected(l, l.input(1), "value", heads);
  const std::string weights =
      shares(l, l("Einsum", {query, key}, {attribute("equation", "btnd,bsnd->bnts")}));
  if (l.site.has_output(1)) l.b.output(1, weights);
  const std::string seen =
      l("Einsum", {weights, value}, {attribute("equation", "bnts,bsnd->btnd")});
  const std::string out = std::string("uvw").substr(0, result_shape(l.site).size());
  return projected(l, seen, "output", fmt::format("btnd,nd{}->bt{}", out, out));
}

void require_heads(Check& c) {
  c.positive({"num_heads", "key_dim", "value_dim"});
  c.in_range("use_gate", exactly(0));
  const Integers axes = c.site.integers("attention_axes");
  c.argument(axes.empty() || axes == Integers{1}, "attention_axes", "axis 1",
             fmt::format("{} axes", axes.size()));
  require_inputs(c);
}

// Keras takes these with the call.
std::vector<Argument> with_options(std::vector<Argument> arguments) {
  arguments.push_back(flag_argument("use_causal_mask", false));
  arguments.push_back(flag_argument("return_attention_scores", false));
  return arguments;
}

}  // namespace

std::vector<Layer> attention_layers() {
  const std::vector<std::string_view> inputs = {"query", "value", "key"};
  return {
      {.name = "Attention",
       .summary = "The values' mean, weighted by softmax(query · key).",
       .arguments = with_options({flag_argument("use_scale", false), flag_argument("causal", false),
                                  choice("score_mode", "dot")}),
       .weights = attention_weights,
       .require = require_attention,
       .build = attend,
       .inputs = inputs,
       .outputs = 2,
       .masks = Masks::refuse},
      {.name = "AdditiveAttention",
       .summary = "The values' mean, weighted by softmax(Σ scale · tanh(query + key)).",
       .arguments =
           with_options({flag_argument("use_scale", true), flag_argument("causal", false)}),
       .weights = attention_weights,
       .require = require_attention,
       .build = attend,
       .inputs = inputs,
       .outputs = 2,
       .masks = Masks::refuse},
      {.name = "MultiHeadAttention",
       .summary = "Several attentions side by side, each on a projection of its own, joined by one "
                  "more projection.",
       .arguments = with_options({count("num_heads"),
                                  count("key_dim"),
                                  {"value_dim", Role::count, {}, true},
                                  {"output_shape", Role::sizes, {}, true},
                                  {"attention_axes", Role::axes, {}, true},
                                  flag_argument("use_gate", false),
                                  use_bias()}),
       .weights = heads_weights,
       .require = require_heads,
       .build = multi_head,
       .inputs = inputs,
       .outputs = 2,
       .masks = Masks::refuse},
  };
}

}  // namespace assay::keras
