// LinearAttention and RotaryEmbedding.
#include <fmt/format.h>

#include "ops/attention_parts.h"

namespace assay {
namespace {

enum Input : std::size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

bool decays(const Site& site) {
  return site.text("update_rule") == "gated" || site.text("update_rule") == "gated_delta";
}
bool corrects(const Site& site) {
  return site.text("update_rule") == "delta" || site.text("update_rule") == "gated_delta";
}

// A state of size x value_size for each head of keys and values, updated token by token.
struct LinearAttention {
  template <class S>
  struct Tokens {
    Array<S> query, key, value, decay, beta;
    std::int64_t length;
    S scale;
  };

  // Decay, then the correction of the value by what the state already gives for the key.
  template <class S>
  static void update(const Tokens<S>& t, const HeadShape& s, std::int64_t token, std::int64_t head,
                     std::vector<S>& state) {
    const S* key = t.key.data.data() + (token * s.kv_heads + head) * s.size;
    const S* given = t.value.data.data() + (token * s.kv_heads + head) * s.value_size;
    if (!t.decay.data.empty()) {
      const std::int64_t width = t.decay.shape[2] / s.kv_heads;  // one a head, or one a key element
      const S* decay = t.decay.data.data() + (token * s.kv_heads + head) * width;
      for (std::int64_t i = 0; i < s.size; ++i) {
        const S factor = exp(decay[width == 1 ? 0 : i]);
        for (std::int64_t j = 0; j < s.value_size; ++j) {
          S& cell = state[static_cast<std::size_t>(i * s.value_size + j)];
          cell = cell * factor;
        }
      }
    }
    std::vector<S> value(given, given + s.value_size);
    if (!t.beta.data.empty()) {
      const std::int64_t width = t.beta.shape[2];
      const S beta = t.beta[token * width + (width == 1 ? 0 : head)];
      std::vector<S> known(value.size());
      multiply<S>(1, s.value_size, s.size, {key, s.size, 1}, {state.data(), s.value_size, 1},
                  known.data());
      for (std::size_t j = 0; j < value.size(); ++j) value[j] = beta * (value[j] - known[j]);
    }
    for (std::int64_t i = 0; i < s.size; ++i)
      for (std::int64_t j = 0; j < s.value_size; ++j) {
        S& cell = state[static_cast<std::size_t>(i * s.value_size + j)];
        cell = cell + key[i] * value[static_cast<std::size_t>(j)];
      }
  }

  template <class S>
  static void read(const Tokens<S>& t, const HeadShape& s, std::int64_t token, std::int64_t head,
                   const std::vector<S>& state, Array<S>& y) {
    const std::int64_t group = s.heads / s.kv_heads;
    for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
      const S* query = t.query.data.data() + (token * s.heads + h) * s.size;
      S* out = y.data.data() + (token * s.heads + h) * s.value_size;
      multiply<S>(1, s.value_size, s.size, {query, s.size, 1}, {state.data(), s.value_size, 1},
                  out);
      for (std::int64_t j = 0; j < s.value_size; ++j) out[j] = out[j] * t.scale;
    }
  }

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Site& site = frame.site();
    HeadShape s;
    s.batch = frame.shape(kQuery)[0];
    s.heads = site.integer("q_num_heads");
    s.kv_heads = site.integer("kv_num_heads");
    s.size = frame.shape(kQuery)[2] / s.heads;
    s.value_size = frame.shape(kValue)[2] / s.kv_heads;
    const double scale = site.real("scale");
    Tokens<S> t{frame.input(kQuery),
                frame.input(kKey),
                frame.input(kValue),
                frame.has(kDecay) ? frame.input(kDecay) : Array<S>(),
                frame.has(kBeta) ? frame.input(kBeta) : Array<S>(),
                frame.shape(kQuery)[1],
                scale != 0 ? constant<S>(scale) : constant<S>(1.0) / sqrt(constant<S>(s.size))};
    Array<S> y(frame.output_shape(0)), states(Shape{s.batch, s.kv_heads, s.size, s.value_size});
    if (frame.has(kPast)) states = frame.input(kPast);
    HeadShape pairs = s;
    pairs.heads = s.kv_heads;
    pairs.queries = 1;
    for_heads(pairs, [&](std::int64_t b, std::int64_t head) {
      S* kept = states.data.data() + (b * s.kv_heads + head) * s.size * s.value_size;
      std::vector<S> state(kept, kept + s.size * s.value_size);
      for (std::int64_t i = 0; i < t.length; ++i) {
        update(t, s, b * t.length + i, head, state);
        read(t, s, b * t.length + i, head, state, y);
      }
      std::copy(state.begin(), state.end(), kept);
    });
    frame.output(0, y);
    if (frame.wants(1)) frame.output(1, states);
  }
};

void require_gates(Check& c, const Dims& query, std::int64_t kv, const Dim& size) {
  const auto require_gate = [&](std::string_view input, bool needed) {
    const bool given = c.index_of(input).has_value();
    return c.argument(given == needed, "gates",
                      fmt::format("{} {}", needed ? "an input" : "no input", input),
                      given ? "one" : "none") &&
           given && c.rank(input, exactly(3)) && c.extent(input, 0, query[0], "the batch") &&
           c.extent(input, 1, query[1], "the length");
  };
  if (require_gate("decay", decays(c.site)) && size.known()) {
    const Dim& width = (*c.dims("decay"))[2];
    c.shape(!width.known() || width.value == kv || width.same_as(size * kv), "gates",
            fmt::format("decay of width {} or {}", kv, to_text(Dims{size * kv})),
            to_text(*c.dims("decay")));
  }
  if (require_gate("beta", corrects(c.site))) {
    const Dim& width = (*c.dims("beta"))[2];
    c.shape(!width.known() || width.value == kv || width.value == 1, "gates",
            fmt::format("beta of width {} or 1", kv), to_text(*c.dims("beta")));
  }
}

void require_linear(Check& c) {
  bool good = c.one_of("update_rule", {"linear", "gated", "delta", "gated_delta"});
  good = c.positive({"q_num_heads", "kv_num_heads", "chunk_size"}) && good;
  good = c.rank("query", exactly(3)) && good;
  good = c.rank("key", exactly(3)) && good;
  good = c.rank("value", exactly(3)) && good;
  if (!good) return;
  const std::int64_t heads = c.site.integer("q_num_heads"), kv = c.site.integer("kv_num_heads");
  const Dims &query = *c.dims("query"), &value = *c.dims("value");
  good = c.divisible(heads, kv, "q_num_heads");
  good = require_packed(c, query[2], heads, "the last extent of query") && good;
  good = require_packed(c, value[2], kv, "the last extent of value") && good;
  if (!good) return;
  const Dim size = query[2].known() ? Dim(query[2].value / heads) : Dim();
  const Dim value_size = value[2].known() ? Dim(value[2].value / kv) : Dim();
  c.extent("key", 2, size * kv, "kv_num_heads times the size of a head");
  for (std::string_view input : {"key", "value"}) {
    c.extent(input, 0, query[0], "the batch of query");
    c.extent(input, 1, query[1], "the length of query");
  }
  if (c.rank("past_state", exactly(4)) && c.site.has_input(kPast)) {
    c.extent("past_state", 0, query[0], "the batch");
    c.extent("past_state", 1, kv, "kv_num_heads");
    c.extent("past_state", 2, size, "the size of a key");
    c.extent("past_state", 3, value_size, "the size of a value");
  }
  require_gates(c, query, kv, size);
}

void infer_linear(Infer& n) {
  const ElementType state = n.site.has_input(kPast) ? n.element(kPast) : n.element(kQuery);
  const std::int64_t heads = n.site.integer("q_num_heads"), kv = n.site.integer("kv_num_heads");
  const Dims *query = n.dims(kQuery), *value = n.dims(kValue);
  const auto part = [](const Dim& whole, std::int64_t count) {
    return whole.known() && count > 0 ? Dim(whole.value / count) : Dim();
  };
  if (!query || !value || query->size() != 3 || value->size() != 3) {
    n.output(0, n.element(kQuery));
    return n.output(1, state);
  }
  const Dim width = part((*value)[2], kv);
  n.output(0, n.element(kQuery), {(*query)[0], (*query)[1], width * Dim(heads)});
  n.output(1, state, {(*query)[0], Dim(kv), part((*query)[2], heads), width});
}

// Where the elements of X lie: batch x heads x length x size, or the heads packed into the last.
struct RotaryShape {
  std::int64_t batch, heads, length, size, rotated;
  bool packed;
  std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t t) const {
    return (packed ? (b * length + t) * heads + h : (b * heads + h) * length + t) * size;
  }
};

RotaryShape rotary_shape(const Site& site, const Shape& x) {
  RotaryShape s{};
  s.packed = x.size() == 3;
  s.batch = x[0];
  s.heads = s.packed ? site.integer("num_heads") : x[1];
  s.length = x[s.packed ? 1 : 2];
  s.size = s.packed ? x[2] / s.heads : x[3];
  const std::int64_t part = site.integer("rotary_embedding_dim");
  s.rotated = part > 0 ? part : s.size;
  return s;
}

struct RotaryEmbedding {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const RotaryShape s = rotary_shape(frame.site(), frame.shape(0));
    const Array<S> x = frame.input(0), cosine = frame.input(1), sine = frame.input(2);
    const bool interleaved = frame.site().integer("interleaved") != 0;
    std::vector<std::int64_t> positions;
    if (frame.has(3)) positions = frame.exact(3).integers();
    const std::int64_t half = s.rotated / 2;
    Array<S> y = x;
    for (std::int64_t b = 0; b < s.batch && x.size() > 0; ++b)
      for (std::int64_t t = 0; t < s.length; ++t) {
        const std::int64_t token = b * s.length + t;
        const std::int64_t angle =
            positions.empty() ? token : positions[static_cast<std::size_t>(token)];
        for (std::int64_t h = 0; h < s.heads; ++h)
          for (std::int64_t i = 0; i < half; ++i) {
            const std::int64_t first = s.at(b, h, t) + (interleaved ? 2 * i : i);
            const std::int64_t second = first + (interleaved ? 1 : half);
            const S c = cosine[angle * half + i], d = sine[angle * half + i];
            y[first] = c * x[first] - d * x[second];
            y[second] = d * x[first] + c * x[second];
          }
      }
    frame.output(0, y);
  }
};

void require_positions(Check& c, const Dim& batch, const Dim& length, const Dim& table) {
  if (!c.rank("position_ids", exactly(2))) return;
  c.extent("position_ids", 0, batch, "the batch");
  c.extent("position_ids", 1, length, "the length");
  const Tensor* known = c.site.constant(3);
  if (!known || !table.known()) return c.undecided("index-range", "the elements of position_ids");
  for (std::int64_t position : known->integers())
    if (!c.argument(position >= 0 && position < table.value, "index-range",
                    fmt::format("positions below {}", table.value), fmt::format("{}", position)))
      return;
}

void require_rotary(Check& c) {
  if (!c.rank("X", between(3, 4)) || !c.not_negative({"rotary_embedding_dim"})) return;
  const Dims& x = *c.dims("X");
  Dim size = x.back();
  if (x.size() == 3) {
    const std::int64_t heads = c.site.integer("num_heads");
    if (!c.required("num_heads") || !c.positive({"num_heads"}) ||
        !require_packed(c, x[2], heads, "the last extent of X"))
      return;
    size = x[2].value / heads;
  }
  const Dim &batch = x[0], &length = x[x.size() == 3 ? 1 : 2];
  const std::int64_t part = c.site.integer("rotary_embedding_dim");
  if (size.known() && !c.argument(part <= size.value, "range",
                                  fmt::format("rotary_embedding_dim up to {}", size.value),
                                  fmt::format("{}", part)))
    return;
  const Dim rotated = part > 0 ? Dim(part) : size;
  if (!rotated.known()) return c.undecided("divisible", "the size of a head");
  if (!c.divisible(rotated, 2, "the rotated size")) return;
  const bool chosen = c.site.has_input(3);
  for (std::string_view cache : {"cos_cache", "sin_cache"}) {
    if (!c.rank(cache, exactly(chosen ? 2 : 3))) return;
    c.extent(cache, -1, Dim(rotated.value / 2), "half the rotated size");
    if (chosen) continue;
    c.extent(cache, 0, batch, "the batch");
    c.extent(cache, 1, length, "the length");
  }
  c.same_shape("cos_cache", "sin_cache");
  if (chosen) require_positions(c, batch, length, (*c.dims("cos_cache"))[0]);
}

void other_pairing(Builder& b) {
  b.output(
      0, b.again({attribute("interleaved", b.site().integer("interleaved") == 0 ? 1 : 0)}).front());
}

}  // namespace

Operator linear_attention() {
  return {.name = "LinearAttention",
          .versions = {27},
          .summary = "Attention through a state that each token updates and each query reads.",
          .attributes = {{"chunk_size", Role::count},
                         {"kv_num_heads", Role::count},
                         {"q_num_heads", Role::count},
                         {"scale", Role::factor},
                         {"update_rule", Role::choice}},
          .require = require_linear,
          .infer = infer_linear,
          .meaning = compute<LinearAttention>(Pattern::prefix)};
}

Operator rotary_embedding() {
  return {
      .name = "RotaryEmbedding",
      .versions = {23},
      .summary = "Pairs of elements of each head turned by the angle of their token's position.",
      .attributes = {{"interleaved", Role::flag},
                     {"num_heads", Role::count},
                     {"rotary_embedding_dim", Role::count}},
      .require = require_rotary,
      .infer = same_as_first,
      .meaning = compute<RotaryEmbedding>(Pattern::gather),
      .variants = {{"other-pairing", Variant::Kind::difference,
                    "GPT-J and Meta's Llama pair neighbours, GPT-NeoX and Hugging Face halves",
                    other_pairing}}};
}

}  // namespace assay
