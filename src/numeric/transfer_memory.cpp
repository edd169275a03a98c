#include "numeric/transfer_memory.h"

#include <algorithm>

#include "numeric/range_key.h"
#include "numeric/transfer.h"

namespace assay {
namespace {

constexpr std::size_t kMostKept = 1 << 14;
constexpr std::size_t kMostCells = 32;

// False for what is no tensor.
bool write_type(const ValueType& type, KeyWriter& key) {
  key.number((type.dims ? 1 : 0) + (type.is_tensor() ? 2 : 0));
  key.number(static_cast<std::int64_t>(type.element));
  if (type.dims) key.dims(*type.dims);
  return type.is_tensor() || type.kind == ValueType::Kind::unknown;
}

void write_cells(const Abstract& x, const NumberedForms& forms, KeyWriter& key) {
  for (const std::vector<std::int64_t>& cuts : x.cuts) key.numbers(cuts);
  key.count(x.cells.size());
  for (const Cell& cell : x.cells) {
    write_range(cell.range, key);
    key.number(forms.number_of(cell.form));
  }
}

// False for what is too much, or cannot be told. Roots do not matter: the analysis settles them.
bool write_input(const Abstract& x, const NumberedForms& forms, KeyWriter& key) {
  if (!write_type(x.type, key)) return false;
  if (!x.is_tensor()) return true;
  key.number((x.exact.defined() ? 1 : 0) + (x.assumed ? 2 : 0) + (x.may_be_empty ? 4 : 0) +
             (x.extents ? 8 : 0));
  if (x.extents) key.dims(*x.extents);
  if (x.exact.defined()) return key.tensor(x.exact);
  write_cells(x, forms, key);
  return true;
}

}  // namespace

bool TransferMemory::are_short(std::span<const Abstract> values) {
  return std::ranges::all_of(values, [](const Abstract& x) {
    return x.cells.size() <= kMostCells &&
           (!x.exact.defined() || x.exact.size() <= KeyWriter::kMostElements);
  });
}

std::string TransferMemory::key_of(const Situation& s, const NumberedForms& forms) {
  KeyWriter key;
  if (!key.node(s.node.node, s.node.found.schema)) return {};
  for (const Abstract& input : s.inputs)
    if (!write_input(input, forms, key)) return {};
  for (const ValueType& type : s.output_types)
    if (!write_type(type, key)) return {};
  return key.key();
}

const TransferMemory::Said* TransferMemory::find(const std::string& key) const {
  const auto found = said_.find(key);
  return found == said_.end() ? nullptr : &found->second;
}

void TransferMemory::keep(std::string key, Said said) {
  if ((!said.outputs || are_short(*said.outputs)) && said_.size() < kMostKept)
    said_.emplace(std::move(key), std::move(said));
}

}  // namespace assay
