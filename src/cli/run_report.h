// What `assay run` has to say, as JSON and for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "compare/judge.h"
#include "numeric/lint.h"
#include "semantics/evaluator.h"
#include "semantics/nonfinite.h"

namespace assay {

struct RunRequest {
  std::string model;
  std::string backend = "reference";
  std::string outputs;  // the file that results go to; empty: none
  std::string judge;    // the file of recorded values to be judged; empty: none
  bool hidden = false;
  bool bounds = false;
};

// What a run leaves behind.
struct RunOutcome {
  std::vector<Value> outputs, bounded;
  std::vector<std::pair<std::string, Value>> hidden;  // with elements where they are asked for
  std::vector<std::pair<std::string, nlohmann::ordered_json>> hidden_reports;
  std::vector<NonFiniteOrigin> nonfinite;
  std::vector<std::pair<std::string, Node>> unknown;  // by layer
  std::vector<Judgement> judgements;                  // of recorded values
  std::optional<HalfResult> half;                     // of another format
  double seconds = 0;                                 // of the fastest evaluation
};

void fill_document(const RunRequest& request, const Graph& graph, const RunOutcome& outcome,
                   nlohmann::ordered_json& document);
std::string to_page(const RunRequest& request, const Evaluator& evaluator,
                    const RunOutcome& outcome);

}  // namespace assay
