// Look-up in the table of schemas, which is constant data: nothing runs at start-up.
#include "ops/schema.h"

#include <algorithm>
#include <tuple>

namespace assay {
namespace {

using namespace std::string_view_literals;

#include "generated/onnx_schemas.inc"

}  // namespace

const AttributeFormal* Schema::find_attribute(std::string_view attribute) const {
  // There are few, and names of different lengths differ at once.
  const auto found = std::ranges::find(attributes, attribute, &AttributeFormal::name);
  return found != attributes.end() ? &*found : nullptr;
}

const TypeConstraint* Schema::find_constraint(std::string_view type) const {
  const auto found = std::ranges::find(constraints, type, &TypeConstraint::name);
  return found != constraints.end() ? &*found : nullptr;
}

std::span<const Schema> schemas() { return kSchemas; }

const Schema* find_schema(std::string_view domain, std::string_view name, int opset) {
  if (domain == "ai.onnx") domain = "";
  const auto key = [](const Schema& s) { return std::tuple(s.domain, s.name, s.since_version); };
  const auto after = std::ranges::upper_bound(schemas(), std::tuple(domain, name, opset), {}, key);
  if (after == schemas().begin()) return nullptr;
  const Schema& newest = *(after - 1);
  return newest.domain == domain && newest.name == name ? &newest : nullptr;
}

}  // namespace assay
