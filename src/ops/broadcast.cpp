#include "ops/broadcast.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace assay {
namespace {

// The standard's versions below 7 of operators that were born before it.
bool older_rule(const Site& site) { return site.version() < 7; }

// Where the second input begins among the first one's axes; nullopt if the rank is unknown.
std::optional<std::int64_t> alignment(const Site& site) {
  const auto a = site.rank(0), b = site.rank(1);
  if (!a || !b) return std::nullopt;
  if (!site.has("axis")) return *a - *b;
  const std::int64_t axis = site.integer("axis");
  return axis < 0 ? axis + *a : axis;
}

void refuse_alignment(Check& c, const Dims& a, const Dims& b, std::string_view why) {
  c.that(false, "Inconsistent Input Shapes", "broadcast", to_text(a), to_text(b), kShapeBadness,
         fmt::format("{}-{} takes a second input of shape {} beside {} only if {}",
                     c.site.node().op, c.site.version(), to_text(b), to_text(a), why));
}

// The second input is the first one's shape from axis `at` on. The text says that extents of one
// are not repeated unless all are one; the standard's own tests repeat them.
void require_alignment(Check& c, const Dims& a, const Dims& b, std::int64_t at) {
  if (at < 0 || at > static_cast<std::int64_t>(a.size()) - static_cast<std::int64_t>(b.size()))
    return refuse_alignment(c, a, b, "its axes lie among the first one's");
  bool certain = true;
  for (std::size_t d = 0; d < b.size(); ++d) {
    const Dim& under = a[static_cast<std::size_t>(at) + d];
    const bool repeated = b[d].same_as(1);
    if (!repeated && b[d].differs_from(under))
      return refuse_alignment(c, a, b, "its extents are the first one's or one");
    certain = certain && (repeated || b[d].same_as(under));
  }
  if (!certain) c.undecided("broadcast", "the extents of the inputs");
}

void require_older(Check& c) {
  const auto at = alignment(c.site);
  if (!at) return c.undecided("broadcast", "the ranks of the inputs");
  const Dims &a = *c.site.dims(0), &b = *c.site.dims(1);
  if (c.site.integer("broadcast") != 0) return require_alignment(c, a, b, *at);
  if (a.size() != b.size()) return refuse_alignment(c, a, b, "`broadcast` is 1");
  bool certain = true;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d].differs_from(b[d])) return refuse_alignment(c, a, b, "`broadcast` is 1");
    certain = certain && a[d].same_as(b[d]);
  }
  if (!certain) c.undecided("broadcast", "the extents of the inputs");
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
  if (!n.outputs.empty()) n.outputs[0].element = ElementType::boolean;
}

Meaning aligned(Meaning meaning) {
  return {meaning.pattern,
          [inner = std::move(meaning.evaluate)](Call& call) {
            if (!older_rule(call.site) || call.site.integer("broadcast") == 0) return inner(call);
            std::vector<Value> inputs(call.inputs.begin(), call.inputs.end());
            Shape shape = inputs[1].shape();
            const auto behind =
                static_cast<std::size_t>(inputs[0].tensor().rank() - *alignment(call.site));
            shape.resize(std::max(shape.size(), behind), 1);
            inputs[1] = inputs[1].reshaped(shape);
            const std::span<const Value> given = call.inputs;
            call.inputs = inputs;
            inner(call);
            call.inputs = given;
          },
          meaning.answers_interval};
}

void require_all_broadcast(Check& c) {
  if (c.site.version() >= 8) {
    c.broadcastable();
    return;
  }
  bool certain = true;
  for (std::size_t i = 0; i < c.site.input_count(); ++i) {
    const Dims *first = c.site.dims(0), *other = c.site.dims(i);
    if (!first || !other) return c.undecided("same-shape", "the ranks of the inputs");
    bool differs = first->size() != other->size();
    for (std::size_t d = 0; !differs && d < first->size(); ++d) {
      differs = (*first)[d].differs_from((*other)[d]);
      certain = certain && (*first)[d].same_as((*other)[d]);
    }
    if (!c.shape(!differs, "same-shape", to_text(*first), to_text(*other))) return;
  }
  if (!certain) c.undecided("same-shape", "the extents of the inputs");
}

BroadcastWalk::BroadcastWalk(const Shape& output, std::initializer_list<const Shape*> inputs) {
  std::vector<std::vector<std::int64_t>> strides;
  for (const Shape* input : inputs) strides.push_back(broadcast_strides(*input, output));
  strides_.resize(strides.size());
  for (std::size_t d = 0; d < output.size(); ++d) {
    if (output[d] == 1) continue;
    bool merges = !extents_.empty();
    for (std::size_t k = 0; merges && k < strides.size(); ++k)
      merges = strides_[k].back() == strides[k][d] * output[d];
    if (merges)
      extents_.back() *= output[d];
    else
      extents_.push_back(output[d]);
    for (std::size_t k = 0; k < strides.size(); ++k) {
      if (merges) strides_[k].pop_back();
      strides_[k].push_back(strides[k][d]);
    }
  }
  if (!extents_.empty()) return;
  extents_ = {1};
  for (auto& own : strides_) own = {0};
}

}  // namespace assay
