#include "cli/report_files.h"

#include "generated/version.h"
#include "report/report_file.h"

namespace assay {

Result<void> check_reports(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (Result<void> named = check_report_name(path); !named) return named;
  }
  return {};
}

Result<void> write_reports(const std::vector<std::string>& paths, const ComparedModel& compared,
                           const Report& report, std::chrono::steady_clock::time_point start) {
  if (paths.empty()) return {};
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  nlohmann::ordered_json document = {
      {"assay", kVersion}, {"command", "compare"}, {"seconds", passed.count()}};
  document.update(report.document);
  add_comparison_map(compared, document);
  for (const std::string& path : paths) {
    if (Result<void> written = write_report(document, path); !written) return written;
  }
  return {};
}

}  // namespace assay
