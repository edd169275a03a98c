// What the role of an attribute says about its values: legal ones to draw, hostile ones to try.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"
#include "ops/schema.h"

namespace assay {

// Extreme values of the right kind: zero, negative, enormous, NaN, wrong length, unknown words.
// Each must be refused with a rule id or evaluated; which, the operator's case file says.
// `like` is a legal value, whose length hostile lists vary; null if there is none.
std::vector<AttributeValue> hostile_values(Role role, AttributeKind kind,
                                           const AttributeValue* like);

// Ordinary values, for tensors of rank `rank`; not each fits every node, so a generator asks the
// entry's preconditions afterwards.
std::vector<AttributeValue> legal_values(Role role, AttributeKind kind, std::int64_t rank);

}  // namespace assay
