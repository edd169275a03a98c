// The parts of the signal family.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator>
window_operators();  // BlackmanWindow HammingWindow HannWindow MelWeightMatrix
std::vector<Operator> fourier_operators();  // DFT STFT

}  // namespace assay
