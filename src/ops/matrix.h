// What the files of the matrix family share.
#pragma once

#include <string_view>
#include <vector>

#include "ops/operator.h"
#include "patterns/contraction.h"

namespace assay {

// The products that numpy's matmul makes of two shapes: a vector counts as a row on the left and a
// column on the right, and leading axes broadcast.
Contraction matmul_form(const Shape& a, const Shape& b);
bool require_matmul(Check& c, std::string_view a, std::string_view b);
// The result's extents; nothing if a rank is unknown.
std::optional<Dims> matmul_dims(const Dims* a, const Dims* b);

std::vector<Operator> quantized_matrix_operators();
std::vector<Operator> einsum_operators();
std::vector<Operator> determinant_operators();

}  // namespace assay
