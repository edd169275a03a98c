#include "ops/broadcast.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

// The standard's versions below 7 of operators that were born before it.
bool older_rule(const Site& site) {
  return site.version() < 7 && (site.has("broadcast") || site.input_count() == 2);
}

// Where the second input begins among the first one's axes; nullopt if the rank is unknown.
std::optional<std::int64_t> alignment(const Site& site) {
  const auto a = site.rank(0), b = site.rank(1);
  if (!a || !b) return std::nullopt;
  if (!site.has("axis")) return *a - *b;
  const std::int64_t axis = site.integer("axis");
  return axis < 0 ? axis + *a : axis;
}

void require_older(Check& c) {
  if (c.site.integer("broadcast") == 0) {
    c.same_shape("A", "B");
    return;
  }
  const auto at = alignment(c.site);
  if (!at) return c.undecided("broadcast", "the ranks of A and B");
  const Dims &a = *c.site.dims(0), &b = *c.site.dims(1);
  bool fits = *at >= 0 && *at + static_cast<std::int64_t>(b.size()) <= static_cast<std::int64_t>(a.size());
  for (std::size_t d = 0; fits && d < b.size(); ++d) {
    const Dim& under = a[static_cast<std::size_t>(*at) + d];
    fits = !b[d].differs_from(under) || (b[d].known() && b[d].value == 1);
  }
  c.that(fits, "Inconsistent Input Shapes", "broadcast", to_text(a), to_text(b), kShapeBadness,
         fmt::format("{} cannot align B of shape {} at axis {} of A of shape {}", c.site.node().op,
                     to_text(b), *at, to_text(a)));
}

}  // namespace

void require_broadcast(Check& c) {
  if (older_rule(c.site))
    require_older(c);
  else
    c.broadcastable();
}

void infer_broadcast(Infer& n) {
  if (older_rule(n.site))
    n.output(0, n.site.type(0));
  else
    broadcast_all(n);
}

void infer_comparison(Infer& n) {
  infer_broadcast(n);
  n.outputs[0].element = ElementType::boolean;
}

Meaning aligned(Meaning meaning) {
  return {meaning.pattern,
          [inner = meaning.evaluate](Call& call) {
            if (!older_rule(call.site) || call.site.integer("broadcast") == 0) return inner(call);
            std::vector<Value> inputs(call.inputs.begin(), call.inputs.end());
            Shape shape = inputs[1].shape();
            const auto behind = static_cast<std::size_t>(inputs[0].tensor().rank() - *alignment(call.site));
            shape.resize(std::max(shape.size(), behind), 1);
            inputs[1] = inputs[1].reshaped(shape);
            const std::span<const Value> given = call.inputs;
            call.inputs = inputs;
            inner(call);
            call.inputs = given;
          },
          meaning.answers_interval};
}

}  // namespace assay
