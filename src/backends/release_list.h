// Which releases of a framework there are to install.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/environment.h"

namespace assay {

// The numbers of a release: "1.20.1" is {1, 20, 1}; a text without any is empty.
std::vector<std::int64_t> release_numbers(const std::string& version);

// Releases from one to another, oldest first, as the package index has them for this machine.
// Between "1.19" and "1.31" the newest of each minor release; between "1.19.2" and "1.31.1" all.
// Kinds: "usage" for ends that are none or in the wrong order, "environment" if there are none.
Result<std::vector<std::string>> list_releases(const Environment& environment,
                                               const std::string& from, const std::string& to);

}  // namespace assay
