// Recorded: what someone else's evaluation of the node that is being evaluated gave.
//
// An operator of pattern prefix takes each of its steps from there, so that what is judged is one
// step: a bound over a whole sequence says nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/tensor.h"

namespace assay {

// Lends recorded outputs, null where there is none, to the node that this thread evaluates.
class RecordedScope {
 public:
  explicit RecordedScope(std::vector<const Tensor*> outputs);
  ~RecordedScope();
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;

 private:
  std::vector<const Tensor*> before_;
};

// Null outside every scope.
const Tensor* recorded_output(std::size_t output);

}  // namespace assay
