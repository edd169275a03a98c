#include "report/shown_values.h"

#include "base/check.h"

namespace assay {
namespace {

using OnBackends = std::map<std::size_t, const Value*>;

ShownValue summary_of(const OnBackends& values) {
  ShownValue result;
  for (const auto& [backend, value] : values) {
    if (result.type.empty()) result.type = to_text(value->value_type());
    if (!value->is_tensor()) continue;
    result.elements.emplace(backend, value->tensor().size());
    if (has_statistics(value->type())) {
      result.statistics.emplace(backend, statistics_of(value->tensor()));
    }
    for (const auto& [other, second] : values) {
      if (other <= backend || !second->is_tensor()) continue;
      const auto image = difference_image(value->tensor(), second->tensor(), kLargestImage);
      if (image) result.images.emplace(std::pair(backend, other), *image);
    }
  }
  return result;
}

}  // namespace

void ShownValues::add(const std::vector<const NamedValues*>& shown) {
  ASSAY_CHECK(shown.size() == backends_);
  std::map<std::string, OnBackends> values;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    for (const auto& [name, value] : *shown[i]) values[name].emplace(i, &value);
  }
  for (const auto& [name, on] : values) {
    if (!values_.contains(name)) values_.emplace(name, summary_of(on));
  }
}

const ShownValue* ShownValues::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace assay
