// Where workers, the files that describe environments, and installed environments lie.
#pragma once

#include <filesystem>
#include <vector>

namespace assay {

// $ASSAY_WORKERS, else beside the program: in its source tree, or where it is installed.
std::filesystem::path workers_folder();
// Folders with environment files, the user's own first: $ASSAY_ENVIRONMENTS (with ":" between),
// the user's configuration, and those that come with Assay.
std::vector<std::filesystem::path> environment_folders();
// What is installed and remembered: $ASSAY_HOME, else the user's data folder.
std::filesystem::path home_folder();

}  // namespace assay
