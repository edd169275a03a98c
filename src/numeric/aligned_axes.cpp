#include "numeric/aligned_axes.h"

#include <algorithm>

#include "numeric/transfer.h"

namespace assay {
namespace {

bool all_single(const Counts& counts) {
  return std::ranges::all_of(counts.of, [](const auto& count) { return count.second == 1; });
}

void add(Counts& counts, double least, double most) {
  counts.of.emplace_back(least, most);
  counts.most += most;
}

AlignedAxis* most_cut(const Letters& letters, AlignedAxes& axes) {
  AlignedAxis* found = nullptr;
  for (int letter : letters) {
    AlignedAxis& axis = axes[letter];
    if (!axis.cuts.empty() && (!found || axis.cuts.size() > found->cuts.size())) found = &axis;
  }
  return found;
}

}  // namespace

std::int64_t AlignedAxis::length_of(std::int64_t cell) const {
  const auto at = static_cast<std::size_t>(cell);
  return (at == cuts.size() ? extent : cuts[at]) - (at == 0 ? 0 : cuts[at - 1]);
}

std::optional<Counts> counts_of_row(const Letters& letters, AlignedAxes& axes) {
  const AlignedAxis* const cut = most_cut(letters, axes);
  double others = 1, least_others = 1;
  bool open = false;
  for (int letter : letters) {
    AlignedAxis& axis = axes[letter];
    open = open || axis.open;
    if (&axis == cut) continue;
    axis.cuts.clear();
    const auto least = static_cast<double>(axis.open ? axis.times : axis.extent);
    others = std::min(others * (axis.open ? kMostOpen * least : least), 0x1p62);
    least_others *= least;
  }
  if (open) others = std::max(std::min(others, kMostCounted), least_others);
  Counts counts;
  for (std::int64_t c = 0; c < (cut ? cut->cells() : 1); ++c) {
    const auto length = static_cast<double>(cut ? cut->length_of(c) : 1);
    add(counts, length * least_others, length * others);
  }
  if (all_single(counts)) return std::nullopt;
  return counts;
}

std::optional<Counts> counts_of_terms(const AlignedAxis& axis) {
  Counts counts;
  for (std::int64_t c = 0; c < axis.cells(); ++c) {
    const auto least = static_cast<double>(axis.open ? axis.times : axis.length_of(c));
    add(counts, least, axis.open ? least * kMostOpen : least);
  }
  if (all_single(counts)) return std::nullopt;
  return counts;
}

}  // namespace assay
