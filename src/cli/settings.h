// Settings: defaults of options that stand in a file, assay.toml, beside what one works on.
#pragma once

#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace assay {

// Gives the command's options that the command line leaves out the values that the file has:
// `threads = 2` for every command, the same below `[run]` for one. No file, no settings; a setting
// that no command knows is an Error of kind "usage".
Result<void> apply_settings(const std::string& path, CLI::App& program, CLI::App& command);

}  // namespace assay
