// Lint on small models, and what it says about one of their values.
#pragma once

#include <gtest/gtest.h>

#include "numeric/lint.h"
#include "semantics/models.h"

namespace assay {

inline Ranges inputs(const std::vector<std::pair<std::string, std::pair<double, double>>>& given) {
  Ranges result;
  for (const auto& [name, range] : given)
    result.inputs.push_back({name, {{range.first, range.second}}});
  return result;
}

inline LintResult run(const Model& m, const Ranges& given = {}, double seconds = 0) {
  LintOptions options;
  options.search_seconds = seconds;
  const Result<LintResult> result = lint(m, given, options);
  EXPECT_TRUE(result.has_value());
  return *result;
}

// The node that makes `value`.
inline LintVerdict verdict(const LintResult& result, const std::string& value) {
  for (const LintNode& found : result.nodes)
    if (found.name == "make_" + value) return found.verdict;
  ADD_FAILURE() << value << " was not checked";
  return LintVerdict::unreachable;
}

inline NamedTensor scalar(std::string name, double value) {
  return {std::move(name), make_scalar(ElementType::f32, value), {}, {}};
}

}  // namespace assay
