#include "graph/graph.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay {

const AttributeValue* Node::find(std::string_view attribute) const {
  for (const Attribute& candidate : attributes) {
    const std::string& name = candidate.name;
    // Names of one length mostly differ in their first letter.
    if (name.size() == attribute.size() && (name.empty() || name[0] == attribute[0]) &&
        name == attribute) {
      return &candidate.value;
    }
  }
  return nullptr;
}

void Node::set(std::string attribute, AttributeValue value) {
  for (Attribute& candidate : attributes) {
    if (candidate.name == attribute) {
      candidate.value = std::move(value);
      return;
    }
  }
  attributes.push_back({std::move(attribute), std::move(value)});
}

const Function* Model::find_function(std::string_view domain, std::string_view name,
                                     std::string_view overload) const {
  for (const Function& function : functions) {
    if (function.name == name && function.domain == domain && function.overload == overload) {
      return &function;
    }
  }
  return nullptr;
}

std::string display_name(const Node& node, std::size_t position) {
  if (!node.name.empty()) return node.name;
  const auto named =
      std::ranges::find_if(node.outputs, [](const std::string& name) { return !name.empty(); });
  if (named != node.outputs.end()) return *named;
  return fmt::format("{}#{}", node.op.empty() ? "node" : node.op, position);
}

}  // namespace assay
