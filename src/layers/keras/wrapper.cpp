// Layers around another layer.
#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

// A node without a name, where a model has left the layer out.
const Node& node_inside(const Site& outer, std::string_view argument) {
  static const Node kNone;
  const Graph* graph = outer.graph(argument);
  return graph && !graph->nodes.empty() ? graph->nodes.front() : kNone;
}

// The layer inside, on the same input.
class Inner {
 public:
  explicit Inner(const Site& outer)
      : node_(inner_node(outer)), layer_(find_layer(node_.op)), site_(node_, outer.version()) {
    site_.inputs = outer.inputs;
  }
  // Without an input that is the wrapper's own.
  void leave_out(std::size_t input) {
    if (site_.inputs.size() <= input) return;
    site_.inputs.erase(site_.inputs.begin() + static_cast<std::ptrdiff_t>(input));
  }
  // On steps instead of sequences: batch and time are one axis.
  void take_steps() {
    if (site_.inputs.empty() || !site_.dims(0) || site_.dims(0)->size() < 2) return;
    Dims steps = *site_.dims(0);
    steps[1] = steps[0] * steps[1];
    steps.erase(steps.begin());
    site_.inputs.front().type.dims = std::move(steps);
  }
  Inner(const Inner&) = delete;
  Inner& operator=(const Inner&) = delete;

  const Layer* layer() const { return layer_; }
  const Site& site() const { return site_; }

 private:
  static Node inner_node(const Site& outer) {
    const Node& node = node_inside(outer, "layer");
    const Lookup found = find_operator(kDomain, node.op, outer.version());
    return found.schema ? complete(node, *found.schema) : node;
  }

  Node node_;
  const Layer* layer_;
  Site site_;
};

Weights inner_weights(const Inner& inner) {
  return inner.layer() && inner.layer()->weights ? inner.layer()->weights(inner.site()) : Weights();
}

Weights step_weights(const Site& site) {
  Inner inner(site);
  inner.take_steps();
  return inner_weights(inner);
}

bool is_layer_of_one_input(Check& c, const Inner& inner) {
  return c.argument(inner.layer() && inner.layer()->inputs.size() == 1, "layer",
                    "a known layer of one input", inner.site().node().op);
}

void require_inside(Check& c, const Inner& inner) {
  const Lookup found = find_operator(kDomain, inner.layer()->name, c.site.version());
  Check inside(inner.site(), *found.schema);
  check_node(inside, *found.entry, *found.schema);
  c.violations = std::move(inside.violations);
}

void require_steps(Check& c) {
  Inner inner(c.site);
  inner.take_steps();
  if (is_layer_of_one_input(c, inner) && c.rank("x", at_least(3))) require_inside(c, inner);
}

std::string time_distributed(Body& l) {
  Inner inner(l.site);
  inner.take_steps();
  Integers steps = {-1};
  for (std::int64_t axis = 2; axis < l.rank(); ++axis) steps.push_back(l.extent(axis));
  Names inputs = {l.reshaped(l.x, std::move(steps))};
  for (std::size_t i = 1; i < l.site.input_count(); ++i) inputs.push_back(l.input(i));
  Body body(l.b, *inner.layer(), inner.site(), std::move(inputs));
  const std::string y = inner.layer()->build(body);
  const std::string first = l("Shape", {l.x}, {attribute("end", 2)});
  const std::string rest = l("Shape", {y}, {attribute("start", 1)});
  return l("Reshape", {y, l("Concat", {first, rest}, {attribute("axis", 0)})});
}

// Training finds the kernel's norm with a vector, which comes behind the kernel. What is kept has
// been divided by the norm.
constexpr std::size_t kVector = 2;  // among the inputs

Weights spectral_weights(const Site& site) {
  Inner inner(site);
  inner.leave_out(kVector);
  Weights weights = inner_weights(inner);
  if (weights.empty()) return weights;
  const Dims& kernel = weights.front().shape;
  const Dim columns = kernel.empty() ? Dim() : kernel.back();
  weights.insert(weights.begin() + 1, {"vector_u", {Dim(1), columns}, 0, false});
  return weights;
}

void require_spectral(Check& c) {
  c.positive({"power_iterations"});
  Inner inner(c.site);
  inner.leave_out(kVector);
  if (!is_layer_of_one_input(c, inner)) return;
  const Weights weights = inner_weights(inner);
  const bool kernel =
      !weights.empty() && (weights[0].name == "kernel" || weights[0].name == "embeddings");
  if (c.argument(kernel, "kernel", "a layer with a kernel", inner.site().node().op)) {
    require_inside(c, inner);
  }
}

std::string spectral(Body& l) {
  Inner inner(l.site);
  inner.leave_out(kVector);
  Names inputs;
  for (std::size_t i = 0; i < l.site.input_count(); ++i) {
    if (i != kVector) inputs.push_back(l.input(i));
  }
  Body body(l.b, *inner.layer(), inner.site(), std::move(inputs));
  return inner.layer()->build(body);
}

// One of the two directions of a Bidirectional: a layer, its site, and where its weights begin.
class Direction {
 public:
  Direction(const Site& outer, bool backward)
      : node_(direction_node(outer, backward)),
        layer_(find_layer(node_.op)),
        site_(node_, outer.version()) {
    if (!layer_) return;
    const std::size_t own = layer_->inputs.size();
    if (!outer.inputs.empty()) site_.inputs = {outer.inputs.front()};
    site_.inputs.resize(own);
    first_ = 1;
    if (backward) first_ += Direction(outer, false).weights().size();
    for (std::size_t i = first_; i < first_ + weights().size() && i < outer.inputs.size(); ++i) {
      site_.inputs.push_back(outer.inputs[i]);
    }
  }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  const Layer* layer() const { return layer_; }
  const Site& site() const { return site_; }
  std::size_t first() const { return first_; }
  Weights weights() const {  // without the mask, which both directions share
    Weights all = layer_ && layer_->weights ? layer_->weights(site_) : Weights();
    if (flag(site_, "masked") && !all.empty()) all.pop_back();
    return all;
  }
  bool recurs() const { return layer_ && node_.find("go_backwards") != nullptr; }

 private:
  // Without a layer of its own, the way back is the same layer with time turned round.
  static Node direction_node(const Site& outer, bool backward) {
    const bool own = backward && outer.has("backward_layer");
    const Node& node = node_inside(outer, own ? "backward_layer" : "layer");
    const Lookup found = find_operator(kDomain, node.op, outer.version());
    Node whole = found.schema ? complete(node, *found.schema) : node;
    const AttributeValue* given = whole.find("go_backwards");
    const auto* turned = given ? std::get_if<std::int64_t>(given) : nullptr;
    if (backward && !own && turned) whole.set("go_backwards", std::int64_t{*turned == 0});
    // Steps that do not count are zero in both, so that the way back says nothing of them.
    if (flag(outer, "masked")) {
      const AttributeValue* all = whole.find("return_sequences");
      const AttributeValue zero = all ? *all : AttributeValue(std::int64_t{0});
      whole.set("masked", std::int64_t{1}), whole.set("zero_output_for_mask", zero);
    }
    return whole;
  }

  Node node_;
  const Layer* layer_;
  Site site_;
  std::size_t first_ = 1;
};

Weights both_weights(const Site& site) {
  Weights weights = Direction(site, false).weights();
  for (const Weight& one : Direction(site, true).weights()) weights.push_back(one);
  if (flag(site, "masked")) weights.push_back({"mask", {extent(site, 0), extent(site, 1)}});
  return weights;
}

void require_both(Check& c) {
  c.one_of("merge_mode", {"concat", "sum", "ave", "mul", "none"});
  for (bool backward : {false, true}) {
    const Direction one(c.site, backward);
    if (!c.argument(one.recurs(), "layer", "a recurrent layer", one.site().node().op)) return;
    const Lookup found = find_operator(kDomain, one.layer()->name, c.site.version());
    Check inside(one.site(), *found.schema);
    one.layer()->require(inside);
    for (Violation& violation : inside.violations) c.violations.push_back(std::move(violation));
    if (!c.violations.empty()) return;
  }
}

// Puts the last states behind those of the other direction, if one asks for them.
std::string in_direction(Body& l, bool backward, Names& states) {
  const Direction one(l.site, backward);
  Names inputs = {l.x};
  inputs.resize(one.layer()->inputs.size());
  for (std::size_t i = 0; i < one.weights().size(); ++i) inputs.push_back(l.input(one.first() + i));
  if (flag(l.site, "masked")) inputs.push_back(l.weight("mask"));
  Body body(l.b, *one.layer(), one.site(), std::move(inputs));
  if (flag(one.site(), "return_state")) body.more = &states;
  std::string y = one.layer()->build(body);
  if (!backward || !flag(one.site(), "return_sequences")) return y;
  return l("Slice", {y, l.b.integers({-1}), l.b.integers({INT64_MIN}), l.b.integers({1}),
                     l.b.integers({-1})});
}

std::string bidirectional(Body& l) {
  Names states;
  std::string there = in_direction(l, false, states);
  const std::string back = in_direction(l, true, states);
  const std::string& mode = l.site.text("merge_mode");
  if (mode == "none") states.insert(states.begin(), back);
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (l.gives(i + 1)) l.give(i + 1, states[i]);
  }
  if (mode == "none") return there;
  if (mode == "sum") return l("Add", {there, back});
  if (mode == "mul") return l("Mul", {there, back});
  if (mode == "ave") return l("Mean", {there, back});
  return l("Concat", {there, back}, {attribute("axis", -1)});
}

// Of both directions what one gives; merged, their first outputs are one.
std::size_t both_results(const Node& node) {
  const Graph* inside = layers_inside(node, "layer");
  if (!inside) return 1;
  const AttributeValue* merged = node.find("merge_mode");
  const auto* mode = merged ? std::get_if<std::string>(merged) : nullptr;
  return 2 * outputs_of(inside->nodes.front()) - (mode && *mode == "none" ? 0 : 1);
}

}  // namespace

std::vector<Layer> wrapper_layers() {
  return {{.name = "Bidirectional",
           .summary = "A recurrent layer forwards and backwards in time, both merged.",
           .arguments = {{"layer", Role::body},
                         {"backward_layer", Role::body, {}, true},
                         choice("merge_mode", "concat"),
                         masked()},
           .weights = both_weights,
           .require = require_both,
           .build = bidirectional,
           .outputs = 6,
           .results = both_results,
           .masks = Masks::use},
          {.name = "TimeDistributed",
           .summary = "A layer on each step of a sequence.",
           .arguments = {{"layer", Role::body}},
           .weights = step_weights,
           .require = require_steps,
           .build = time_distributed,
           .masks = Masks::pass},
          {.name = "SpectralNormalization",
           .summary = "A layer whose kernel training keeps at the norm 1.",
           .arguments = {{"layer", Role::body}, {"power_iterations", Role::count, std::int64_t{1}}},
           .weights = spectral_weights,
           .require = require_spectral,
           .build = spectral,
           .learns = true}};
}

}  // namespace assay::keras
