// Python source of texts, numbers and tensors, safe whatever a model's file holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace assay {

// A string literal in ASCII; bytes that are no UTF-8 become U+FFFD.
std::string python_text(std::string_view text);
// A number that reads back as the same; `real` is never taken for an integer. Not finite: np.nan, …
std::string python_real(double value, ElementType type = ElementType::f64);

// "np.float32": numpy's own type that holds every value of the element type.
std::string numpy_type(ElementType type);
bool numpy_has(ElementType type);  // itself, not a wider one

// "np.array([1.0, 2.0], np.float32).reshape(2, 1)". Elements that are all the same are written
// once.
std::string array_source(const Tensor& tensor);
// How many elements array_source writes out.
std::int64_t written_elements(const Tensor& tensor);
std::string tuple_source(const Shape& shape);  // "(2, 1)", "(2,)"

// Whether a name can be a variable of a script beside those that scripts have themselves.
bool is_variable(std::string_view name);

// A statement in lines of at most 100 columns, broken behind commas inside of brackets, if it has
// any there.
std::vector<std::string> wrapped(const std::string& statement);

}  // namespace assay
