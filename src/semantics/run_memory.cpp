#include "semantics/run_memory.h"

#include <algorithm>

namespace assay {
namespace {

constexpr std::int64_t kMostCompared = 256;  // elements

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.raw() == b.raw() || identical(a, b);
}

bool holds_for_input(const NodeMemory::Input& known, const Value& value) {
  if (known.present != value.present()) return false;
  if (!known.present) return true;
  if (!value.is_tensor() || value.type() != known.type || value.exact() != known.exact ||
      value.shape() != known.shape) {
    return false;
  }
  return !known.elements.defined() || same_elements(known.elements, value.tensor());
}

}  // namespace

bool holds_for(const NodeMemory& memory, Reading reading, std::span<const Value> inputs) {
  return memory.reading == reading && memory.inputs.size() == inputs.size() &&
         std::equal(
             inputs.begin(), inputs.end(), memory.inputs.begin(),
             [](const Value& value, const auto& known) { return holds_for_input(known, value); });
}

bool keep_inputs(NodeMemory& memory, Reading reading, std::span<const Value> inputs) {
  memory.reading = reading;
  memory.inputs.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = inputs[i];
    NodeMemory::Input known;
    known.present = value.present();
    if (known.present) {
      if (!value.is_tensor()) return false;
      known.exact = value.exact();
      known.type = value.type();
      known.shape = value.shape();
      const bool asked = (memory.site.elements_read() >> std::min<std::size_t>(i, 63) & 1) != 0;
      if (asked && known.exact) {
        if (value.tensor().size() > kMostCompared) return false;
        known.elements = value.tensor();
      }
    }
    memory.inputs.push_back(std::move(known));
  }
  return true;
}

}  // namespace assay
