// Scan, whose meaning changed between version 8, with a batch axis, and version 9.
#pragma once

#include <string_view>

#include "ops/operator.h"

namespace assay {

Operator scan();
Operator scan_of_batches();  // version 8

// Shared by all that run a body again and again.
// The parts one behind the other along a new axis; with none, a tensor of the body's declared type
// whose new axis has no extent. "unknown" if a part is.
Value stacked(const Call& call, std::vector<Value> parts, const NamedType& declared,
              std::int64_t axis = 0);
// Says that the answer is unknown where an output is.
void note_unknown(Call& call);
// A body takes and gives as many values as the node says.
bool require_body(Check& c, std::string_view attribute, std::size_t inputs, std::size_t outputs);

}  // namespace assay
