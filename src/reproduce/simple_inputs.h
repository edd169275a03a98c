// Inputs that read better in a script than the recorded ones.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "formats/text_case.h"

namespace assay {

struct SimpleInputs {
  BackendTest test;                            // on the other inputs; its outputs mean nothing
  std::map<std::string, std::string> sources;  // what makes them, by the inputs' names
};

// Few numbers with fewer digits; in the place of many, some drawn evenly between their extremes as
// numpy's RandomState draws them. None if that changes nothing.
std::optional<SimpleInputs> simple_inputs(const BackendTest& test);

}  // namespace assay
