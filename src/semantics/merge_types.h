// Two statements about the type of one value put together, and types that the standard's table
// alone gives.
#pragma once

#include <optional>
#include <string>

#include "ops/check.h"

namespace assay {

// Adds what `declared` knows to `type`. Where they contradict each other, `type` stays as it is and
// the violation says what `what` ("value 'y'") is declared and found to be.
std::optional<Violation> merge_declared(ValueType& type, const ValueType& declared,
                                        const std::string& what);

// Types of a node's outputs as far as the names of the schema's type constraints tell: element
// types without shapes.
std::vector<ValueType> types_from_schema(const Schema& schema, const Site& site);

}  // namespace assay
