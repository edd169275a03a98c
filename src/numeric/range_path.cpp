#include "numeric/range_path.h"

#include <algorithm>
#include <utility>

#include "numeric/shown_name.h"
#include "ops/operator.h"

namespace assay {
namespace {

constexpr std::size_t kLongest = 1000;      // steps that are told
constexpr std::size_t kMostPassed = 10000;  // values: those of a loop may lead around in a circle

// How far a range reaches; what is NaN reaches furthest.
double reach_of(const Interval& range) {
  if (!range.has_number()) return HUGE_VAL;
  return std::max(std::fabs(range.low), std::fabs(range.high));
}

bool varies(const Abstract& value) {
  if (!value.is_tensor() || value.exact.defined() || value.cells.empty()) return false;
  const Interval range = hull_of(value);
  return !(range.low == range.high);
}

bool moves(const PlannedNode& node) {
  return node.found.entry && node.found.entry->meaning.pattern == Pattern::move;
}

}  // namespace

const RangePaths::Made* RangePaths::find_in_main(const std::string& value) const {
  for (std::size_t slot = 0; slot < main_.size(); ++slot) {
    const PlannedNode* node = main_[slot].node;
    for (std::size_t i = 0; node && i < node->outputs.size(); ++i)
      if (node->outputs[i] == static_cast<int>(slot) && node->node.outputs[i] == value)
        return &main_[slot];
  }
  return nullptr;
}

// A graph inside of a node reads what is made around it, too.
const RangePaths::Made* RangePaths::find(std::string& path, const Operand& value) const {
  if (path.empty()) {
    const auto slot = static_cast<std::size_t>(value.slot);
    return value.slot >= 0 && slot < main_.size() && main_[slot].node ? &main_[slot] : nullptr;
  }
  for (std::string around = std::exchange(path, {}); !around.empty();) {
    const auto found = inner_.find(around + *value.value);
    if (found != inner_.end()) {
      path = found->second.path;
      return &found->second.made;
    }
    around.pop_back();  // "loop/body/": first the attribute, then the node
    for (int part = 0; part < 2; ++part) {
      const std::size_t slash = around.rfind('/');
      around.erase(slash == std::string::npos ? 0 : slash + (part == 1 ? 1 : 0));
    }
  }
  return find_in_main(*value.value);
}

RangePaths::Operand RangePaths::widest_of(const PlannedNode& node,
                                          std::span<const Abstract> inputs) {
  Operand widest;
  for (std::size_t i = 0; i < inputs.size() && i < node.node.inputs.size(); ++i) {
    if (!varies(inputs[i])) continue;
    const Interval range = hull_of(inputs[i]);
    if (widest.value && reach_of(range) <= reach_of(widest.range)) continue;
    widest = {&node.node.inputs[i], node.inputs[i].slot, range};
  }
  return widest;
}

void RangePaths::note(const Analyzed& seen) {
  const Operand widest = widest_of(seen.node, seen.inputs);
  for (std::size_t i = 0; i < seen.outputs.size() && i < seen.node.node.outputs.size(); ++i) {
    if (!varies(seen.outputs[i])) continue;
    const Made made{&seen.node, hull_of(seen.outputs[i]), widest};
    if (!seen.path.empty()) {
      inner_.insert_or_assign(seen.path + seen.node.node.outputs[i], MadeInside{seen.path, made});
    } else if (seen.node.outputs[i] >= 0) {
      const auto slot = static_cast<std::size_t>(seen.node.outputs[i]);
      main_.grow(slot + 1);
      main_[slot] = made;
    }
  }
}

std::vector<LintStep> RangePaths::to(const PlannedNode& node, const std::string& path,
                                     std::span<const Abstract> inputs) const {
  std::vector<LintStep> steps;
  Operand next = widest_of(node, inputs);
  std::string around = path;
  for (std::size_t passed = 0; next.value && passed < kMostPassed; ++passed) {
    if (steps.size() == kLongest) break;
    const Made* made = find(around, next);
    if (!made) {
      steps.push_back({*next.value, "", next.range});
      break;
    }
    const std::string name = shown_name(made->node->node, around + *next.value);
    // What only moves elements says nothing of their range. A framework's operation may stand as
    // several nodes; its last value is its result.
    if (!moves(*made->node) && (steps.empty() || steps.back().name != name))
      steps.push_back({name, origin_op(made->node->node), made->range});
    next = made->widest;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace assay
