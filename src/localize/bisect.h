// Bisecting releases: installing those that it takes, and comparing the model on each.
#pragma once

#include "backends/backend_name.h"
#include "compare/comparison.h"
#include "localize/releases.h"

namespace assay {

struct ReleaseRange {
  BackendName backend;   // "onnxruntime", "torch-compile"
  std::string from, to;  // "1.19", "1.31"
};

// "1.19..1.31" of a backend; kind "usage" if it is no range, or if the backend has no releases.
Result<ReleaseRange> parse_range(const std::string& backend, const std::string& text);

// A release is bad if it refuses the model, dies of it, or answers what rounding does not explain.
// What the comparison has run counts as known.
Result<ReleaseSearch> bisect_releases(const Subject& subject, const Comparison& comparison,
                                      const ReleaseRange& range, const BackendOptions& options,
                                      const ComparisonProgress& progress);

}  // namespace assay
