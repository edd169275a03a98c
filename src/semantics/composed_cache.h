// The graphs that operators stand for, kept for the next node with the same attributes on inputs of
// the same types and shapes, be it of another model: most of what a small model costs is learned
// over and over again otherwise.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/run_memory.h"

namespace assay {

struct ComposedGraph {
  std::unique_ptr<const Plan> plan;
  std::unique_ptr<RunMemory> memory;
};

// What decides which graph a node stands for, and that it is legal; empty where it cannot be told.
struct ComposedKey {
  std::string text;
  std::size_t hash = 0;

  ComposedKey() = default;
  ComposedKey(const PlannedNode& node, Reading reading, std::span<const Value> inputs);
  bool empty() const { return text.empty(); }
  bool operator==(const ComposedKey& other) const { return text == other.text; }
};

// One for each thread.
class ComposedCache {
 public:
  static ComposedCache& of_this_thread();

  // Null if there is none. The caller keeps it alive while it runs.
  std::shared_ptr<ComposedGraph> find(const ComposedKey& key) const;
  // Whether the graph of this key is worth keeping: most come once and would only take memory.
  bool comes_again(const ComposedKey& key);
  void keep(ComposedKey key, ComposedGraph graph);

 private:
  struct Hash {
    std::size_t operator()(const ComposedKey& key) const { return key.hash; }
  };
  std::unordered_map<ComposedKey, std::shared_ptr<ComposedGraph>, Hash> graphs_;
  std::vector<std::size_t> passed_;  // hashes of keys that came once, each in its only place
};

}  // namespace assay
