#include "numeric/range_memory.h"

#include <algorithm>

#include "numeric/range_key.h"

namespace assay {
namespace {

constexpr std::size_t kMostKept = 1 << 14;
constexpr std::int64_t kMostElements = KeyWriter::kMostElements;

bool write_input(const Value& input, KeyWriter& key) {
  key.mark(!input.present() ? '-' : input.intervals() ? 'r' : 'e');
  if (!input.present()) return true;
  if (!input.is_tensor()) return false;
  const auto* const ranges = input.intervals();
  if (!ranges) return key.tensor(input.tensor());
  if (input.tensor().size() > kMostElements) return false;
  key.number(static_cast<std::int64_t>(input.type()));
  key.numbers(input.shape());
  for (const Interval& range : *ranges) write_range(range, key);
  return true;
}

void write_counts(const Counts& counted, KeyWriter& key) {
  key.bytes(&counted.most, sizeof counted.most);
  for (const auto& [least, most] : counted.of) {
    key.bytes(&least, sizeof least);
    key.bytes(&most, sizeof most);
  }
}

}  // namespace

std::string RangeMemory::key_of(const PlannedNode& node, std::span<const Value> inputs,
                                const Counts* counted) {
  if (!node.subgraphs.empty() || !node.found.schema) return {};
  KeyWriter key;
  key.mark('v');
  if (!key.node(node.node, node.found.schema)) return {};
  key.count(inputs.size());
  for (const Value& input : inputs)
    if (!write_input(input, key)) return {};
  if (counted) write_counts(*counted, key);
  return key.key();
}

std::string RangeMemory::key_of_points(const PlannedNode& node, std::span<const Abstract> inputs) {
  KeyWriter key;
  key.mark('p');
  if (!key.node(node.node, node.found.schema)) return {};
  for (const Abstract& input : inputs) {
    const bool exact = input.exact.defined();
    key.mark(!input.is_tensor() ? '-' : exact ? 'e' : 'r');
    if (!input.is_tensor()) continue;
    key.number(static_cast<std::int64_t>(input.type.element));
    if (exact)
      key.bytes(input.exact.raw(), input.exact.byte_size());
    else
      write_range(input.cells.front().range, key);
  }
  return key.key();
}

const RangeMemory::Said* RangeMemory::find(const std::string& key) const {
  const auto found = said_.find(key);
  return found == said_.end() ? nullptr : &found->second;
}

void RangeMemory::keep(std::string key, Said said) {
  const bool few = std::ranges::all_of(said.outputs, [](const Value& output) {
    return !output.is_tensor() || output.tensor().size() <= kMostElements;
  });
  if (few && said_.size() < kMostKept) said_.emplace(std::move(key), std::move(said));
}

}  // namespace assay
