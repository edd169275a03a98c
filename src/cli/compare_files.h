// assay compare A B: two files of one network.
#pragma once

#include "cli/command.h"
#include "cli/model.h"

namespace assay {

struct FilesRequest {
  std::string a, b;
  std::vector<std::string> backends;  // none: the reference; one for both, or one each
  DataOptions data;
  double worker_timeout = 600;
};
// Exit code 1 if outputs differ; two files that are not one network are an Error of kind "usage".
Result<ExitCode> compare_two_files(const FilesRequest& request, Report& report);

}  // namespace assay
