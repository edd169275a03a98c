// A baseline: findings that are known already and not to be reported again.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "base/result.h"

namespace assay {

// What makes a finding the same: its layer and its rule.
using Baseline = std::set<std::pair<std::string, std::string>>;

// From the JSON document that an earlier run printed.
Result<Baseline> read_baseline(const std::string& path);

}  // namespace assay
