#include "graph/origin.h"

#include <algorithm>

namespace assay {

const std::string* find_property(const Properties& properties, std::string_view key) {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const auto& property) { return property.first == key; });
  return found == properties.end() ? nullptr : &found->second;
}

Properties origin_of(const std::string& name, const std::string& op) {
  Properties origin;  // a list in braces would be copied
  origin.reserve(2);
  origin.emplace_back(kOriginNode, name);
  origin.emplace_back(kOriginOp, op);
  return origin;
}

const std::string& origin_name(const Node& node) {
  const std::string* name = find_property(node.metadata, kOriginNode);
  return name ? *name : node.name;
}

const std::string& origin_op(const Node& node) {
  const std::string* op = find_property(node.metadata, kOriginOp);
  return op ? *op : node.op;
}

bool is_parameter(const NamedType& input) {
  const std::string* part = find_property(input.metadata, kOriginPart);
  return part && *part == "parameter";
}

}  // namespace assay
