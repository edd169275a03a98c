// Recurrent cells on top of each other.
#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr int kMostStates = 64;

// One of the cells, as the layer that takes the sequence which the cell below gives.
class Storey {
 public:
  Storey(const Site& outer, std::size_t place)
      : node_(layer_node(outer, place)),
        layer_(find_layer(node_.op)),
        site_(node_, outer.version()) {
    if (!layer_ || outer.inputs.empty()) return;
    site_.inputs = {outer.inputs.front()};
    Dims* dims = site_.inputs.front().type.dims ? &*site_.inputs.front().type.dims : nullptr;
    if (place > 0 && dims && dims->size() == 3) {
      dims->back() = Dim(Storey(outer, place - 1).site().integer("units"));
    }
    site_.inputs.resize(layer_->inputs.size());
  }
  Storey(const Storey&) = delete;
  Storey& operator=(const Storey&) = delete;

  const Layer* layer() const { return layer_; }
  const Site& site() const { return site_; }
  Weights weights() const {
    Weights all = layer_ && layer_->weights ? layer_->weights(site_) : Weights();
    if (flag(site_, "masked")) all.pop_back();
    return all;
  }

 private:
  static Node layer_node(const Site& outer, std::size_t place) {
    const std::vector<Node>& cells = outer.graph("cells")->nodes;
    Node node = cells[place];
    if (node.op.ends_with("Cell")) node.op.resize(node.op.size() - 4);
    const bool inside = place + 1 < cells.size() || flag(outer, "return_sequences");
    node.set("return_sequences", std::int64_t{inside});
    node.set("return_state", outer.integer("return_state"));
    node.set("masked", outer.integer("masked"));
    node.set("zero_output_for_mask", outer.integer("zero_output_for_mask"));
    const Lookup found = find_operator(kDomain, node.op, outer.version());
    return found.schema ? complete(node, *found.schema) : node;
  }

  Node node_;
  const Layer* layer_;
  Site site_;
};

std::size_t cells_of(const Site& site) {
  const Graph* cells = site.graph("cells");
  return cells ? cells->nodes.size() : 0;
}

Weights stacked_weights(const Site& site) {
  Weights all;
  for (std::size_t i = 0; i < cells_of(site); ++i) {
    for (const Weight& one : Storey(site, i).weights()) all.push_back(one);
  }
  if (flag(site, "masked")) all.push_back({"mask", {extent(site, 0), extent(site, 1)}});
  return all;
}

std::string turned(Body& l, const std::string& value) {
  if (!flag(l.site, "go_backwards")) return value;
  return l("Slice", {value, l.b.integers({-1}), l.b.integers({INT64_MIN}), l.b.integers({1}),
                     l.b.integers({-1})});
}

// A cell gives the whole sequence to the one above: no step of one waits for a later one. The last
// states of each follow each other.
std::string stacked(Body& l) {
  std::string y = turned(l, l.x);
  Names states;
  std::size_t next = 1;
  for (std::size_t i = 0; i < cells_of(l.site); ++i) {
    const Storey one(l.site, i);
    Names inputs = {y};
    inputs.resize(one.layer()->inputs.size());
    for (std::size_t k = one.weights().size(); k > 0; --k) inputs.push_back(l.input(next++));
    if (flag(l.site, "masked")) inputs.push_back(turned(l, l.weight("mask")));
    Body body(l.b, *one.layer(), one.site(), std::move(inputs));
    if (flag(l.site, "return_state")) body.more = &states;
    y = one.layer()->build(body);
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (l.gives(i + 1)) l.give(i + 1, states[i]);
  }
  return y;
}

std::size_t stacked_results(const Node& node) {
  const Graph* cells = layers_inside(node, "cells");
  std::size_t count = 1;
  if (!asks_for(node, "return_state") || !cells) return count;
  for (const Node& cell : cells->nodes) {
    const Layer* layer = find_layer(cell.op);
    count += layer ? static_cast<std::size_t>(layer->outputs - 1) : 0;
  }
  return count;
}

void require_stacked(Check& c) {
  const std::size_t count = cells_of(c.site);
  c.argument(count > 0 && count <= kMostStates / 2, "cells",
             fmt::format("one to {} cells", kMostStates / 2), fmt::format("{}", count));
  for (std::size_t i = 0; i < cells_of(c.site) && c.violations.empty(); ++i) {
    const std::string& op = c.site.graph("cells")->nodes[i].op;
    const Storey one(c.site, i);
    if (!c.argument(op.ends_with("Cell") && one.layer(), "cells", "cells that Keras has", op)) {
      return;
    }
    Check inside(one.site(), *find_operator(kDomain, one.layer()->name, c.site.version()).schema);
    one.layer()->require(inside);
    c.violations = std::move(inside.violations);
  }
}

}  // namespace

std::vector<Layer> stacked_layers() {
  return {{.name = "StackedRNNCells",
           .summary = "An RNN of several cells, each on what the one below gives.",
           .arguments = {{"cells", Role::body},
                         flag_argument("return_sequences", false),
                         flag_argument("return_state", false),
                         flag_argument("go_backwards", false),
                         flag_argument("zero_output_for_mask", false),
                         masked()},
           .weights = stacked_weights,
           .require = require_stacked,
           .build = stacked,
           .outputs = 1 + kMostStates,
           .results = stacked_results,
           .masks = Masks::use}};
}

}  // namespace assay::keras
