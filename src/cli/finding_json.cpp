#include "cli/finding_json.h"

namespace assay {

nlohmann::ordered_json to_json(const Finding& finding) {
  return {{"layer", finding.layer},     {"class", finding.operator_name}, {"kind", finding.kind},
          {"rule", finding.rule},       {"expected", finding.expected},   {"found", finding.found},
          {"badness", finding.badness}, {"message", finding.message}};
}

}  // namespace assay
