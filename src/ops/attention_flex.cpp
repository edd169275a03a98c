// FlexAttention: attention whose scores and probabilities pass through graphs of the model's own.
#include <fmt/format.h>

#include "ops/attention_parts.h"

namespace assay {
namespace {

ElementType softmax_type(const Site& site) {
  if (site.has("softmax_precision"))
    return static_cast<ElementType>(site.integer("softmax_precision"));
  return site.element(0) == ElementType::f64 ? ElementType::f64 : ElementType::f32;
}

HeadShape head_shape(const Call& call) {
  const Shape &q = call.input(0).shape(), &k = call.input(1).shape(), &v = call.input(2).shape();
  return {q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
}

struct FlexAttention {
  // The array as the graph changes it; it must come back in the same form.
  template <class S>
  static void modify(const Call& call, std::string_view attribute, Array<S>& x) {
    const Graph* graph = call.site.graph(attribute);
    if (!graph) return;
    const std::vector<Value> inputs = {settle(softmax_type(call.site), x)};
    const Value result = call.evaluator.run_subgraph(call, *graph, inputs, -1).front();
    if (!result.is_tensor()) throw InexactDecision("a modifier's answer is unknown");
    if (result.type() != inputs[0].type() || result.shape() != inputs[0].shape())
      throw EvaluationError("FlexAttention.modifier", fmt::format("{} makes {} of {}", attribute,
                                                                  to_text(result.value_type()),
                                                                  to_text(inputs[0].value_type())));
    x = load<S>(result);
  }

  template <class S>
  static void soften(const Call& call, const HeadShape& s, Array<S>& scores) {
    const RoundingScope scope(rounding_of(softmax_type(call.site)));
    take_over(std::span<S>(scores.data));
    modify(call, "score_mod", scores);
    const auto keys = static_cast<std::size_t>(s.keys);
    for_heads(s, [&](std::int64_t b, std::int64_t head) {
      for (std::int64_t i = 0; i < s.queries; ++i) {
        const std::int64_t row = (b * s.heads + head) * s.queries + i;
        softmax_row(std::span<S>(scores.data).subspan(static_cast<std::size_t>(row) * keys, keys));
      }
    });
    modify(call, "prob_mod", scores);
  }

  template <class S>
  void operator()(Frame<S>& frame) const {
    const HeadShape s = head_shape(frame.call());
    Operand<S> k(frame.call().input(1));
    const Operand<S> v(frame.call().input(2));
    const ScaledQueries<S> q(frame.site(), s, frame.call().input(0), k);
    Array<S> scores(Shape{s.batch, s.heads, s.queries, s.keys}), y(frame.output_shape(0));
    const auto offset = [&](std::int64_t b, std::int64_t head) {
      return (b * s.kv_heads + s.kv_head(head)) * s.keys;
    };
    for_heads(s, [&](std::int64_t b, std::int64_t head) {
      const std::int64_t at = (b * s.heads + head) * s.queries;
      q.score(s, at * s.size, k, offset(b, head) * s.size, scores.data.data() + at * s.keys);
    });
    soften(frame.call(), s, scores);
    const bool means = !frame.site().has("prob_mod");
    for_heads(s, [&](std::int64_t b, std::int64_t head) {
      const std::int64_t at = (b * s.heads + head) * s.queries;
      weigh_head(s, scores.data.data() + at * s.keys, v, offset(b, head) * s.value_size, means,
                 y.data.data() + at * s.value_size);
    });
    frame.output(0, y);
  }
};

void require_modifier(Check& c, std::string_view attribute) {
  const Graph* graph = c.site.graph(attribute);
  if (graph)
    c.argument(graph->inputs.size() == 1 && graph->outputs.size() == 1, "modifier",
               fmt::format("{} with one input and one output", attribute),
               fmt::format("{} and {}", graph->inputs.size(), graph->outputs.size()));
}

void require_flex(Check& c) {
  require_softmax_precision(c);
  require_modifier(c, "score_mod");
  require_modifier(c, "prob_mod");
  bool good = c.rank("Q", exactly(4));
  good = c.rank("K", exactly(4)) && good;
  if (!c.rank("V", exactly(4)) || !good) return;
  const Dims &q = *c.dims("Q"), &k = *c.dims("K");
  c.extent("K", 0, q[0], "the batch of Q");
  c.extent("V", 0, q[0], "the batch of Q");
  c.extent("K", 3, q[3], "the size of Q's heads");
  c.extent("V", 1, k[1], "the heads of K");
  c.extent("V", 2, k[2], "the length of K");
  if (k[1].known()) c.divisible(q[1], k[1].value, "the number of query heads");
}

void infer_flex(Infer& n) {
  const Dims *q = n.dims(0), *v = n.dims(2);
  if (!q || !v || q->size() != 4 || v->size() != 4) return n.output(0, n.element(0));
  n.output(0, n.element(0), {(*q)[0], (*q)[1], (*q)[2], (*v)[3]});
}

}  // namespace

Operator flex_attention() {
  return {.name = "FlexAttention",
          .domain = "ai.onnx.preview",
          .versions = {1},
          .summary = "Softmax(Q K^T) V for every head, with graphs that change scores and weights.",
          .attributes = {{"prob_mod", Role::body},
                         {"scale", Role::factor},
                         {"score_mod", Role::body},
                         {"softmax_precision", Role::type}},
          .require = require_flex,
          .infer = infer_flex,
          .meaning = compute<FlexAttention>(Pattern::contraction)};
}

}  // namespace assay
