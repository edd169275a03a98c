// Properties of random operators: what every honest draw has in common with every other.
#pragma once

#include <string_view>
#include <vector>

#include "compare/agreement.h"

namespace assay {

// The tests that the contract lets pass by property: Bernoulli and Dropout in training.
bool is_random_test(std::string_view id);

// Wrong with a probability below 1e-8 for an honest draw: rates are judged at six deviations.
Agreement has_property(std::string_view id, const std::vector<Value>& inputs,
                       const std::vector<Value>& expected, const std::vector<Value>& found);

}  // namespace assay
