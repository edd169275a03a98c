// Runs the catalogue's own case files: outputs, variants, refusals and legal extremes.
#pragma once

#include <filesystem>
#include <vector>

#include "compare/conformance.h"
#include "formats/text_case.h"

namespace assay {

// Files named *.txt at `path`: itself, or those in the folder; sorted.
std::vector<std::filesystem::path> find_case_files(const std::filesystem::path& path);

// On a backend only the outputs are compared; the reference is asked for the rest too.
CaseResult run_text_case(const TextCase& text_case, std::uint64_t seed, Backend* backend = nullptr);

}  // namespace assay
