// Conformance: runs folders of ONNX backend tests on a backend and says which pass.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

class Backend;

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

// On a backend; without one, on the reference of this process.
CaseResult run_backend_test(const std::filesystem::path& folder, std::uint64_t seed,
                            Backend* backend = nullptr);

// The inputs of each data set of a backend test, in the order of the graph's; absent ones have an
// initialiser.
Result<std::vector<std::vector<Value>>> read_test_inputs(const std::filesystem::path& folder,
                                                         const Graph& graph);

// What a backend answered instead of values, as the status of a case.
struct Answer;
void note_refusal(const Answer& answer, CaseResult& result);

}  // namespace assay
