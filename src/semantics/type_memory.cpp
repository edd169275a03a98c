#include "semantics/type_memory.h"

#include "semantics/key_writer.h"

namespace assay {
namespace {

constexpr std::size_t kMostKept = 1 << 14;

// These are false for what is too much, or of a kind that a key does not tell.
bool write_known(const Known& value, KeyWriter& key) {
  const ValueType& type = value.type;
  key.number((value.present ? 1 : 0) + (type.dims ? 2 : 0) + (value.extents ? 4 : 0) +
             (value.constant.defined() ? 8 : 0));
  key.number(static_cast<std::int64_t>(type.kind));
  key.number(static_cast<std::int64_t>(type.element));
  if (type.inner || type.kind == ValueType::Kind::sparse_tensor) return false;
  if (type.dims) key.dims(*type.dims);
  if (value.extents) key.dims(*value.extents);
  return !value.constant.defined() || key.tensor(value.constant);
}

bool write_attribute(const Attribute& attribute, KeyWriter& key) {
  key.text(attribute.name);
  const auto* tensor = std::get_if<Tensor>(&attribute.value);
  key.mark(tensor ? 't' : 'v');
  return tensor ? key.tensor(*tensor) : key.attribute(attribute.value);
}

}  // namespace

std::string TypeMemory::key_of(const PlannedNode& node, std::span<const Known* const> inputs) {
  KeyWriter key;
  key.text(node.node.domain);
  key.text(node.node.op);
  key.number(node.found.schema->since_version);
  key.count(node.node.attributes.size());
  for (const Attribute& attribute : node.node.attributes)
    if (!write_attribute(attribute, key)) return {};
  key.outputs(node.node);
  for (const Known* input : inputs)
    if (!write_known(*input, key)) return {};
  return key.key();
}

const TypeMemory::Said* TypeMemory::find(const std::string& key) const {
  const auto found = said_.find(key);
  return found == said_.end() ? nullptr : &found->second;
}

void TypeMemory::keep(std::string key, Said said) {
  if (said_.size() < kMostKept) said_.emplace(std::move(key), std::move(said));
}

int KnownNumbers::of(const Known& known) {
  KeyWriter key;
  if (keys_.size() >= kMostKept || !write_known(known, key)) return --others_;
  return keys_.add(key.key()).first + 1;
}

std::string_view NumberedMemory::key_of(const Node& node, std::span<const int> inputs) {
  const auto number = [this](std::size_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    key_.append(reinterpret_cast<const char*>(&word), sizeof word);
  };
  key_.clear();
  number(node.op.size());
  key_ += node.op;
  number(node.domain.size());
  key_ += node.domain;
  number(static_cast<std::size_t>(node.version));
  number(node.outputs.size());
  for (const std::string& output : node.outputs) key_ += output.empty() ? '-' : '+';
  number(inputs.size());
  for (const int input : inputs) number(static_cast<std::size_t>(input));
  if (node.attributes.empty()) return key_;
  KeyWriter attributes;
  for (const Attribute& attribute : node.attributes)
    if (!write_attribute(attribute, attributes)) return {};
  return key_ += attributes.key();
}

const NumberedMemory::Said* NumberedMemory::find(std::string_view key) const {
  const int found = keys_.find(key);
  return found < 0 ? nullptr : &said_[static_cast<std::size_t>(found)];
}

void NumberedMemory::keep(std::string_view key, Said said) {
  if (said_.size() < kMostKept && keys_.add(key).second) said_.push_back(std::move(said));
}

}  // namespace assay
