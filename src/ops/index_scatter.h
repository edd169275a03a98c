// The part of the index family that writes into a tensor, and the index tuples that it shares.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"

namespace assay {

// The input `indices` holds tuples, one number for each of the extents; rule "index-range".
bool require_index_tuples(Check& c, const Dims& extents);
// Where the slices of a tensor of shape `x` begin that tuples of `width` numbers name.
std::vector<std::int64_t> index_offsets(const std::vector<std::int64_t>& indices, std::size_t width,
                                        const Shape& x);
// Where the elements of `indices`, the second input, point along the axis that the node names, each
// at its own place along the other axes.
std::vector<std::int64_t> element_offsets(const Call& call);
bool require_element_indices(Check& c);

// Scatter ScatterElements ScatterND TensorScatter
std::vector<Operator> index_scatter_operators();

}  // namespace assay
