// What `assay compare` has to say, as JSON and for people.
#pragma once

#include <nlohmann/json.hpp>

#include "compare/comparison.h"
#include "localize/bisect.h"
#include "localize/rate.h"
#include "reproduce/reproduce.h"

namespace assay {

struct ComparisonReport {
  const Comparison& comparison;
  const Graph& graph;
  std::vector<PairMap> maps;
  std::vector<std::string> tests;  // written for the findings, in their order; "" where none was
  std::vector<Reproduction> scripts{};  // likewise; none at all where none were asked for
};

nlohmann::ordered_json verdicts_json(const VerdictCounts& counts);
void fill_document(const ComparisonReport& report, nlohmann::ordered_json& document);
std::string to_page(const ComparisonReport& report);

nlohmann::ordered_json to_json(const ReleaseSearch& search, const ReleaseRange& range);
std::string to_page(const ReleaseSearch& search, const ReleaseRange& range);

}  // namespace assay
