// Layers around another layer.
#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

// The layer inside, on steps instead of sequences: batch and time are one axis.
class Inner {
 public:
  explicit Inner(const Site& outer)
      : node_(inner_node(outer)), layer_(find_layer(node_.op)), site_(node_, outer.version()) {
    site_.inputs = outer.inputs;
    if (site_.inputs.empty() || !outer.dims(0) || outer.dims(0)->size() < 2) return;
    Dims steps = *outer.dims(0);
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
    const Node& node = outer.graph("layer")->nodes.front();
    const Lookup found = find_operator(kDomain, node.op, outer.version());
    return found.schema ? complete(node, *found.schema) : node;
  }

  Node node_;
  const Layer* layer_;
  Site site_;
};

Weights inner_weights(const Site& site) {
  const Inner inner(site);
  return inner.layer() && inner.layer()->weights ? inner.layer()->weights(inner.site()) : Weights();
}

void require_inner(Check& c) {
  const Inner inner(c.site);
  if (!c.argument(inner.layer() && inner.layer()->inputs.size() == 1, "layer",
                  "a known layer of one input", inner.site().node().op) ||
      !c.rank("x", at_least(3))) {
    return;
  }
  const Lookup found = find_operator(kDomain, inner.layer()->name, c.site.version());
  Check inside(inner.site(), *found.schema);
  check_node(inside, *found.entry, *found.schema);
  c.violations = std::move(inside.violations);
}

std::string time_distributed(Body& l) {
  const Inner inner(l.site);
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
  Weights weights() const { return layer_ && layer_->weights ? layer_->weights(site_) : Weights(); }
  bool recurs() const { return layer_ && node_.find("go_backwards") != nullptr; }

 private:
  // Without a layer of its own, the way back is the same layer with time turned round.
  static Node direction_node(const Site& outer, bool backward) {
    const bool own = backward && outer.has("backward_layer");
    const Node& node = outer.graph(own ? "backward_layer" : "layer")->nodes.front();
    const Lookup found = find_operator(kDomain, node.op, outer.version());
    Node whole = found.schema ? complete(node, *found.schema) : node;
    const AttributeValue* given = whole.find("go_backwards");
    const auto* turned = given ? std::get_if<std::int64_t>(given) : nullptr;
    if (backward && !own && turned) whole.set("go_backwards", std::int64_t{*turned == 0});
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
  return weights;
}

void require_both(Check& c) {
  c.one_of("merge_mode", {"concat", "sum", "ave", "mul"});
  for (bool backward : {false, true}) {
    const Direction one(c.site, backward);
    if (!c.argument(one.recurs(), "layer", "a recurrent layer", one.site().node().op)) return;
    c.argument(!flag(one.site(), "return_state"), "return_state", "a layer without states", "one");
    const Lookup found = find_operator(kDomain, one.layer()->name, c.site.version());
    Check inside(one.site(), *found.schema);
    one.layer()->require(inside);
    for (Violation& violation : inside.violations) c.violations.push_back(std::move(violation));
    if (!c.violations.empty()) return;
  }
}

std::string in_direction(Body& l, bool backward) {
  const Direction one(l.site, backward);
  Names inputs = {l.x};
  inputs.resize(one.layer()->inputs.size());
  for (std::size_t i = 0; i < one.weights().size(); ++i) inputs.push_back(l.input(one.first() + i));
  Body body(l.b, *one.layer(), one.site(), std::move(inputs));
  const std::string y = one.layer()->build(body);
  if (!backward || !flag(one.site(), "return_sequences")) return y;
  return l("Slice", {y, l.b.integers({-1}), l.b.integers({INT64_MIN}), l.b.integers({1}),
                     l.b.integers({-1})});
}

std::string bidirectional(Body& l) {
  const std::string there = in_direction(l, false), back = in_direction(l, true);
  const std::string& mode = l.site.text("merge_mode");
  if (mode == "sum") return l("Add", {there, back});
  if (mode == "mul") return l("Mul", {there, back});
  if (mode == "ave") return l("Mean", {there, back});
  return l("Concat", {there, back}, {attribute("axis", -1)});
}

}  // namespace

std::vector<Layer> wrapper_layers() {
  return {{.name = "Bidirectional",
           .summary = "A recurrent layer forwards and backwards in time, both merged.",
           .arguments = {{"layer", Role::body},
                         {"backward_layer", Role::body, {}, true},
                         choice("merge_mode", "concat")},
           .weights = both_weights,
           .require = require_both,
           .build = bidirectional,
           .masks = Masks::refuse},
          {.name = "TimeDistributed",
           .summary = "A layer on each step of a sequence.",
           .arguments = {{"layer", Role::body}},
           .weights = inner_weights,
           .require = require_inner,
           .build = time_distributed,
           .masks = Masks::pass}};
}

}  // namespace assay::keras
