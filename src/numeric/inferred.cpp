#include "numeric/inferred.h"

#include <algorithm>

namespace assay {
namespace {

// Extents that a node reads off its input, known in part.
std::optional<Abstract> from_extents(const Known& known) {
  if (!known.extents || !known.type.is_tensor() || !known.type.dims || known.type.dims->size() > 1)
    return std::nullopt;
  Abstract result = uniform(known.type, {});
  if (result.cuts.size() == 1 && known.type.dims->front().known())
    result.cuts[0] = every_position(known.type.dims->front().value);
  if (element_count(cells_of(result.cuts)) != static_cast<std::int64_t>(known.extents->size()))
    return std::nullopt;
  result.cells.clear();
  for (const Dim& dim : *known.extents) {
    const auto value = static_cast<double>(dim.known() ? dim.value : dim.symbol.factor());
    result.assumed = result.assumed || !dim.known();
    result.cells.push_back({{value, dim.known() ? value : value * kMostOpen, false}});
  }
  result.extents = Dims(*known.extents);
  return result;
}

// Whether a node computes numbers and multiples of extents from lists of them: "49*batch" is looked
// at as so many times the batch. Of a sum nothing of the kind is known.
bool is_multiple(const Known& known, std::span<const Abstract> inputs) {
  const auto named = [](const Dim& dim) { return dim.known() || !dim.symbol.empty(); };
  const auto list = [](const Abstract& input) {
    return !input.is_tensor() || input.exact.defined() || bool(input.extents);
  };
  return std::all_of(known.extents->begin(), known.extents->end(), named) &&
         std::all_of(inputs.begin(), inputs.end(), list);
}

}  // namespace

std::optional<Abstract> inferred_value(const PlannedNode& node, const Known* known,
                                       std::span<const Abstract> inputs) {
  if (!known || !known->type.is_tensor()) return std::nullopt;
  const Pattern pattern = node.found.entry ? node.found.entry->meaning.pattern : Pattern::opaque;
  const bool real = is_real(known->type.element);
  if (known->constant.defined() && (!real || (pattern == Pattern::generate && inputs.empty())))
    return constant_abstract(known->constant);
  if (real) return std::nullopt;
  // What moves elements of such lists makes another one; of other integers nothing is known.
  const bool moves = pattern == Pattern::move || pattern == Pattern::gather;
  const bool lists = std::all_of(inputs.begin(), inputs.end(), [](const Abstract& input) {
    return !input.is_tensor() || input.exact.defined() || bool(input.extents);
  });
  return pattern == Pattern::generate || (moves && lists) ? from_extents(*known) : std::nullopt;
}

void keep_extents(const PlannedNode& node, const Known* known, std::span<const Abstract> inputs,
                  Abstract& output) {
  if (!known || !known->extents || !output.is_tensor() || !is_integer(output.type.element)) return;
  if (is_multiple(*known, inputs)) {
    output.extents = Dims(*known->extents);
    return;
  }
  const bool casts = node.found.entry->meaning.pattern == Pattern::elementwise &&
                     inputs.size() == 1 && inputs[0].extents;
  if (!casts || output.cells.size() != known->extents->size() || inputs[0].cuts != output.cuts)
    return;
  const auto same = [](const Cell& a, const Cell& b) {
    return a.range.low == b.range.low && a.range.high == b.range.high;
  };
  if (std::equal(output.cells.begin(), output.cells.end(), inputs[0].cells.begin(),
                 inputs[0].cells.end(), same))
    output.extents = Dims(*known->extents);
}

}  // namespace assay
