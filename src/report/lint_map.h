// What a page, SARIF and JUnit show of a linted model: its map with the range of every value, and
// its unsafe operations as findings.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "numeric/lint.h"

namespace assay {

struct LintedModel {
  const Model& model;
  std::string file;
  const LintResult& result;  // with ranges
};

// Adds to the document of `assay lint --json` what the writers of reports expect of a comparison:
// the analysis stands as its one backend.
void add_lint_map(const LintedModel& linted, nlohmann::ordered_json& document);

}  // namespace assay
