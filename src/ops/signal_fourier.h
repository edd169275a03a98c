// The discrete Fourier transform of one line of numbers, in every reading.
#pragma once

#include <cstdint>
#include <vector>

#include "scalar/sequences.h"

namespace assay {

// Complex numbers as two lists.
template <class S>
struct ComplexLine {
  std::vector<S> real, imaginary;
  explicit ComplexLine(std::int64_t length = 0)
      : real(static_cast<std::size_t>(length)), imaginary(static_cast<std::size_t>(length)) {}
};

// The first `bins` results of the transform of x, whose length is the length of the transform.
// Inverse: the other sign in the exponent, and divided by the length.
template <class S>
ComplexLine<S> fourier(const ComplexLine<S>& x, std::int64_t bins, bool inverse);

}  // namespace assay
