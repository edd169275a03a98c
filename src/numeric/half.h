// What if the model were computed in a shorter format: which operations then fail that do not in
// float32, and which few of them must stay in float32 so that none does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/value.h"
#include "numeric/judge.h"
#include "numeric/retype.h"

namespace assay {

struct HalfOptions {
  ElementType type = ElementType::f16;
  Setting setting;
  std::uint64_t seed = 0;
  double seconds = 20;  // for the search
};

// For all inputs and parameters in their ranges.
HalfResult lint_as(const Model& model, const Roots& roots, const HalfOptions& options);
// For one run on these inputs.
Result<HalfResult> run_as(const Model& model, std::span<const Value> inputs,
                          const HalfOptions& options);

}  // namespace assay
