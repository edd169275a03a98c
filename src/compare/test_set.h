// A set of conformance tests, run on a backend by as many workers, or threads, as are asked for.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "compare/case_file.h"
#include "compare/conformance.h"
#include "formats/case_line.h"

namespace assay {

// What paths hold: folders of backend tests, cases of case files, and case lines.
struct TestSet {
  std::vector<std::filesystem::path> folders = {};
  std::vector<TextCase> cases = {};
  std::vector<CaseLines> files = {};                            // of recorded Keras models
  std::vector<std::pair<std::size_t, std::size_t>> lines = {};  // those to run: file, line
  double seconds = 0;                                           // that reading took
  std::size_t size() const { return folders.size() + cases.size() + lines.size(); }
};
Result<TestSet> collect_tests(const std::vector<std::string>& paths);
// About `count` of them, spread evenly.
TestSet sample(TestSet tests, std::size_t count);

using CaseProgress = std::function<void(std::size_t done, const CaseResult& last)>;

// The tests are shared by `jobs` workers of the backend or, of the reference, by so many threads if
// it may use them. The results are in the order of the tests. Errors are those of open_backend.
Result<ConformanceResult> run_tests(const TestSet& tests, const std::string& backend,
                                    const BackendOptions& options, int jobs,
                                    const CaseProgress& progress);

}  // namespace assay
