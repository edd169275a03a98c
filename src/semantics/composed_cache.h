// The graphs that operators stand for, kept for the next node with the same attributes on inputs of
// the same types, be it of another model: most of what a small model costs is learned over and over
// again otherwise. What was learned in running a graph is kept for inputs of the same shapes; its
// plan for all shapes that agree where the graph depends on them.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/run_memory.h"

namespace assay {

struct ComposedGraph {
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<RunMemory> memory;
};

// What decides which graph a node stands for, and that it is legal; empty where it cannot be told.
struct ComposedKey {
  std::string text;
  std::size_t kind = 0;  // so much of the text is about the node, and the types and ranks of inputs
  std::size_t hash = 0;

  ComposedKey() = default;
  ComposedKey(const PlannedNode& node, Reading reading, std::span<const Value> inputs);
  bool empty() const { return text.empty(); }
  bool operator==(const ComposedKey& other) const { return text == other.text; }
};

// One for each thread.
class ComposedCache {
 public:
  ComposedCache();
  static ComposedCache& of_this_thread();

  // Null if there is none. The caller keeps it alive while it runs.
  std::shared_ptr<ComposedGraph> find(const ComposedKey& key) const;
  // Whether what has this hash is worth keeping: most comes once and would only take memory.
  bool comes_again(std::size_t hash);
  void keep(ComposedKey key, ComposedGraph graph);

  // The same for plans. `asked` are the inputs whose shapes the graph depends on, by their bits.
  std::shared_ptr<const Plan> find_plan(const ComposedKey& key,
                                        std::span<const Value> inputs) const;
  void keep_plan(const ComposedKey& key, std::span<const Value> inputs, std::uint64_t asked,
                 std::shared_ptr<const Plan> plan);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const ComposedKey& key) const { return key.hash; }
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  // The graphs of one kind of node: by the shapes of those inputs that any of them depends on.
  struct Kind {
    std::uint64_t asked = 0;
    std::unordered_map<std::string, std::shared_ptr<const Plan>> plans;
  };
  std::unordered_map<ComposedKey, std::shared_ptr<ComposedGraph>, Hash> graphs_;
  std::unordered_map<std::string, Kind, Hash, std::equal_to<>> kinds_;
  std::size_t plan_count_ = 0;
  std::vector<std::size_t> passed_;  // hashes that came once, each in its only place
};

}  // namespace assay
