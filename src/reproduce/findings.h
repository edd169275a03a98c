// The findings of a comparison, each with the script that shows it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "reproduce/reproduce.h"

namespace assay {

// Gives findings about models that got no answer a suspect: the whole model on the inputs that it
// had then, unless it is too large to be copied.
void suspect_whole_models(const Subject& subject, Comparison& comparison);

// One for each finding, in their order; `tests` are the folders that the suspects were written to,
// "" where there is none, and then there is no script either.
std::vector<Reproduction> reproduce_findings(const std::vector<ComparisonFinding>& findings,
                                             const std::vector<std::string>& tests,
                                             std::vector<std::unique_ptr<Backend>>& backends,
                                             const ReproduceOptions& options);

}  // namespace assay
