#include "compare/drawn.h"

#include <algorithm>

#include "compare/agreement.h"
#include "ops/operator.h"

namespace assay {
namespace {

constexpr std::uint64_t kSeeds = 8;

// Without a seed of its own, which others read in their own way.
Node without_seed(const PlannedNode& planned) {
  Node node = planned.node;
  std::erase_if(node.attributes, [&](const Attribute& attribute) {
    const auto& known = planned.found.entry->attributes;
    return std::any_of(known.begin(), known.end(), [&](const auto& one) {
      return one.role == Role::seed && one.name == attribute.name;
    });
  });
  return node;
}

}  // namespace

bool is_drawn(const PlannedNode& node, std::span<const Value> inputs) {
  if (!node.found.entry || node.found.entry->meaning.pattern != Pattern::random) return false;
  const Node free = without_seed(node);
  std::vector<Value> first;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Result<std::vector<Value>> outputs = evaluate_node(free, node.found.schema->since_version,
                                                             inputs, Reading::value, nullptr, seed);
    if (!outputs) return false;
    if (first.empty()) first = *outputs;
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      if (!agrees(first[i], (*outputs)[i], {0, 0}).agrees) return true;
    }
  }
  return false;
}

}  // namespace assay
