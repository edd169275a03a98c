// Look-up in the table of schemas, which is constant data: nothing runs at start-up.
#include "ops/schema.h"

#include <algorithm>
#include <tuple>

namespace assay {
namespace {

using namespace std::string_view_literals;

#include "generated/onnx_schemas.inc"

// The element of a list sorted by name that has this name, or nullptr.
template <class Named>
const Named* find_sorted(std::span<const Named> list, std::string_view name) {
  const auto found = std::ranges::lower_bound(list, name, {}, &Named::name);
  return found != list.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

const AttributeFormal* Schema::find_attribute(std::string_view attribute) const {
  return find_sorted(attributes, attribute);
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
