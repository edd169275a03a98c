// Operators that name the element type of their output in an attribute.
#pragma once

#include <string_view>

#include "ops/operator.h"

namespace assay {

// The type that the attribute names; `fallback` if it is not given, undefined if it names none.
ElementType named_type(const Site& site, std::string_view attribute, ElementType fallback);

// The type is one that the standard allows for `constraint` ("T2"); rule "output-type".
bool require_named_type(Check& c, std::string_view constraint, ElementType type);

// Throws what a tensor beyond the memory limit throws, before a body builds anything larger.
void require_room(const Call& call);

}  // namespace assay
