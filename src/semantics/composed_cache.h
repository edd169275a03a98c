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

// One for each thread.
class ComposedCache {
 public:
  static ComposedCache& of_this_thread();
  // What decides which graph the node stands for, and that it is legal; "" where it cannot be told.
  static std::string key(const PlannedNode& node, Reading reading, std::span<const Value> inputs);

  // Null if there is none. The caller keeps it alive while it runs.
  std::shared_ptr<ComposedGraph> find(const std::string& key) const;
  // Whether the graph of this key is worth keeping: most come once and would only take memory.
  bool comes_again(const std::string& key);
  void keep(std::string key, ComposedGraph graph);

 private:
  std::unordered_map<std::string, std::shared_ptr<ComposedGraph>> graphs_;
  std::vector<std::size_t> passed_;  // hashes of keys that came once, each in its only place
};

}  // namespace assay
