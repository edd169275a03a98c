// Scaled dot-product attention with masks and caches.
#include <limits>

#include <fmt/format.h>

#include "ops/attention_parts.h"
#include "ops/container_pieces.h"
#include "ops/families.h"
#include "patterns/move.h"

namespace assay {
namespace {

enum Input : std::size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };
enum Output : std::size_t { kY, kPresentKey, kPresentValue, kScores };

// Extents with what a 3-D input says about heads only through attributes.
struct HeadDims {
  Dim batch, heads, kv_heads, queries, fresh, past, keys, size, value_size;
};

Dim divided(const Dim& a, const Dim& b) {
  return a.known() && b.known() && b.value > 0 ? Dim(a.value / b.value) : Dim();
}

HeadDims head_dims(const Site& site) {
  HeadDims h;
  const Dims &q = *site.dims(kQ), &k = *site.dims(kK), &v = *site.dims(kV);
  const bool packed = q.size() == 3;
  h.batch = q[0];
  h.heads = packed ? Dim(site.integer("q_num_heads")) : q[1];
  h.kv_heads = packed ? Dim(site.integer("kv_num_heads")) : k[1];
  h.queries = q[packed ? 1 : 2];
  h.fresh = k[packed ? 1 : 2];
  h.size = packed ? divided(q[2], h.heads) : q[3];
  h.value_size = packed ? divided(v[2], h.kv_heads) : v[3];
  h.past = 0;
  const Dims* past = site.dims(kPastKey);
  if (site.has_input(kPastKey)) h.past = past && past->size() == 4 ? (*past)[2] : Dim();
  h.keys = h.past + h.fresh;
  return h;
}

HeadShape head_shape(const Site& site) {
  const HeadDims h = head_dims(site);
  return {h.batch.value, h.heads.value, h.kv_heads.value,  h.queries.value,
          h.keys.value,  h.size.value,  h.value_size.value};
}

// An input as batch x heads x length x size.
Value heads_first(const Call& call, std::size_t input, std::int64_t heads) {
  const Shape& shape = call.input(input).shape();
  if (shape.size() == 4) return call.input(input);
  const std::int64_t size = shape[2] / heads;
  Region region;
  region.input = input;
  region.extents = {shape[0], heads, shape[1], size};
  region.from_strides = {shape[1] * shape[2], size, shape[2], 1};
  region.to_strides = strides_of(region.extents);
  return moved(call, {{region}, {}}, call.input(input).type(), region.extents);
}

Value with_past(const Call& call, Value fresh, std::size_t past) {
  if (!call.has(past)) return fresh;
  const std::vector<Value> parts = {call.input(past), std::move(fresh)};
  return joined(parts, 2);
}

// Which keys a query may see by position, and what the mask adds.
template <class S>
class Bias {
 public:
  Bias(const Call& call, const HeadShape& shape) : shape_(shape) {
    const Site& site = call.site;
    causal_ = site.integer("is_causal") != 0;
    left_ = site.integer("left_window_size", -1);
    right_ = site.integer("right_window_size", -1);
    const std::int64_t past = call.has(kPastKey) ? call.input(kPastKey).shape()[2] : 0;
    offsets_.assign(static_cast<std::size_t>(shape.batch), past);
    ends_.assign(static_cast<std::size_t>(shape.batch), shape.keys);
    if (call.has(kLengths)) {
      ends_ = call.exact(kLengths).integers();
      for (std::size_t b = 0; b < ends_.size(); ++b) offsets_[b] = ends_[b] - shape.queries;
    }
    if (call.has(kMask)) read_mask(call);
    by_position_ = causal_ || left_ >= 0 || right_ >= 0 || call.has(kLengths);
  }

  bool any() const { return by_position_ || !mask_.data.empty() || short_; }

  void row(std::int64_t b, std::int64_t head, std::int64_t query, std::span<S> out) const {
    const S nothing = constant<S>(-std::numeric_limits<double>::infinity());
    const std::int64_t start = b * strides_[0] + head * strides_[1] + query * strides_[2];
    for (std::int64_t j = 0; j < shape_.keys; ++j) {
      S& value = out[static_cast<std::size_t>(j)];
      if (short_ && j >= columns_)
        value = nothing;
      else
        value = mask_.data.empty() ? zero<S>() : mask_[start + j * strides_[3]];
      if (!sees(b, query, j)) value = value + nothing;
    }
  }

 private:
  void read_mask(const Call& call) {
    const Value& mask = call.input(kMask);
    mask_ = load<S>(mask);
    if (mask.type() == ElementType::boolean) {
      const S nothing = constant<S>(-std::numeric_limits<double>::infinity());
      for (S& x : mask_.data) x = select(equal(x, zero<S>()), nothing, zero<S>());
    }
    columns_ = mask.shape().empty() ? 1 : mask.shape().back();
    // Before version 24 a mask of one column is repeated; since then a short one is padded.
    short_ = call.site.version() >= 24 && !mask.shape().empty() && columns_ < shape_.keys;
    if (!short_) columns_ = shape_.keys;
    strides_ = broadcast_strides(mask.shape(),
                                 Shape{shape_.batch, shape_.heads, shape_.queries, columns_});
  }

  bool sees(std::int64_t b, std::int64_t query, std::int64_t key) const {
    if (!by_position_) return true;
    const auto batch = static_cast<std::size_t>(b);
    const std::int64_t ahead = key - (query + offsets_[batch]);
    return key < ends_[batch] && (!causal_ || ahead <= 0) && (left_ < 0 || -ahead <= left_) &&
           (right_ < 0 || ahead <= right_);
  }

  HeadShape shape_;
  bool causal_ = false, by_position_ = false, short_ = false;
  std::int64_t left_ = -1, right_ = -1, columns_ = 0;
  std::vector<std::int64_t> offsets_, ends_, strides_ = {0, 0, 0, 0};
  Array<S> mask_;
};

struct Attention {
  // Scores of one head on their way to probabilities; `shown` gets them as they are at the stage
  // that qk_matmul_output_mode asks for.
  template <class S>
  static void to_probabilities(const Call& call, const HeadShape& s, const Bias<S>& bias,
                               std::int64_t b, std::int64_t head, std::span<S> scores,
                               std::span<S> shown) {
    const std::int64_t mode = shown.empty() ? -1 : call.site.integer("qk_matmul_output_mode");
    const auto show = [&](std::int64_t stage) {
      if (mode == stage) std::copy(scores.begin(), scores.end(), shown.begin());
    };
    show(0);
    if (const double cap = call.site.real("softcap"); cap > 0) {
      const S most = constant<S>(cap);
      for (S& x : scores) x = most * tanh(x / most);
    }
    show(1);
    std::vector<Condition<S>> hidden;
    std::vector<S> row(static_cast<std::size_t>(s.keys));
    for (std::int64_t i = 0; bias.any() && i < s.queries; ++i) {
      bias.row(b, head, i, row);
      for (std::int64_t j = 0; j < s.keys; ++j) {
        S& x = scores[static_cast<std::size_t>(i * s.keys + j)];
        x = x + row[static_cast<std::size_t>(j)];
      }
      hidden.push_back(is_infinite(maximum(std::span<const S>(row)), false, true));
    }
    show(2);
    soften(call, s, scores);
    for (std::size_t i = 0; i < hidden.size(); ++i)
      for (S& x : scores.subspan(i * row.size(), row.size())) x = select(hidden[i], zero<S>(), x);
    show(3);
  }

  template <class S>
  static void soften(const Call& call, const HeadShape& s, std::span<S> scores) {
    const auto keys = static_cast<std::size_t>(s.keys);
    const auto rows = [&] {
      for (std::int64_t i = 0; i < s.queries; ++i)
        softmax_row(scores.subspan(static_cast<std::size_t>(i) * keys, keys));
    };
    const auto type = static_cast<ElementType>(call.site.integer("softmax_precision"));
    if (type == ElementType::undefined || type == call.input(kQ).type()) return rows();
    {
      const RoundingScope scope(rounding_of(type));
      take_over(scores);
      rows();
    }
    take_over(scores);
  }

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Call& call = frame.call();
    const HeadShape s = head_shape(call.site);
    const Value key = with_past(call, heads_first(call, kK, s.kv_heads), kPastKey);
    const Value value = with_past(call, heads_first(call, kV, s.kv_heads), kPastValue);
    const Value query = heads_first(call, kQ, s.heads);
    Operand<S> k(key);
    const Operand<S> v(value);
    const ScaledQueries<S> q(call.site, s, query, k);
    const Bias<S> bias(call, s);
    const bool packed = frame.shape(kQ).size() == 3;
    Array<S> y(frame.output_shape(kY));
    Array<S> shown(frame.wants(kScores) ? frame.output_shape(kScores) : Shape{0});
    for_heads(s, [&](std::int64_t b, std::int64_t head) {
      const std::int64_t at = b * s.heads + head, area = s.queries * s.keys;
      const std::int64_t from = (b * s.kv_heads + s.kv_head(head)) * s.keys;
      std::vector<S> scores(static_cast<std::size_t>(area));
      q.score(s, at * s.queries * s.size, k, from * s.size, scores.data());
      std::span<S> show;
      if (frame.wants(kScores))
        show = {shown.data.data() + at * area, static_cast<std::size_t>(area)};
      to_probabilities<S>(call, s, bias, b, head, scores, show);
      std::vector<S> result(static_cast<std::size_t>(s.queries * s.value_size));
      weigh_head(s, scores.data(), v, from * s.value_size, true, result.data());
      for (std::int64_t i = 0; i < s.queries; ++i) {
        const std::int64_t row = packed ? (b * s.queries + i) * s.heads + head : at * s.queries + i;
        std::copy_n(result.data() + i * s.value_size, s.value_size,
                    y.data.data() + row * s.value_size);
      }
    });
    frame.output(kY, y);
    if (frame.wants(kPresentKey)) frame.output(kPresentKey, key);
    if (frame.wants(kPresentValue)) frame.output(kPresentValue, value);
    if (frame.wants(kScores)) frame.output(kScores, shown);
  }
};

bool require_heads(Check& c) {
  bool good = c.rank("Q", between(3, 4));
  good = c.rank("K", between(3, 4)) && good;
  good = c.rank("V", between(3, 4)) && good;
  if (!good || !c.same_rank("Q", "K") || !c.same_rank("Q", "V")) return false;
  const Dims &q = *c.dims("Q"), &k = *c.dims("K"), &v = *c.dims("V");
  const std::int64_t heads = c.site.integer("q_num_heads"), kv = c.site.integer("kv_num_heads");
  if (q.size() == 3) {
    good = c.required("q_num_heads") && c.required("kv_num_heads") &&
           c.positive({"q_num_heads", "kv_num_heads"});
    if (!good) return false;
    good = require_packed(c, q[2], heads, "the last extent of Q");
    good = require_packed(c, k[2], kv, "the last extent of K") && good;
    good = require_packed(c, v[2], kv, "the last extent of V") && good;
    if (good && q[2].known())
      good = c.extent("K", 2, divided(q[2], heads) * kv, "kv_num_heads times the size of a head");
    return c.divisible(heads, kv, "q_num_heads") && good;
  }
  if (c.site.has("q_num_heads"))
    good = c.extent("Q", 1, heads < 0 ? Dim(0) : Dim(heads), "q_num_heads");
  if (c.site.has("kv_num_heads"))
    good = c.extent("K", 1, kv < 0 ? Dim(0) : Dim(kv), "kv_num_heads") && good;
  good = c.extent("K", 3, q[3], "the size of Q's heads") && good;
  good = c.extent("V", 1, k[1], "the heads of K") && good;
  if (!k[1].known()) return false;
  return c.divisible(q[1], k[1].value, "the number of query heads") && good;
}

bool require_cache(Check& c, const HeadDims& h) {
  const bool past = c.site.has_input(kPastKey);
  bool good = c.argument(past == c.site.has_input(kPastValue), "past",
                         "past_key and past_value, or neither", "one of them");
  good = c.rank("past_key", exactly(4)) && c.rank("past_value", exactly(4)) && good;
  if (!good || !past) return good;
  good = c.extent("past_key", 0, h.batch, "the batch");
  good = c.extent("past_key", 1, h.kv_heads, "the heads of K") && good;
  good = c.extent("past_key", 3, h.size, "the size of K's heads") && good;
  good = c.extent("past_value", 0, h.batch, "the batch") && good;
  good = c.extent("past_value", 1, h.kv_heads, "the heads of V") && good;
  good = c.extent("past_value", 2, (*c.dims("past_key"))[2], "the length of past_key") && good;
  return c.extent("past_value", 3, h.value_size, "the size of V's heads") && good;
}

void require_mask(Check& c, const HeadDims& h) {
  if (!c.site.has_input(kMask) || !c.rank("attn_mask", between(0, 4))) return;
  const Dims& mask = *c.dims("attn_mask");
  const Dims full = {h.batch, h.heads, h.queries, h.keys};
  for (std::size_t d = 1; d <= mask.size(); ++d) {
    const Dim &m = mask[mask.size() - d], &f = full[4 - d];
    if (!m.known() || !f.known()) {
      c.undecided("mask", "the shapes of the mask and of the scores");
      continue;
    }
    const bool padded = d == 1 && c.site.version() >= 24;
    c.shape(padded ? m.value <= f.value : m.value == f.value || m.value == 1, "mask",
            fmt::format("a mask that fits {}", to_text(full)), to_text(mask));
  }
}

void require_lengths(Check& c, const HeadDims& h) {
  if (c.site.version() < 24 || !c.site.has_input(kLengths)) return;
  const bool cached = c.site.has_input(kPastKey) || c.site.has_output(kPresentKey) ||
                      c.site.has_output(kPresentValue);
  c.argument(!cached, "past", "nonpad_kv_seqlen without past and present keys", "both");
  if (!c.rank("nonpad_kv_seqlen", exactly(1))) return;
  c.extent("nonpad_kv_seqlen", 0, h.batch, "the batch");
  const Tensor* known = c.site.constant(kLengths);
  if (!known || !h.keys.known()) return c.undecided("lengths", "the elements of nonpad_kv_seqlen");
  for (std::int64_t length : known->integers())
    c.argument(length >= 0 && length <= h.keys.value, "lengths",
               fmt::format("lengths up to {}", h.keys.value), fmt::format("{}", length));
}

void require_attention(Check& c) {
  c.in_range("qk_matmul_output_mode", between(0, 3));
  c.in_range("left_window_size", at_least(-1));
  c.in_range("right_window_size", at_least(-1));
  c.real_in_range("softcap", 0, std::numeric_limits<double>::infinity());
  require_softmax_precision(c);
  if (!require_heads(c)) return;
  const HeadDims h = head_dims(c.site);
  const bool packed = c.dims("Q")->size() == 3;
  c.extent("K", 0, h.batch, "the batch of Q");
  c.extent("V", 0, h.batch, "the batch of Q");
  c.extent("V", packed ? 1 : 2, h.fresh, "the length of K");
  if (!require_cache(c, h)) return;
  require_mask(c, h);
  require_lengths(c, h);
}

void infer_attention(Infer& n) {
  const Dims *q = n.dims(kQ), *k = n.dims(kK), *v = n.dims(kV);
  const bool known = q && k && v && q->size() == k->size() && q->size() == v->size() &&
                     (q->size() == 3 || q->size() == 4);
  const ElementType type = n.element(kQ), value_type = n.element(kV);
  if (!known) {
    n.output(kY, type);
    n.output(kPresentKey, type);
    n.output(kPresentValue, value_type);
    return n.output(kScores, type);
  }
  const HeadDims h = head_dims(n.site);
  n.output(kY, type,
           q->size() == 3 ? Dims{h.batch, h.queries, h.heads * h.value_size}
                          : Dims{h.batch, h.heads, h.queries, h.value_size});
  n.output(kPresentKey, type, {h.batch, h.kv_heads, h.keys, h.size});
  n.output(kPresentValue, value_type, {h.batch, h.kv_heads, h.keys, h.value_size});
  n.output(kScores, type, {h.batch, h.heads, h.queries, h.keys});
}

void give_all(Builder& b, const Builder::Values& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) b.output(i, outputs[i]);
}

// onnx.reference shows capped scores where the raw ones are asked for.
void raw_scores_capped(Builder& b) {
  const bool raw = b.site().integer("qk_matmul_output_mode") == 0;
  give_all(b, b.again({attribute("qk_matmul_output_mode",
                                 raw ? 1 : b.site().integer("qk_matmul_output_mode"))}));
}

// The causal mask begins at the first key, whatever has been cached before it.
void causal_from_first_key(Builder& b) {
  const HeadShape s = head_shape(b.site());
  if (b.site().integer("is_causal") == 0 || b.has(kMask)) return give_all(b, b.again());
  Tensor mask(ElementType::boolean, {s.queries, s.keys});
  for (std::int64_t i = 0; i < s.queries; ++i)
    for (std::int64_t j = 0; j <= std::min(i, s.keys - 1); ++j)
      mask.mutate<bool>()[static_cast<std::size_t>(i * s.keys + j)] = true;
  Builder::Values inputs;
  for (std::size_t i = 0; i < std::max<std::size_t>(b.site().input_count(), 4); ++i)
    inputs.push_back(b.input(i));
  inputs[kMask] = b.constant(std::move(mask));
  give_all(b, b.again_on(inputs, {attribute("is_causal", 0)}));
}

Operator attention() {
  return {
      .name = "Attention",
      .versions = {23, 24, 25},
      .summary = "Softmax(Q K^T + mask) V for every head, with the keys and values of the past.",
      .attributes = {{"is_causal", Role::flag},
                     {"kv_num_heads", Role::count},
                     {"left_window_size", Role::number},
                     {"q_num_heads", Role::count},
                     {"qk_matmul_output_mode", Role::number},
                     {"right_window_size", Role::number},
                     {"scale", Role::factor},
                     {"softcap", Role::bounds},
                     {"softmax_precision", Role::type}},
      .require = require_attention,
      .infer = infer_attention,
      .meaning = compute<Attention>(Pattern::contraction),
      .variants = {
          {"raw-scores-capped", Variant::Kind::defect, "onnx.reference 1.23", raw_scores_capped},
          {"causal-from-first-key", Variant::Kind::difference,
           "PyTorch's scaled_dot_product_attention, onnx.reference before 1.23",
           causal_from_first_key}}};
}

}  // namespace

bool require_packed(Check& c, const Dim& extent, std::int64_t heads, std::string_view what) {
  return c.divisible(extent, heads, what) &&
         c.shape(heads <= extent.value, "divisible", fmt::format("{} of at least {}", what, heads),
                 fmt::format("{}", extent.value));
}

bool require_softmax_precision(Check& c) {
  const std::int64_t type = c.site.integer("softmax_precision", 1);
  return c.argument(type == 1 || type == 10 || type == 11 || type == 16, "choice",
                    "softmax_precision 1, 10, 11 or 16", fmt::format("{}", type));
}

std::vector<Operator> attention_operators() {
  return {attention(), flex_attention(), linear_attention(), rotary_embedding()};
}

}  // namespace assay
