// Finding a Python of a version, and the tool that installs packages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay {

// An interpreter of version "3.7": $ASSAY_PYTHON_3_7, what uv knows, pyenv's, or one that uv
// installs. Kind "environment" where there is none.
Result<std::string> find_python(const std::string& version);

// The program uv: $ASSAY_UV, in PATH, or where the source tree's set-up put it; empty if none.
std::string find_uv();
// With which it is started.
std::vector<std::pair<std::string, std::string>> uv_variables();

}  // namespace assay
