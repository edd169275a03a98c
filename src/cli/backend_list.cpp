#include "cli/backend_list.h"

#include <set>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {

Result<void> check_names(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) return Error{"usage", "--backends: a name is empty", "--backends"};
    if (!seen.insert(name).second) {
      return Error{"usage", fmt::format("--backends: {} is given twice", in_quotes(name)), name};
    }
  }
  return {};
}

BackendOptions backend_options(const Common& common, double seconds) {
  BackendOptions how;
  how.worker.threads = common.threads;
  how.worker.seed = common.seed;
  how.limits = {seconds, common.memory_limit};
  return how;
}

Result<OpeningBackends> begin_listed(const std::vector<std::string>& names,
                                     const BackendOptions& how) {
  if (Result<void> checked = check_names(names); !checked) return checked.error();
  return OpeningBackends(names, how);
}

Result<std::vector<std::unique_ptr<Backend>>> open_listed(const std::vector<std::string>& names,
                                                          const BackendOptions& how) {
  if (Result<void> checked = check_names(names); !checked) return checked.error();
  return open_backends(names, how);
}

}  // namespace assay
