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

}  // namespace

ComposedCache& ComposedCache::of_this_thread() {
  thread_local ComposedCache cache;
  return cache;
}

std::string ComposedCache::key(const PlannedNode& node, Reading reading,
                               std::span<const Value> inputs) {
  std::string key;
  key.reserve(512);
  KeyWriter writer(key);
  writer.text(node.node.domain);
  writer.text(node.node.op);
  writer.number(node.found.schema->since_version);
  writer.number(static_cast<std::int64_t>(reading));
  writer.number(static_cast<std::int64_t>(node.node.attributes.size()));
  for (const Attribute& attribute : node.node.attributes) {
    writer.text(attribute.name);
    if (!writer.attribute(attribute.value)) return "";
  }
  for (const std::string& output : node.node.outputs) key += output.empty() ? '-' : '+';
  for (const Value& input : inputs) {
    key += input.present() ? 'x' : '-';
    if (!input.present()) continue;
    if (!input.is_tensor()) return "";
    key += input.exact() ? 'e' : 'r';
    writer.number(static_cast<std::int64_t>(input.type()));
    writer.numbers(input.shape());
  }
  return key;
}

std::shared_ptr<ComposedGraph> ComposedCache::find(const std::string& key) const {
  const auto found = graphs_.find(key);
  return found == graphs_.end() ? nullptr : found->second;
}

bool ComposedCache::comes_again(const std::string& key) {
  passed_.resize(kMostGraphs);
  const std::size_t hash = std::hash<std::string>()(key);
  return std::exchange(passed_[hash % kMostGraphs], hash) == hash;
}

void ComposedCache::keep(std::string key, ComposedGraph graph) {
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  graphs_.insert_or_assign(std::move(key), std::make_shared<ComposedGraph>(std::move(graph)));
}

}  // namespace assay
