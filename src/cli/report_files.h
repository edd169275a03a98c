// Reports that assay compare writes: pages, SARIF, JUnit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.h"
#include "report/comparison_map.h"

namespace assay {

// Every name must end as a report's does; otherwise an Error of kind "usage".
Result<void> check_reports(const std::vector<std::string>& paths);

// The document that --json prints, and what only a page shows.
Result<void> write_reports(const std::vector<std::string>& paths, const ComparedModel& compared,
                           const Report& report, std::chrono::steady_clock::time_point start);

}  // namespace assay
