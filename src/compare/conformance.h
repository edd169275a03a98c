// Conformance: runs folders of ONNX backend tests on the reference and says which pass.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

enum class CaseStatus : std::uint8_t { passed, failed, unsupported, error, crashed };
std::string_view to_text(CaseStatus status);

struct CaseResult {
  std::string id;
  CaseStatus status = CaseStatus::error;
  std::string detail;
  double seconds = 0;
  double evaluation_seconds = 0;  // of `seconds`, what evaluating took
};

struct ConformanceResult {
  std::string backend, version;
  std::vector<CaseResult> cases;
  double seconds = 0;

  std::int64_t count(CaseStatus status) const;
};

// Every folder below `path` that has a model.onnx, sorted by name; `path` itself if it is one.
Result<std::vector<std::filesystem::path>> find_tests(const std::filesystem::path& path);

using CaseProgress = std::function<void(std::size_t done, std::size_t total, const CaseResult&)>;
CaseResult run_backend_test(const std::filesystem::path& folder, std::uint64_t seed);
ConformanceResult run_backend_tests(const std::vector<std::filesystem::path>& folders,
                                    std::uint64_t seed, const CaseProgress& progress);

}  // namespace assay
