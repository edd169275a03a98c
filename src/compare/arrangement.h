// Arrangement: how the elements of one tensor lie in another: as they are, or with axes permuted.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace assay {

// Axes of extent 1 mean nothing here; `axes` permutes the others, and is empty where the elements
// lie in the same order.
struct Arrangement {
  std::vector<std::size_t> axes;
  bool reshaped = false;
  bool plain() const { return axes.empty() && !reshaped; }
};
std::string to_text(const Arrangement& arrangement);  // "", "reshaped", "axes 1,0"

// All ways in which elements of a shape can lie in another one, the plain one first; none if the
// sizes differ.
std::vector<Arrangement> arrangements(const Shape& from, const Shape& to);

// The elements in the order that the other tensor has them.
std::vector<double> arranged(const std::vector<double>& elements, const Shape& shape,
                             const Arrangement& arrangement);

// Real, integer and boolean types.
bool has_numbers(const Tensor& tensor);

// The largest |a - b|; NaN equals NaN, and differs from all else by infinity.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b);

// The arrangement in which the elements of `a` come within `room` of those of `b`. Where none does,
// the plain one if the shapes let it be, since a permutation could look nearer by chance; else the
// nearest.
struct Fit {
  Arrangement arrangement;
  double difference = 0;
};
Fit fit(const Tensor& a, const Tensor& b, double room);

}  // namespace assay
