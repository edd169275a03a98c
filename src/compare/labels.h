// Labels: what is said to be true of each instance.
#pragma once

#include <optional>

#include "base/result.h"
#include "compare/criteria.h"
#include "compare/spread.h"

namespace assay {

// A class an instance: whole numbers in one row. Anything else is the true first output.
bool are_classes(const Tensor& labels);

// Classes that the first output has, or as many true values as it has elements, over all pieces;
// otherwise an Error of kind "usage". No labels are right.
Result<void> check_labels(const std::optional<Tensor>& labels,
                          const std::vector<std::vector<Spread>>& spreads);

// The same of labels that may not be there; classes have to be if a metric ranks them.
Result<void> check_labels(const std::optional<Tensor>& labels, const Criteria& criteria,
                          const std::vector<std::vector<Spread>>& spreads);

}  // namespace assay
