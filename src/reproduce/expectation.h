// Expectation: the one element of a backend's answer that tells most clearly that it is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/answer.h"
#include "base/result.h"
#include "formats/text_case.h"

namespace assay {

struct Expectation {
  enum class Kind : std::uint8_t { element, type, shape };
  Kind kind = Kind::element;
  std::size_t output = 0;
  std::int64_t element = 0;
  Tensor right{}, found{};   // of the output
  double tolerance = 0;      // what rounding allows at the element
  std::int64_t outside = 0;  // elements that rounding does not explain
  double largest = 0;        // difference among them
};

// What the standard says of a test's outputs, and how far honest evaluations may be off.
struct Allowance {
  Value value;
  std::vector<double> errors;  // an element; empty where it is exact
};
// By the bound of a single node, as functions of the backend are known to be; by the spread of
// honest evaluations for several.
Result<std::vector<Allowance>> allowances(const BackendTest& test, const std::string& backend,
                                          std::uint64_t seed);

// Where an answer leaves what is allowed; none if it does not, or only in what is no tensor.
std::optional<Expectation> contradiction(const Graph& graph,
                                         const std::vector<Allowance>& allowances,
                                         const Answer& answer);

}  // namespace assay
