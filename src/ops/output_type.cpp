#include "ops/output_type.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay {

ElementType named_type(const Site& site, std::string_view attribute, ElementType fallback) {
  if (!site.has(attribute)) return fallback;
  const std::int64_t type = site.integer(attribute);
  return type > 0 && type < kElementTypeCount ? static_cast<ElementType>(type)
                                              : ElementType::undefined;
}

bool require_named_type(Check& c, std::string_view constraint, ElementType type) {
  const Schema* schema = find_schema("", c.site.node().op, c.site.version());
  const TypeConstraint* types = schema ? schema->find_constraint(constraint) : nullptr;
  const std::string name =
      type == ElementType::undefined ? "none" : fmt::format("tensor({})", standard_name(type));
  const bool allowed = types && std::find(types->allowed.begin(), types->allowed.end(), name) !=
                                    types->allowed.end();
  return c.argument(allowed, "output-type", fmt::format("a type of {}", constraint), name);
}

void require_room(const Call& call) {
  Tensor::require_room(call.output_type(0), call.output_shape(0));
}

}  // namespace assay
