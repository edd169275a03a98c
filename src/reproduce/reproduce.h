// Reproduce: a suspect becomes a script, which is executed before anybody hears of it.
#pragma once

#include <filesystem>
#include <string>

#include "backends/backend.h"
#include "formats/text_case.h"

namespace assay {

struct Reproduction {
  std::filesystem::path script{};  // empty if there is none that shows it
  std::string note{};              // then, why
};

struct ReproduceOptions {
  std::uint64_t seed = 0;
  double seconds = 120;       // that a script may take
  std::string explanation{};  // the variant that explains it, if one does
};

// Runs the suspect on the backend, writes the script that shows what is wrong with the answer to
// `base`.py (with its data in `base`.npz, if they are large) and executes it. Nothing is left there
// of a script that does not show it. The suspect as a backend test lies in the folder `base`.
Reproduction reproduce(const BackendTest& suspect, Backend& backend,
                       const std::filesystem::path& base, const ReproduceOptions& options);

}  // namespace assay
