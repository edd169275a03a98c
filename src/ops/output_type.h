// Operators that name the element type of their output in an attribute.
#pragma once

#include <string_view>

#include "ops/operator.h"

namespace assay {

// The type that the attribute names; `fallback` if it is not given, undefined if it names none.
ElementType named_type(const Site& site, std::string_view attribute, ElementType fallback);

// The type is one that the standard allows for `constraint` ("T2"); rule "output-type".
bool require_named_type(Check& c, std::string_view constraint, ElementType type);

}  // namespace assay
