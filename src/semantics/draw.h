// Inputs drawn at random, for a model that is to be run without data.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "graph/value.h"

namespace assay {

struct DrawOptions {
  std::uint64_t seed = 0;
  std::map<std::string, std::int64_t> extents;  // of named dimensions; all others are 1
};

// Floats from [0, 1), integers 0 or 1 (which fit as indices, masks and lengths), booleans, short
// words. The same seed and name give the same value. A type that is not a tensor of known rank is
// an Error of kind "usage".
Result<Value> draw(const std::string& name, const ValueType& type, const DrawOptions& options);

}  // namespace assay
