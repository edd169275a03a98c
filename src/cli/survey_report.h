// What `assay compare --tests` has to say: a line a finding, a row a backend.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "compare/survey.h"

namespace assay {

class SurveyReport {
 public:
  void add(const SurveyCase& one);
  std::size_t cases() const { return cases_.size(); }
  bool found() const { return found_; }
  void finish(nlohmann::ordered_json& document, std::string& text);

 private:
  std::vector<nlohmann::ordered_json> cases_;
  std::vector<SurveyTotal> totals_;
  std::string lines_;
  bool found_ = false;
};

}  // namespace assay
