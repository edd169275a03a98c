// What `assay compare` has to say, as JSON and for people.
#pragma once

#include <nlohmann/json.hpp>

#include "compare/comparison.h"
#include "localize/rate.h"
#include "reproduce/reproduce.h"

namespace assay {

// The localisation map of one pair, with the verdict of each layer on the second backend.
struct PairMap {
  std::string a, b;
  std::vector<LayerRate> layers;
};

struct ComparisonReport {
  const Comparison& comparison;
  const Graph& graph;
  std::vector<PairMap> maps;
  std::vector<std::string> tests;     // written for the findings, in their order; "" where none was
  std::vector<Reproduction> scripts;  // likewise
};

void fill_document(const ComparisonReport& report, nlohmann::ordered_json& document);
std::string to_page(const ComparisonReport& report);

}  // namespace assay
