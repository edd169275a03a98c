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
  const std::string rest = l("Shape", {y}, {attribute("start", 1)});
  return l("Reshape", {y, l("Concat", {l.b.integers({l.extent(0), l.extent(1)}), rest},
                            {attribute("axis", 0)})});
}

}  // namespace

std::vector<Layer> wrapper_layers() {
  return {{.name = "TimeDistributed",
           .summary = "A layer on each step of a sequence.",
           .arguments = {{"layer", Role::body}},
           .weights = inner_weights,
           .require = require_inner,
           .build = time_distributed}};
}

}  // namespace assay::keras
