// Recurrent layers: the standard's recurrences with Keras' weights, gates and order of time.
#include <algorithm>

#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

// What a recurrence is in Keras and in the standard: gates, and in which order.
struct Recurrence {
  const char* op;
  Integers order;  // the standard's gates among Keras'
  bool gated;      // has recurrent_activation
  bool cell;       // has a second state
};
const Recurrence kSimple = {"RNN", {0}, false, false};
const Recurrence kGru = {"GRU", {0, 1, 2}, true, false};
const Recurrence kLstm = {"LSTM", {0, 3, 1, 2}, true, true};

const Recurrence& recurrence(const Site& site) {
  const std::string& op = site.node().op;
  return op.starts_with("LSTM") ? kLstm : op.starts_with("GRU") ? kGru : kSimple;
}

Weights recurrent_weights(const Site& site) {
  const std::int64_t units = site.integer("units");
  const Dim all = units * static_cast<std::int64_t>(recurrence(site).order.size());
  Weights weights = {{"kernel", {extent(site, -1), all}}, {"recurrent_kernel", {Dim(units), all}}};
  if (flag(site, "use_bias")) {
    weights.push_back({"bias", flag(site, "reset_after") ? Dims{Dim(2), all} : Dims{all}});
  }
  if (flag(site, "masked")) weights.push_back({"mask", {extent(site, 0), extent(site, 1)}});
  return weights;
}

// Keras has gates side by side in its last axis, the standard below each other in its own order.
std::string gates(Body& l, const std::string& weight, std::int64_t axis) {
  const Integers& order = recurrence(l.site).order;
  if (std::ranges::is_sorted(order)) return weight;
  const Names parts = l.b.many("Split", {weight}, order.size(),
                               {attribute("axis", axis), attribute("num_outputs", order.size())});
  Names sorted;
  for (std::int64_t gate : order) sorted.push_back(parts[static_cast<std::size_t>(gate)]);
  return l("Concat", std::move(sorted), {attribute("axis", axis)});
}

std::string matrix(Body& l, std::string_view name) {
  return l("Unsqueeze", {l.transposed(gates(l, l.weight(name), 1), {1, 0}), l.b.integers({0})});
}

// The standard has a bias for each of the two products; only reset_after has both in Keras.
std::string bias(Body& l) {
  const std::string own = l.weight("bias");
  if (own.empty()) return "";
  if (flag(l.site, "reset_after")) return l.reshaped(own, {1, -1});
  const std::string first = gates(l, own, 0);
  const std::string none = l("Sub", {first, first});
  return l.reshaped(l("Concat", {first, none}, {attribute("axis", 0)}), {1, -1});
}

// The standard's name of a function, and its numbers.
struct StandardActivation {
  std::string_view keras;
  const char* name;
  double alpha = 0, beta = 0;
};
constexpr StandardActivation kStandard[] = {
    {"elu", "Elu", 1},        {"hard_sigmoid", "HardSigmoid", 0.2, 0.5},
    {"linear", "Affine", 1},  {"relu", "Relu"},
    {"sigmoid", "Sigmoid"},   {"softplus", "Softplus"},
    {"softsign", "Softsign"}, {"tanh", "Tanh"},
};

const StandardActivation* standard(const std::string& name) {
  const auto found = std::ranges::find(kStandard, name, &StandardActivation::keras);
  return found == std::end(kStandard) ? nullptr : &*found;
}

Builder::Attributes recurrence_attributes(const Site& site) {
  const Recurrence& kind = recurrence(site);
  std::vector<std::string> arguments = {"activation"};
  if (kind.gated) arguments.insert(arguments.begin(), "recurrent_activation");
  if (kind.cell) arguments.emplace_back("activation");
  std::vector<std::string> names;
  std::vector<double> alphas, betas;
  for (const std::string& argument : arguments) {
    const StandardActivation& one = *standard(site.text(argument));
    names.emplace_back(one.name);
    const bool sixth = std::string_view(one.name) == "HardSigmoid" && site.version() >= 3;
    alphas.push_back(sixth ? 1.0 / 6 : one.alpha);
    betas.push_back(one.beta);
  }
  return {attribute("hidden_size", site.integer("units")), attribute("activations", names),
          attribute("activation_alpha", alphas), attribute("activation_beta", betas)};
}

std::string backwards(Body& l, const std::string& value, std::int64_t axis) {
  return l("Slice", {value, l.b.integers({-1}), l.b.integers({INT64_MIN}), l.b.integers({axis}),
                     l.b.integers({-1})});
}

std::string state(Body& l, std::size_t input) {
  return l.has(input) ? l("Unsqueeze", {l.input(input), l.b.integers({0})}) : "";
}

// The states after each step [time, batch, units], then the last ones [1, batch, units], from
// states "" that are zero.
Names steps_from(Body& l, const std::string& x, const Names& states) {
  const Recurrence& kind = recurrence(l.site);
  Names inputs = {x, matrix(l, "kernel"), matrix(l, "recurrent_kernel"), bias(l), "", states[0]};
  if (kind.cell) inputs.push_back(states[1]);
  Builder::Attributes attributes = recurrence_attributes(l.site);
  if (flag(l.site, "reset_after")) attributes.push_back(attribute("linear_before_reset", 1));
  const Names all = l.b.many(kind.op, std::move(inputs), kind.cell ? 3 : 2, std::move(attributes));
  Names values = all;
  values[0] = l("Squeeze", {all[0], l.b.integers({1})});
  return values;
}

Names steps(Body& l, const std::string& x) {
  return steps_from(l, x, {state(l, 1), recurrence(l.site).cell ? state(l, 2) : ""});
}

// The same one step after the other: where a step does not count, states and output stay as they
// were before, and the output is zero at the start, or always if one asks for that.
Names masked_steps(Body& l, const std::string& x, const std::string& mask) {
  Names states = {state(l, 1), recurrence(l.site).cell ? state(l, 2) : ""}, outputs;
  const std::string zero = l.number(0);
  std::string output = zero;
  for (std::int64_t t = 0; t < l.extent(1); ++t) {
    const std::string at = l.b.integers({t});
    const Names found = steps_from(l, l("Gather", {x, at}, {attribute("axis", 0)}), states);
    const std::string counts = l("Gather", {mask, at}, {attribute("axis", 0)});
    for (std::size_t i = 0; i + 1 < found.size(); ++i) {
      states[i] = l("Where", {counts, found[i + 1], states[i].empty() ? zero : states[i]});
    }
    const bool zero_there = flag(l.site, "zero_output_for_mask");
    output = l("Where", {counts, found[0], zero_there ? zero : output});
    outputs.push_back(output);
  }
  Names result = {l("Concat", outputs, {attribute("axis", 0)})};
  for (std::size_t i = 0; i < states.size() && !states[i].empty(); ++i) result.push_back(states[i]);
  return result;
}

// [batch, time] as truth values [time, batch, 1], in the order in which steps are taken.
std::string mask_by_time(Body& l) {
  const auto truth = static_cast<std::int64_t>(ElementType::boolean);
  std::string mask = l("Cast", {l.transposed(l.weight("mask"), {1, 0})}, {attribute("to", truth)});
  mask = l("Unsqueeze", {mask, l.b.integers({2})});
  return flag(l.site, "go_backwards") ? backwards(l, mask, 0) : mask;
}

std::string last_state(Body& l, const std::string& value) {
  return l("Squeeze", {value, l.b.integers({0})});
}

std::string recurrent(Body& l) {
  const bool time_first = flag(l.site, "time_major");
  std::string x = time_first ? l.x : l.transposed(l.x, {1, 0, 2});
  if (flag(l.site, "go_backwards")) x = backwards(l, x, 0);
  const Names found = flag(l.site, "masked") ? masked_steps(l, x, mask_by_time(l)) : steps(l, x);
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (l.gives(i)) l.give(i, last_state(l, found[i]));
  }
  if (!flag(l.site, "return_sequences")) {
    if (!flag(l.site, "masked")) return last_state(l, found[1]);
    return l("Gather", {found[0], l.b.integer(-1)}, {attribute("axis", 0)});
  }
  return time_first ? found[0] : l.transposed(found[0], {1, 0, 2});
}

// One step of a recurrence, from states that are inputs.
std::string step(Body& l) {
  const Names found = steps(l, l("Unsqueeze", {l.x, l.b.integers({0})}));
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (l.gives(i)) l.give(i, last_state(l, found[i]));
  }
  return last_state(l, found[1]);
}

void require_recurrence(Check& c, std::int64_t rank) {
  c.positive({"units"});
  c.rank("x", exactly(rank));
  for (std::string_view argument : {"activation", "recurrent_activation"}) {
    const std::string& name = c.site.text(argument);
    c.argument(name.empty() || standard(name), "activation", "a function of the standard", name);
  }
}

Layer recurrent(std::string_view name, bool cell) {
  const bool gru = name.starts_with("GRU"), lstm = name.starts_with("LSTM");
  Layer layer{.name = name,
              .summary = lstm  ? "Long short-term memory."
                         : gru ? "Gated recurrent unit."
                               : "The state is activation(x · kernel + state · recurrent_kernel + "
                                 "bias).",
              .arguments = {count("units"), activation("tanh"), use_bias()},
              .weights = recurrent_weights,
              .outputs = lstm ? 3 : 2};
  layer.inputs =
      lstm ? std::vector<std::string_view>{"x", "h", "c"} : std::vector<std::string_view>{"x", "h"};
  if (lstm || gru) layer.arguments.push_back(choice("recurrent_activation", "sigmoid"));
  if (gru) layer.arguments.push_back(flag_argument("reset_after", true));
  layer.require = cell ? [](Check& c) { require_recurrence(c, 2); }
                       : [](Check& c) { require_recurrence(c, 3); };
  layer.build = cell ? step : static_cast<std::string (*)(Body&)>(recurrent);
  if (cell) return layer;
  for (std::string_view argument :
       {"return_sequences", "return_state", "go_backwards", "time_major", "zero_output_for_mask"}) {
    layer.arguments.push_back(flag_argument(argument, false));
  }
  layer.arguments.push_back(masked());
  layer.masks = Masks::use;
  return layer;
}

}  // namespace

std::vector<Layer> recurrent_layers() {
  return {recurrent("SimpleRNN", false), recurrent("GRU", false),
          recurrent("LSTM", false),      recurrent("SimpleRNNCell", true),
          recurrent("GRUCell", true),    recurrent("LSTMCell", true)};
}

}  // namespace assay::keras
