#include "semantics/composed_cache.h"

#include <utility>

namespace assay {
namespace {

constexpr std::size_t kMostGraphs = 1 << 14;

// Texts and numbers as bytes, each behind its length or kind, so that no two lists give one key.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_(key) {}

  void number(std::int64_t value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    key_.append(value);
  }
  void numbers(std::span<const std::int64_t> values) {
    number(static_cast<std::int64_t>(values.size()));
    for (std::int64_t value : values) number(value);
  }
  // False for values that are graphs or tensors.
  bool attribute(const AttributeValue& value) {
    number(static_cast<std::int64_t>(value.index()));
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      number(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      key_.append(reinterpret_cast<const char*>(real), sizeof *real);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      text(*word);
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      numbers(*list);
    } else {
      return false;
    }
    return true;
  }

 private:
  std::string& key_;
};

// False where an attribute or an input is of a kind that no key can tell.
bool write_key(const PlannedNode& node, Reading reading, std::span<const Value> inputs,
               std::string& key) {
  constexpr std::size_t kUsual = 512;
  key.reserve(kUsual);
  KeyWriter writer(key);
  writer.text(node.node.domain);
  writer.text(node.node.op);
  writer.number(node.found.schema->since_version);
  writer.number(static_cast<std::int64_t>(reading));
  writer.number(static_cast<std::int64_t>(node.node.attributes.size()));
  for (const Attribute& attribute : node.node.attributes) {
    writer.text(attribute.name);
    if (!writer.attribute(attribute.value)) return false;
  }
  for (const std::string& output : node.node.outputs) key += output.empty() ? '-' : '+';
  for (const Value& input : inputs) {
    key += input.present() ? 'x' : '-';
    if (!input.present()) continue;
    if (!input.is_tensor()) return false;
    key += input.exact() ? 'e' : 'r';
    writer.number(static_cast<std::int64_t>(input.type()));
    writer.numbers(input.shape());
  }
  return true;
}

}  // namespace

ComposedCache& ComposedCache::of_this_thread() {
  thread_local ComposedCache cache;
  return cache;
}

ComposedKey::ComposedKey(const PlannedNode& node, Reading reading, std::span<const Value> inputs) {
  if (write_key(node, reading, inputs, text)) {
    hash = std::hash<std::string>()(text);
  } else {
    text.clear();
  }
}

std::shared_ptr<ComposedGraph> ComposedCache::find(const ComposedKey& key) const {
  const auto found = graphs_.find(key);
  return found == graphs_.end() ? nullptr : found->second;
}

bool ComposedCache::comes_again(const ComposedKey& key) {
  passed_.resize(kMostGraphs);
  return std::exchange(passed_[key.hash % kMostGraphs], key.hash) == key.hash;
}

void ComposedCache::keep(ComposedKey key, ComposedGraph graph) {
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  graph.memory->settle(*graph.plan);
  graphs_.insert_or_assign(std::move(key), std::make_shared<ComposedGraph>(std::move(graph)));
}

}  // namespace assay
