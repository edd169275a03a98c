// Recurrent layers: a state carried along the time axis, in one direction or both.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/recurrent_cell.h"
#include "patterns/compute.h"
#include "patterns/recorded.h"

namespace assay {
namespace {

// Inputs of all three; LSTM has two more.
enum Input : std::size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

std::int64_t directions_of(const Site& site) {
  return site.text("direction") == "bidirectional" ? 2 : 1;
}

RecurrentShape shape_of(const Call& call, std::int64_t gates) {
  const Shape& x = call.input(kX).shape();
  RecurrentShape s;
  s.batch_first = call.site.integer("layout") != 0;
  s.steps = x[s.batch_first ? 1 : 0];
  s.batch = x[s.batch_first ? 0 : 1];
  s.input = x[2];
  s.hidden = call.input(kR).shape()[2];
  s.gates = gates;
  s.directions = directions_of(call.site);
  return s;
}

// One direction of a layer while it runs: the state of each batch element, and what a step needs.
template <class S>
struct Direction {
  const Call& call;
  const RecurrentShape& shape;
  std::int64_t index;
  std::span<const Activation> f;
  double clip;
  GateSums<S> sums{call, shape, index};
  std::vector<S> h = std::vector<S>(static_cast<std::size_t>(shape.batch * shape.hidden));
  std::vector<S> c = h;
  std::vector<S> gates = std::vector<S>(h.size() * static_cast<std::size_t>(shape.gates));
  std::vector<S> extra = h;
  std::vector<S> peepholes{};

  std::span<S> row(std::vector<S>& values, std::int64_t b, std::int64_t columns,
                   std::int64_t column = 0, std::int64_t count = 1) const {
    return {values.data() + (b * columns + column) * shape.hidden,
            static_cast<std::size_t>(count * shape.hidden)};
  }
};

// (1 − z) a + z b, which lies between a and b where z is in [0, 1].
template <class S>
S blend(const S& z, const S& a, const S& b) {
  const S result = (constant<S>(1.0) - z) * a + z * b;
  if constexpr (std::is_same_v<S, Interval>) {
    if (z.nan || a.nan || b.nan || z.low < 0 || z.high > 1) return result;
    const double low = std::min(a.low, b.low), high = std::max(a.high, b.high);
    const double slack = 8 * rounding().unit * std::max(std::abs(low), std::abs(high));
    return within(result, low - slack, high + slack);
  } else {
    return result;
  }
}

struct Rnn {
  static constexpr std::int64_t kGates = 1;
  inline static const std::vector<std::string> kDefaults = {"Tanh"};

  template <class S>
  static void step(Direction<S>& d, std::span<const std::int64_t> rows) {
    d.sums(GatePart::both, rows, d.h.data(), 0, 1, d.gates.data());
    for (std::int64_t b = 0; b < d.shape.batch; ++b) {
      if (rows[static_cast<std::size_t>(b)] < 0) continue;
      const std::span<S> gate = d.row(d.gates, b, 1);
      activate(d.f[0], d.clip, gate);
      std::copy(gate.begin(), gate.end(), d.row(d.h, b, 1).begin());
    }
  }
};

// Gates in the order update, reset, hidden.
struct Gru {
  static constexpr std::int64_t kGates = 3;
  inline static const std::vector<std::string> kDefaults = {"Sigmoid", "Tanh"};

  // The hidden gate's sums, with the reset gate applied before or after the product.
  template <class S>
  static void hidden_sums(Direction<S>& d, std::span<const std::int64_t> rows,
                          std::vector<S>& out) {
    const bool after = d.call.site.integer("linear_before_reset") != 0;
    std::vector<S> inner(d.h.size());
    if (after) d.sums(GatePart::recurrent, rows, d.h.data(), 2, 3, inner.data());
    for (std::int64_t b = 0; b < d.shape.batch; ++b) {
      const std::span<S> reset = d.row(d.gates, b, 2, 1);
      const std::span<S> state = d.row(after ? inner : d.h, b, 1), to = d.row(d.extra, b, 1);
      for (std::size_t j = 0; j < reset.size(); ++j) to[j] = reset[j] * state[j];
    }
    d.sums(after ? GatePart::input : GatePart::both, rows, d.extra.data(), 2, 3, out.data());
    if (!after) return;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = out[j] + d.extra[j];
  }

  template <class S>
  static void step(Direction<S>& d, std::span<const std::int64_t> rows) {
    d.sums(GatePart::both, rows, d.h.data(), 0, 2, d.gates.data());
    for (std::int64_t b = 0; b < d.shape.batch; ++b)
      activate(d.f[0], d.clip, d.row(d.gates, b, 2, 0, 2));
    std::vector<S> hidden(d.h.size());
    hidden_sums(d, rows, hidden);
    for (std::int64_t b = 0; b < d.shape.batch; ++b) {
      if (rows[static_cast<std::size_t>(b)] < 0) continue;
      const std::span<S> z = d.row(d.gates, b, 2), fresh = d.row(hidden, b, 1),
                         h = d.row(d.h, b, 1);
      activate(d.f[1], d.clip, fresh);
      for (std::size_t j = 0; j < h.size(); ++j) h[j] = blend(z[j], fresh[j], h[j]);
    }
  }
};

// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget.
struct Lstm {
  static constexpr std::int64_t kGates = 4;
  inline static const std::vector<std::string> kDefaults = {"Sigmoid", "Tanh", "Tanh"};

  template <class S>
  static void peep(const Direction<S>& d, std::size_t which, std::span<const S> c,
                   std::span<S> gate) {
    if (d.peepholes.empty()) return;
    const S* p = d.peepholes.data() + which * gate.size();
    for (std::size_t j = 0; j < gate.size(); ++j) gate[j] = gate[j] + p[j] * c[j];
  }

  template <class S>
  static void update(Direction<S>& d, std::int64_t b) {
    const std::span<S> i = d.row(d.gates, b, 4, 0), o = d.row(d.gates, b, 4, 1);
    const std::span<S> f = d.row(d.gates, b, 4, 2), fresh = d.row(d.gates, b, 4, 3);
    const std::span<S> c = d.row(d.c, b, 1), h = d.row(d.h, b, 1);
    peep<S>(d, 0, c, i);
    activate(d.f[0], d.clip, i);
    if (d.call.site.integer("input_forget") != 0) {
      for (std::size_t j = 0; j < f.size(); ++j) f[j] = constant<S>(1.0) - i[j];
    } else {
      peep<S>(d, 2, c, f);
      activate(d.f[0], d.clip, f);
    }
    activate(d.f[1], d.clip, fresh);
    for (std::size_t j = 0; j < c.size(); ++j) c[j] = f[j] * c[j] + i[j] * fresh[j];
    peep<S>(d, 1, c, o);
    activate(d.f[0], d.clip, o);
    std::copy(c.begin(), c.end(), h.begin());
    activate(d.f[2], d.clip, h);
    for (std::size_t j = 0; j < h.size(); ++j) h[j] = o[j] * h[j];
  }

  template <class S>
  static void step(Direction<S>& d, std::span<const std::int64_t> rows) {
    d.sums(GatePart::both, rows, d.h.data(), 0, 4, d.gates.data());
    for (std::int64_t b = 0; b < d.shape.batch; ++b)
      if (rows[static_cast<std::size_t>(b)] >= 0) update(d, b);
  }
};

template <class Cell>
struct Recurrence {
  std::vector<Activation> activations;
  double clip;

  explicit Recurrence(const Call& call)
      : activations(*activations_of(call.site, Cell::kDefaults, directions_of(call.site))),
        clip(call.site.has("clip") ? call.site.real("clip") : -1) {}

  static std::vector<std::int64_t> lengths(const Call& call, const RecurrentShape& s) {
    if (call.has(kLengths)) return call.exact(kLengths).integers();
    return std::vector<std::int64_t>(static_cast<std::size_t>(s.batch), s.steps);
  }

  // Where the state of a batch element lies in initial_h, Y_h and their like.
  static std::int64_t place(const RecurrentShape& s, std::int64_t d, std::int64_t b) {
    return (s.batch_first ? b * s.directions + d : d * s.batch + b) * s.hidden;
  }
  static std::int64_t place(const RecurrentShape& s, std::int64_t t, std::int64_t d,
                            std::int64_t b) {
    const std::int64_t at =
        s.batch_first ? (b * s.steps + t) * s.directions + d : (t * s.directions + d) * s.batch + b;
    return at * s.hidden;
  }

  template <class S>
  static void start(Direction<S>& d) {
    const RecurrentShape& s = d.shape;
    const auto read = [&](std::size_t input, std::vector<S>& state) {
      if (!d.call.has(input)) return;
      for (std::int64_t b = 0; b < s.batch; ++b)
        load<S>(d.call.input(input), place(s, d.index, b), place(s, d.index, b) + s.hidden,
                state.data() + b * s.hidden);
    };
    read(kInitialH, d.h);
    read(kInitialC, d.c);
    if (!d.call.has(kPeepholes)) return;
    d.peepholes.resize(static_cast<std::size_t>(3 * s.hidden));
    load<S>(d.call.input(kPeepholes), d.index * 3 * s.hidden, (d.index + 1) * 3 * s.hidden,
            d.peepholes.data());
  }

  // Continues from the state that was recorded at the step before, where one was: the state of a
  // format narrower than float32 may have been kept unrounded.
  template <class S>
  static void resume(Direction<S>& d, std::span<const std::int64_t> times) {
    if constexpr (std::is_same_v<S, Bounded>) {
      const RecurrentShape& s = d.shape;
      const Tensor* y = recorded_output(0);
      const bool usable =
          y && y->type() == d.call.output_type(0) && y->shape() == d.call.output_shape(0);
      if (!usable) return;
      const bool narrow = rounding().unit > Rounding::f32().unit;
      for (std::int64_t b = 0; b < s.batch; ++b) {
        const std::int64_t time = times[static_cast<std::size_t>(b)];
        if (time < 0) continue;
        const std::int64_t from = place(s, time, d.index, b);
        const std::span<S> h = d.row(d.h, b, 1);
        load<S>(Value(*y), from, from + s.hidden, h.data());
        for (S& x : h)
          if (narrow) x.error = rounding().error(Operation::add, std::abs(x.value));
      }
    }
  }

  // Each sequence runs over its own length; backward it begins at its own last element.
  template <class S>
  static void run(Direction<S>& d, bool backward, const std::vector<std::int64_t>& lengths,
                  Array<S>* y) {
    const RecurrentShape& s = d.shape;
    const std::int64_t longest =
        lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    std::vector<std::int64_t> times(lengths.size()), rows(lengths.size());
    for (std::int64_t t = 0; t < longest; ++t) {
      if (t > 0) resume(d, times);
      for (std::size_t b = 0; b < rows.size(); ++b) {
        times[b] = t >= lengths[b] ? -1 : backward ? lengths[b] - 1 - t : t;
        rows[b] = times[b] < 0 ? -1 : s.row(times[b], static_cast<std::int64_t>(b));
      }
      Cell::step(d, std::span<const std::int64_t>(rows));
      for (std::int64_t b = 0; y && b < s.batch; ++b)
        if (const std::int64_t time = times[static_cast<std::size_t>(b)]; time >= 0)
          std::copy_n(d.h.data() + b * s.hidden, s.hidden,
                      y->data.data() + place(s, time, d.index, b));
    }
  }

  template <class S>
  void operator()(Frame<S>& frame) const {
    const RecurrentShape s = shape_of(frame.call(), Cell::kGates);
    const std::vector<std::int64_t> ends = lengths(frame.call(), s);
    Array<S> y(frame.wants(0) ? frame.output_shape(0) : Shape{0});
    std::vector<Array<S>> last;
    for (std::size_t i = 1; i < 3; ++i)
      last.emplace_back(frame.wants(i) ? frame.output_shape(i) : Shape{0});
    for (std::int64_t k = 0; k < s.directions; ++k) {
      const std::size_t count = Cell::kDefaults.size();
      Direction<S> d{frame.call(), s, k,
                     std::span(activations).subspan(static_cast<std::size_t>(k) * count, count),
                     clip};
      start(d);
      const bool backward = k == 1 || frame.site().text("direction") == "reverse";
      run(d, backward, ends, frame.wants(0) ? &y : nullptr);
      for (std::int64_t b = 0; b < s.batch; ++b)
        for (std::size_t i = 1; i < 3; ++i)
          if (frame.wants(i))
            std::copy_n((i == 1 ? d.h : d.c).data() + b * s.hidden, s.hidden,
                        last[i - 1].data.data() + place(s, k, b));
    }
    if (frame.wants(0)) frame.output(0, y);
    for (std::size_t i = 1; i < 3; ++i)
      if (frame.wants(i)) frame.output(i, last[i - 1]);
  }
};

bool require_attributes(Check& c, const std::vector<std::string>& defaults) {
  // GRU's first version misspells its own default.
  bool good = c.site.version() == 1
                  ? c.one_of("direction", {"forward", "reverse", "bidirectional", "foward"})
                  : c.one_of("direction", {"forward", "reverse", "bidirectional"});
  good = c.in_range("layout", between(0, 1)) && good;
  good = c.real_in_range("clip", 0, std::numeric_limits<double>::infinity()) && good;
  good = c.positive({"hidden_size"}) && good;
  if (!good) return false;
  const std::size_t count = defaults.size() * static_cast<std::size_t>(directions_of(c.site));
  return c.argument(
      activations_of(c.site, defaults, directions_of(c.site)).has_value(), "activations",
      fmt::format("{} activations that the standard knows, with their arguments", count),
      fmt::format("{}", c.site.texts("activations").size()));
}

void require_lengths(Check& c, const Dim& steps, const Dim& batch) {
  if (!c.site.has_input(kLengths) || !c.rank("sequence_lens", exactly(1))) return;
  c.extent("sequence_lens", 0, batch, "the batch");
  const Tensor* known = c.site.constant(kLengths);
  if (!known || !steps.known()) return c.undecided("sequence-lens", "the lengths and the steps");
  for (std::int64_t length : known->integers())
    c.argument(length >= 0 && length <= steps.value, "sequence-lens",
               fmt::format("lengths up to {}", steps.value), fmt::format("{}", length));
}

void require_recurrent(Check& c, std::int64_t gates, const std::vector<std::string>& defaults) {
  if (!require_attributes(c, defaults)) return;
  if (!c.rank("X", exactly(3)) || !c.rank("W", exactly(3)) || !c.rank("R", exactly(3))) return;
  const bool batch_first = c.site.integer("layout") != 0;
  const Dims &x = *c.dims("X"), &r = *c.dims("R");
  const Dim &steps = x[batch_first ? 1 : 0], &batch = x[batch_first ? 0 : 1];
  const Dim directions = directions_of(c.site), hidden = r[2];
  if (c.site.has("hidden_size"))
    c.weight_extent("R", 2, c.site.integer("hidden_size"), "hidden_size");
  c.weight_extent("R", 0, directions, "the directions");
  c.weight_extent("R", 1, hidden * gates, "the gates of the hidden size");
  c.weight_extent("W", 0, directions, "the directions");
  c.weight_extent("W", 1, hidden * gates, "the gates of the hidden size");
  c.weight_extent("W", 2, x[2], "the last extent of X");
  if (c.rank("B", exactly(2)) && c.site.has_input(kB)) {
    c.weight_extent("B", 0, directions, "the directions");
    c.weight_extent("B", 1, hidden * (2 * gates), "two biases a gate");
  }
  require_lengths(c, steps, batch);
  const auto require_state = [&](std::string_view input) {
    if (!c.rank(input, exactly(3)) || !c.index_of(input)) return;
    c.extent(input, batch_first ? 1 : 0, directions, "the directions");
    c.extent(input, batch_first ? 0 : 1, batch, "the batch");
    c.extent(input, 2, hidden, "the hidden size");
  };
  require_state("initial_h");
  if (gates != Lstm::kGates) return;
  require_state("initial_c");
  if (c.rank("P", exactly(2)) && c.site.has_input(kPeepholes)) {
    c.weight_extent("P", 0, directions, "the directions");
    c.weight_extent("P", 1, hidden * 3, "three peepholes");
  }
}

void infer_recurrent(Infer& n) {
  const bool batch_first = n.site.integer("layout") != 0;
  const Dims *x = n.dims(kX), *r = n.dims(kR);
  const Dim directions = directions_of(n.site);
  Dim steps, batch, hidden;
  if (x && x->size() == 3) {
    steps = (*x)[batch_first ? 1 : 0];
    batch = (*x)[batch_first ? 0 : 1];
  }
  if (r && r->size() == 3) hidden = (*r)[2];
  if (!hidden.known() && n.site.integer("hidden_size") > 0) hidden = n.site.integer("hidden_size");
  n.output(0, n.element(kX),
           batch_first ? Dims{batch, steps, directions, hidden}
                       : Dims{steps, directions, batch, hidden});
  const Dims state =
      batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  n.output(1, n.element(kX), state);
  n.output(2, n.element(kX), state);
}

const std::vector<AttributeRole> kRoles = {{"activation_alpha", Role::factors},
                                           {"activation_beta", Role::factors},
                                           {"activations", Role::choice},
                                           {"clip", Role::bounds},
                                           {"direction", Role::choice},
                                           {"hidden_size", Role::count},
                                           {"layout", Role::flag},
                                           {"output_sequence", Role::flag}};

std::vector<AttributeRole> roles_with(AttributeRole more) {
  std::vector<AttributeRole> roles = kRoles;
  roles.push_back(more);
  return roles;
}

void give_all(Builder& b, const Builder::Values& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) b.output(i, outputs[i]);
}

void layout_ignored(Builder& b) { give_all(b, b.again({attribute("layout", 0)})); }

// The cell's other place for the reset gate.
void reset_at_other_place(Builder& b) {
  const std::int64_t now = b.site().integer("linear_before_reset");
  give_all(b, b.again({attribute("linear_before_reset", now == 0 ? 1 : 0)}));
}

template <class Cell>
void hard_gates(Builder& b) {
  std::vector<std::string> names;
  for (std::int64_t d = 0; d < directions_of(b.site()); ++d) {
    names.insert(names.end(), Cell::kDefaults.begin(), Cell::kDefaults.end());
    names[names.size() - Cell::kDefaults.size()] = "HardSigmoid";
  }
  give_all(b, b.again({attribute("activations", names)}));
}

void cell_state_returned(Builder& b) {
  Builder::Attributes attributes;
  for (const Attribute& given : b.site().node().attributes)
    if (given.name != "output_sequence") attributes.push_back(given);
  Builder::Values inputs;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) inputs.push_back(b.input(i));
  Builder::Values outputs = b.many("LSTM", inputs, 3, attributes);
  outputs[1] = outputs[2];
  give_all(b, outputs);
}

Operator rnn() {
  return {.name = "RNN",
          .versions = {1, 7, 14, 22},
          .summary = "A simple recurrent layer: h = f(x W^T + h R^T + b).",
          .attributes = kRoles,
          .require = [](Check& c) { require_recurrent(c, Rnn::kGates, Rnn::kDefaults); },
          .infer = infer_recurrent,
          .meaning = compute<Recurrence<Rnn>>(Pattern::prefix),
          .variants = {
              {"layout-ignored", Variant::Kind::defect, "OpenVINO 2023 to 2026", layout_ignored}}};
}

Operator gru() {
  return {.name = "GRU",
          .versions = {1, 3, 7, 14, 22},
          .summary = "A layer of gated recurrent units.",
          .attributes = roles_with({"linear_before_reset", Role::flag}),
          .require = [](Check& c) { require_recurrent(c, Gru::kGates, Gru::kDefaults); },
          .infer = infer_recurrent,
          .meaning = compute<Recurrence<Gru>>(Pattern::prefix),
          .variants = {{"reset-at-other-place", Variant::Kind::difference,
                        "PyTorch, cuDNN and Keras 3 reset after the product, Keras 2.0 before it",
                        reset_at_other_place},
                       {"hard-gates", Variant::Kind::difference,
                        "Keras before 2.3, whose gates are hard sigmoids", hard_gates<Gru>}}};
}

Operator lstm() {
  return {.name = "LSTM",
          .versions = {1, 7, 14, 22},
          .summary = "A layer of long short-term memory cells.",
          .attributes = roles_with({"input_forget", Role::flag}),
          .require = [](Check& c) { require_recurrent(c, Lstm::kGates, Lstm::kDefaults); },
          .infer = infer_recurrent,
          .meaning = compute<Recurrence<Lstm>>(Pattern::prefix),
          .variants = {{"hard-gates", Variant::Kind::difference,
                        "Keras before 2.3, whose gates are hard sigmoids", hard_gates<Lstm>},
                       {"cell-state-returned", Variant::Kind::defect, "Keras 2.3.1 on CNTK 2.7",
                        cell_state_returned}}};
}

}  // namespace

std::vector<Operator> recurrent_operators() { return {gru(), lstm(), rnn()}; }

}  // namespace assay
