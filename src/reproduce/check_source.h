// What a script says and decides: what is wrong, what is right, and its exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reproduce/expectation.h"

namespace assay {

// One line for people: "AveragePool gives 2 where 4 is right". Without an expectation there was no
// answer.
std::string what_is_wrong(const Graph& graph, const std::optional<Expectation>& expectation);

// The last statements of a script: they print what was expected and what is in `found`, and end
// with 1 if that is wrong. Kind "script" if Python cannot tell.
Result<std::vector<std::string>> check_source(const std::optional<Expectation>& expectation);

}  // namespace assay
