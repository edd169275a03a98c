#include "compare/change.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr double kLarge = 0.01;

}  // namespace

std::optional<Change> change_between(const std::vector<Spread>& spreads, const Graph& graph,
                                     const Answer& before, const Answer& after) {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value* first = before.find(graph.outputs[i].name);
    const Value* second = after.find(graph.outputs[i].name);
    if (!first || !second || !first->is_tensor() || !second->is_tensor()) continue;
    Change change{graph.outputs[i].name};
    if (first->type() != second->type() || first->shape() != second->shape()) {
      change.excess = std::numeric_limits<double>::infinity();
      change.form = true;
      return change;
    }
    Spread around = spreads[i];
    if (!around.value.is_tensor() || first->type() != around.value.type() ||
        first->shape() != around.value.shape()) {
      continue;
    }
    around.value = *first;
    change.excess = around.excess(*second, &change.element) / 2;  // each may be off, to either side
    if (change.excess > 1) return change;
  }
  return std::nullopt;
}

bool is_large_change(const std::vector<Spread>& spreads, const Graph& graph, const Answer& before,
                     const Answer& after) {
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    if (spreads[o].open) continue;  // chance may change it
    const Value* first = before.find(graph.outputs[o].name);
    const Value* second = after.find(graph.outputs[o].name);
    const bool comparable = first && second && first->is_tensor() && second->is_tensor() &&
                            first->shape() == second->shape() && is_real(first->type()) &&
                            is_real(second->type());
    if (!comparable) continue;
    const std::vector<double> a = first->tensor().reals(), b = second->tensor().reals();
    double largest = 0, change = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
      change = std::max(change, std::abs(a[i] - b[i]));
    }
    if (change > kLarge * largest) return true;
  }
  return false;
}

}  // namespace assay
