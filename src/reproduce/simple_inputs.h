// Inputs that a script can make for itself, in the place of large recorded ones.
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

// Numbers drawn evenly between the recorded ones' extremes, as numpy's RandomState draws them; none
// if all inputs are small or cannot be drawn.
std::optional<SimpleInputs> simple_inputs(const BackendTest& test);

}  // namespace assay
