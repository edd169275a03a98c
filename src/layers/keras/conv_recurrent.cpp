// Recurrent layers whose products are convolutions.
#include "layers/keras/layers.h"
#include "layers/keras/windows.h"

namespace assay::keras {
namespace {

constexpr std::int64_t kGates = 4;  // input, forget, cell, output

Weights conv_lstm_weights(const Site& site) {
  Dims kernel;
  for (std::int64_t k : spatial(site, "kernel_size")) kernel.emplace_back(k);
  const std::int64_t filters = site.integer("filters");
  Dims recurrent = kernel;
  kernel.insert(kernel.end(), {extent(site, channels_last(site) ? -1 : 2), Dim(kGates * filters)});
  recurrent.insert(recurrent.end(), {Dim(filters), Dim(kGates * filters)});
  Weights weights = {{"kernel", std::move(kernel)}, {"recurrent_kernel", std::move(recurrent)}};
  if (flag(site, "use_bias")) weights.push_back({"bias", {Dim(kGates * filters)}});
  if (flag(site, "masked")) weights.push_back({"mask", {extent(site, 0), extent(site, 1)}});
  return weights;
}

std::string output_first(Body& l, std::string_view name) {
  Integers perm = {l.layer.spatial + 1, l.layer.spatial};
  for (int i = 0; i < l.layer.spatial; ++i) perm.push_back(i);
  return l.transposed(l.weight(name), std::move(perm));
}

struct States {
  std::string hidden, cell;
};

// One step: what the input gives to the gates, and the states before ("" at the start).
States step(Body& l, const std::string& from_input, const States& before) {
  std::string sums = from_input;
  if (!before.hidden.empty()) {
    sums = l("Add", {sums, l("Conv", {before.hidden, output_first(l, "recurrent_kernel")},
                             {attribute("auto_pad", "SAME_UPPER")})});
  }
  const Names gates =
      l.b.many("Split", {sums}, kGates, {attribute("axis", 1), attribute("num_outputs", kGates)});
  const auto gate = [&](std::size_t i) { return l.activated(gates[i], "recurrent_activation"); };
  std::string cell = l("Mul", {gate(0), l.activated(gates[2])});
  if (!before.cell.empty()) cell = l("Add", {l("Mul", {gate(1), before.cell}), cell});
  return {l("Mul", {gate(3), l.activated(cell)}), cell};
}

// A step that does not count leaves the states as they are.
States counted(Body& l, std::int64_t time, const States& before, const States& after) {
  const std::string mask = l.weight("mask");
  if (mask.empty()) return after;
  const std::string here = l("Gather", {mask, l.b.integer(time)}, {attribute("axis", 1)});
  Integers axes;
  for (int i = 0; i < l.layer.spatial + 1; ++i) axes.push_back(i + 1);
  const std::string counts = l("Cast", {l("Unsqueeze", {here, l.b.integers(axes)})},
                               {attribute("to", static_cast<std::int64_t>(ElementType::boolean))});
  const auto chosen = [&](const std::string& now, const std::string& then) {
    return l("Where", {counts, now, then.empty() ? l.number(0) : then});
  };
  return {chosen(after.hidden, before.hidden), chosen(after.cell, before.cell)};
}

// The convolution of the input is the same for all steps, so it is one. The layer gives the states
// that `shown` are.
std::string conv_lstm_of(Body& l, std::string States::*shown) {
  Integers images = {-1};
  for (std::int64_t axis = 2; axis < l.rank(); ++axis) images.push_back(l.extent(axis));
  const std::string all = l("Conv",
                            {l.channels_first(l.reshaped(l.x, std::move(images))),
                             output_first(l, "kernel"), l.weight("bias")},
                            window_attributes(l.site, "kernel_size"));
  const std::int64_t time = l.extent(1);
  const std::string shape =
      l("Concat",
        {l("Shape", {l.x}, {attribute("end", 2)}), l("Shape", {all}, {attribute("start", 1)})},
        {attribute("axis", 0)});
  const std::string by_time = l("Reshape", {all, shape});
  States states;
  Names sequence;
  for (std::int64_t t = 0; t < time; ++t) {
    const std::int64_t at = flag(l.site, "go_backwards") ? time - 1 - t : t;
    const std::string from_input = l("Gather", {by_time, l.b.integer(at)}, {attribute("axis", 1)});
    states = counted(l, at, states, step(l, from_input, states));
    sequence.push_back(l("Unsqueeze", {l.as_data_format(states.*shown), l.b.integers({1})}));
  }
  if (l.gives(1)) l.give(1, l.as_data_format(states.hidden));
  if (l.gives(2)) l.give(2, l.as_data_format(states.cell));
  if (!flag(l.site, "return_sequences")) return l.as_data_format(states.*shown);
  return l("Concat", std::move(sequence), {attribute("axis", 1)});
}

std::string conv_lstm(Body& l) { return conv_lstm_of(l, &States::hidden); }

std::string cell_state_returned(Body& l) { return conv_lstm_of(l, &States::cell); }

void require_conv_lstm(Check& c) {
  c.positive({"filters", "kernel_size", "strides", "dilation_rate"});
  c.one_of("padding", {"valid", "same"});
  c.rank("x", exactly(layer_of(c.site).spatial + 3));
  require_activation(c);
  require_activation(c, "recurrent_activation");
}

Layer conv_lstm(std::string_view name, int spatial) {
  return {.name = name,
          .summary = "Long short-term memory whose products are convolutions.",
          .arguments = {count("filters"),
                        {"kernel_size", Role::sizes},
                        sizes("strides", {1}),
                        choice("padding", "valid"),
                        sizes("dilation_rate", {1}),
                        data_format(),
                        activation("tanh"),
                        {"recurrent_activation", Role::choice, "sigmoid", false, "hard_sigmoid"},
                        use_bias(),
                        flag_argument("return_sequences", false),
                        flag_argument("return_state", false),
                        flag_argument("go_backwards", false),
                        masked()},
          .spatial = spatial,
          .weights = conv_lstm_weights,
          .require = require_conv_lstm,
          .build = conv_lstm,
          .outputs = 3,
          .masks = Masks::use,
          .variants = {{"cell-state-returned", Variant::Kind::defect, "Keras 2.3.1 on CNTK 2.7",
                        reading<cell_state_returned>}}};
}

}  // namespace

std::vector<Layer> conv_recurrent_layers() {
  return {conv_lstm("ConvLSTM1D", 1), conv_lstm("ConvLSTM2D", 2), conv_lstm("ConvLSTM3D", 3)};
}

}  // namespace assay::keras
