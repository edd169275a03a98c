// Shown values: what is kept of the inner values of backends, which may not fit into memory at
// once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/answer.h"
#include "report/difference_image.h"
#include "report/numbers.h"

namespace assay {

inline constexpr std::int64_t kLargestImage = 64;  // cells a side

// One value on all backends.
struct ShownValue {
  std::string type;                              // as the first backend that shows it has it
  std::map<std::size_t, std::int64_t> elements;  // by backend; of tensors
  std::map<std::size_t, Statistics> statistics;  // by backend; of numbers
  std::map<std::pair<std::size_t, std::size_t>, DifferenceImage> images;  // by two backends
};

class ShownValues {
 public:
  explicit ShownValues(std::size_t backends) : backends_(backends) {}
  // One element a backend; null: it shows nothing. A value that is there already is left alone.
  void add(const std::vector<const NamedValues*>& shown);
  const ShownValue* find(const std::string& name) const;

 private:
  std::size_t backends_;
  std::map<std::string, ShownValue> values_;
};

}  // namespace assay
