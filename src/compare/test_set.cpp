#include "compare/test_set.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <iterator>
#include <mutex>

#include "base/parallel.h"
#include "base/serial.h"
#include "compare/layer_case.h"
#include "generated/version.h"

namespace assay {
namespace {

CaseResult run_one(const TestSet& tests, std::size_t index, std::uint64_t seed, Backend* backend) {
  if (index < tests.folders.size()) return run_backend_test(tests.folders[index], seed, backend);
  index -= tests.folders.size();
  if (index < tests.cases.size()) return run_text_case(tests.cases[index], seed, backend);
  const auto [file, line] = tests.lines[index - tests.cases.size()];
  const CaseLines& lines = tests.files[file];
  return run_case_line(lines[line], lines.where(line), seed, backend);
}

Result<void> add_lines(const std::string& path, TestSet& tests) {
  Result<CaseLines> lines = read_case_lines(path);
  if (!lines) return lines.error();
  for (std::size_t i = 0; i < lines->size(); ++i) tests.lines.emplace_back(tests.files.size(), i);
  tests.files.push_back(*std::move(lines));
  return {};
}

// Whoever works takes the next test, until none is left: the workers of a backend or, where there
// are none, so many threads of this process.
void run_shared(const TestSet& tests, const std::vector<std::unique_ptr<Backend>>& workers,
                std::size_t threads, std::uint64_t seed, const CaseProgress& progress,
                ConformanceResult& result) {
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  result.cases.resize(tests.size());
  const std::size_t count = workers.empty() ? threads : workers.size();
  const auto work = [&](std::size_t number) {
    const SerialScope scope(count > 1);
    Backend* const backend = workers.empty() ? nullptr : workers[number].get();
    for (std::size_t i = next++; i < tests.size(); i = next++) {
      CaseResult one = run_one(tests, i, seed, backend);
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, one);
      result.cases[i] = std::move(one);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < count; ++i) {
    others.push_back(std::async(std::launch::async, work, i));
  }
  work(0);
  for (std::future<void>& other : others) other.get();
}

}  // namespace

Result<TestSet> collect_tests(const std::vector<std::string>& paths) {
  TestSet tests;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& path : paths) {
    if (is_case_file(path)) {
      if (Result<void> added = add_lines(path, tests); !added) return added.error();
      continue;
    }
    const auto files = find_case_files(path);
    for (const auto& file : files) {
      Result<std::vector<TextCase>> cases = read_cases(file);
      if (!cases) return cases.error();
      std::move(cases->begin(), cases->end(), std::back_inserter(tests.cases));
    }
    if (!files.empty()) continue;
    const auto found = find_tests(path);
    if (!found) return found.error();
    tests.folders.insert(tests.folders.end(), found->begin(), found->end());
  }
  tests.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return tests;
}

TestSet sample(TestSet tests, std::size_t count) {
  if (count == 0 || count >= tests.size()) return tests;
  TestSet some;
  some.files = tests.files;
  some.seconds = tests.seconds;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = k * tests.size() / count;
    if (i < tests.folders.size()) {
      some.folders.push_back(tests.folders[i]);
    } else if (i < tests.folders.size() + tests.cases.size()) {
      some.cases.push_back(tests.cases[i - tests.folders.size()]);
    } else {
      some.lines.push_back(tests.lines[i - tests.folders.size() - tests.cases.size()]);
    }
  }
  return some;
}

Result<ConformanceResult> run_tests(const TestSet& tests, const std::string& backend,
                                    const BackendOptions& options, int jobs,
                                    const CaseProgress& progress) {
  ConformanceResult result;
  result.backend = backend;
  result.version = kVersion;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Backend>> workers;
  while (backend != "reference" && workers.size() < static_cast<std::size_t>(jobs)) {
    Result<std::unique_ptr<Backend>> worker = open_backend(backend, options);
    if (!worker) return worker.error();
    result.version = (*worker)->identity().version;
    workers.push_back(*std::move(worker));
  }
  // A thread alone shares its loops with the others.
  const std::size_t threads =
      std::min(static_cast<std::size_t>(std::min(jobs, thread_count())), tests.size());
  run_shared(tests, workers, threads, options.worker.seed, progress, result);
  result.seconds = tests.seconds +
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace assay
