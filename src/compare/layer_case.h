// Runs case lines: a Keras model on its recorded inputs, against its recorded output.
#pragma once

#include "compare/conformance.h"
#include "formats/case_line.h"

namespace assay {

// On a backend; without one, on the reference of this process. By the contract's tolerance for
// recorded cases: rtol 1e-4, atol 2e-6 of the largest value.
CaseResult run_case_line(std::string_view line, const std::string& where, std::uint64_t seed,
                         Backend* backend = nullptr);

}  // namespace assay
