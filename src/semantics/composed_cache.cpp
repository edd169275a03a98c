#include "semantics/composed_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t kMostGraphs = 1 << 14;

// Texts and numbers as bytes, each behind its length or kind, so that no two lists give one key.
// They gather in a place of their own: a key is made for every layer that runs.
class KeyWriter {
 public:
  void mark(char value) {
    if (size_ == buffer_.size()) flush();
    buffer_[size_++] = value;
  }
  void number(std::int64_t value) {  // small ones in one byte
    auto rest = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (; rest >= 128; rest >>= 7) mark(static_cast<char>(rest | 128));
    mark(static_cast<char>(rest));
  }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes(value.data(), value.size());
  }
  // False for values that are graphs or tensors.
  bool attribute(const AttributeValue& value) {
    number(static_cast<std::int64_t>(value.index()));
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      number(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      bytes(real, sizeof *real);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      text(*word);
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      number(static_cast<std::int64_t>(list->size()));
      for (std::int64_t one : *list) number(one);
    } else {
      return false;
    }
    return true;
  }
  std::size_t size() const { return key_.size() + size_; }
  std::string key() {
    flush();
    return std::move(key_);
  }

 private:
  void bytes(const void* from, std::size_t count) {
    if (count > buffer_.size() - size_) flush();
    if (count > buffer_.size()) {
      key_.append(static_cast<const char*>(from), count);
    } else {
      std::memcpy(buffer_.data() + size_, from, count);
      size_ += count;
    }
  }
  void flush() {
    key_.append(buffer_.data(), size_);
    size_ = 0;
  }

  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
  std::string key_;
};

// False where an attribute or an input is of a kind that no key can tell. A layer inside another
// one, which asks for shapes unnoticed, is an attribute of such a kind.
bool write_kind(const PlannedNode& node, std::span<const Value> inputs, KeyWriter& writer) {
  writer.number(reinterpret_cast<std::intptr_t>(node.found.schema));  // operator and version
  writer.number(static_cast<std::int64_t>(node.node.attributes.size()));
  for (const Attribute& attribute : node.node.attributes) {
    writer.text(attribute.name);
    if (!writer.attribute(attribute.value)) return false;
  }
  for (const std::string& output : node.node.outputs) writer.mark(output.empty() ? '-' : '+');
  for (const Value& input : inputs) {
    writer.mark(input.present() ? 'x' : '-');
    if (!input.present()) continue;
    if (!input.is_tensor()) return false;
    writer.number(static_cast<std::int64_t>(input.type()));
    writer.number(static_cast<std::int64_t>(input.shape().size()));
  }
  return true;
}

void write_extents(const Value& input, KeyWriter& writer) {
  for (std::int64_t extent : input.shape()) writer.number(extent);
}

// The shapes of those inputs that are asked for.
std::string shapes_of(std::span<const Value> inputs, std::uint64_t asked) {
  KeyWriter writer;
  for (std::size_t i = 0; asked != 0 && i < inputs.size(); ++i) {
    if ((asked >> std::min<std::size_t>(i, 63) & 1) != 0) write_extents(inputs[i], writer);
  }
  return writer.key();
}

}  // namespace

// As many places from the start on as there may be graphs: what is not kept is then seen to be so
// without a look at what is.
ComposedCache::ComposedCache() : passed_(kMostGraphs) {
  graphs_.reserve(kMostGraphs);
  kinds_.reserve(kMostGraphs);
}

ComposedCache& ComposedCache::of_this_thread() {
  thread_local ComposedCache cache;
  return cache;
}

ComposedKey::ComposedKey(const PlannedNode& node, Reading reading, std::span<const Value> inputs) {
  KeyWriter writer;
  if (!write_kind(node, inputs, writer)) return;
  kind = writer.size();
  writer.number(static_cast<std::int64_t>(reading));
  for (const Value& input : inputs) {
    writer.mark(input.exact() ? 'e' : 'r');
    write_extents(input, writer);
  }
  text = writer.key();
  hash = std::hash<std::string>()(text);
}

std::shared_ptr<ComposedGraph> ComposedCache::find(const ComposedKey& key) const {
  const auto found = graphs_.find(key);
  return found == graphs_.end() ? nullptr : found->second;
}

bool ComposedCache::comes_again(std::size_t hash) {
  return std::exchange(passed_[hash % kMostGraphs], hash) == hash;
}

void ComposedCache::keep(ComposedKey key, ComposedGraph graph) {
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  graph.memory->settle(*graph.plan);
  graphs_.insert_or_assign(std::move(key), std::make_shared<ComposedGraph>(std::move(graph)));
}

std::shared_ptr<const Plan> ComposedCache::find_plan(const ComposedKey& key,
                                                     std::span<const Value> inputs) const {
  const auto kind = kinds_.find(std::string_view(key.text).substr(0, key.kind));
  if (kind == kinds_.end()) return nullptr;
  const auto found = kind->second.plans.find(shapes_of(inputs, kind->second.asked));
  return found == kind->second.plans.end() ? nullptr : found->second;
}

void ComposedCache::keep_plan(const ComposedKey& key, std::span<const Value> inputs,
                              std::uint64_t asked, std::shared_ptr<const Plan> plan) {
  const std::string_view text = std::string_view(key.text).substr(0, key.kind);
  if (!comes_again(Hash()(text))) return;
  if (plan_count_ >= kMostGraphs) kinds_.clear(), plan_count_ = 0;
  Kind& kind = kinds_[std::string(text)];
  if ((asked & ~kind.asked) != 0) {  // what is kept does not say for which of these shapes it is
    kind.plans.clear();
    kind.asked |= asked;
  }
  kind.plans.insert_or_assign(shapes_of(inputs, kind.asked), std::move(plan));
  ++plan_count_;
}

}  // namespace assay
