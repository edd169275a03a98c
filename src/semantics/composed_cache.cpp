#include "semantics/composed_cache.h"

#include <algorithm>
#include <utility>

#include "semantics/key_writer.h"

namespace assay {
namespace {

constexpr std::size_t kMostGraphs = 1 << 14;

// False where an attribute or an input is of a kind that no key can tell. A layer inside another
// one, which asks for shapes unnoticed, is an attribute of such a kind.
bool write_kind(const PlannedNode& node, std::span<const Value> inputs, KeyWriter& writer) {
  if (!writer.node(node.node, node.found.schema)) return false;
  for (const Value& input : inputs) {
    writer.mark(input.present() ? 'x' : '-');
    if (!input.present()) continue;
    if (!input.is_tensor()) return false;
    writer.number(static_cast<std::int64_t>(input.type()));
    writer.count(input.shape().size());
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
ComposedCache::ComposedCache() { graphs_.reserve(kMostGraphs); }

ComposedPlans::ComposedPlans() { kinds_.reserve(kMostGraphs); }

Passed::Passed() : hashes_(kMostGraphs) {}

bool Passed::comes_again(std::size_t hash) {
  return std::exchange(hashes_[hash % kMostGraphs], hash) == hash;
}

ComposedCache& ComposedCache::of_this_thread() {
  thread_local ComposedCache cache;
  return cache;
}

// Never destroyed: threads may still run when the process ends.
ComposedPlans& ComposedPlans::shared() {
  static ComposedPlans& only = *new ComposedPlans;
  return only;
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

void ComposedCache::keep(ComposedKey key, ComposedGraph graph) {
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  graph.memory->settle(*graph.plan);
  graphs_.insert_or_assign(std::move(key), std::make_shared<ComposedGraph>(std::move(graph)));
}

std::shared_ptr<const Plan> ComposedPlans::find(const ComposedKey& key,
                                                std::span<const Value> inputs) const {
  const std::lock_guard lock(mutex_);
  const auto kind = kinds_.find(std::string_view(key.text).substr(0, key.kind));
  if (kind == kinds_.end()) return nullptr;
  const auto found = kind->second.plans.find(shapes_of(inputs, kind->second.asked));
  return found == kind->second.plans.end() ? nullptr : found->second;
}

void ComposedPlans::keep(const ComposedKey& key, std::span<const Value> inputs, std::uint64_t asked,
                         std::shared_ptr<const Plan> plan) {
  const std::lock_guard lock(mutex_);
  const std::string_view text = std::string_view(key.text).substr(0, key.kind);
  if (!passed_.comes_again(Hash()(text))) return;
  if (plan_count_ >= kMostGraphs) kinds_.clear(), plan_count_ = 0;
  Kind& kind = kinds_[std::string(text)];
  if ((asked & ~kind.asked) != 0) {  // what is kept does not say for which of these shapes it is
    kind.plans.clear();
    kind.asked |= asked;
  }
  kind.plans.insert_or_assign(shapes_of(inputs, kind.asked), std::move(plan));
  ++plan_count_;
}

void ComposedPlans::forget() {
  const std::lock_guard lock(mutex_);
  kinds_.clear();
  plan_count_ = 0;
  passed_ = Passed();
}

}  // namespace assay
