// The graphs that operators stand for, kept for the next node with the same attributes on inputs of
// the same types, be it of another model: most of what a small model costs is learned over and over
// again otherwise. What was learned in running a graph is kept for inputs of the same shapes; its
// plan for all shapes that agree where the graph depends on them, and for all threads.
#pragma once

#include <memory>
#include <mutex>
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

// Tells what is worth keeping: most comes once and would only take memory.
class Passed {
 public:
  Passed();
  // Whether something with this hash has come before, as far as is remembered.
  bool comes_again(std::size_t hash);

 private:
  std::vector<std::size_t> hashes_;  // that came once, each in its only place
};

// What was learned in running graphs, one for each thread.
class ComposedCache {
 public:
  ComposedCache();
  static ComposedCache& of_this_thread();

  // Null if there is none. The caller keeps it alive while it runs.
  std::shared_ptr<ComposedGraph> find(const ComposedKey& key) const;
  bool comes_again(std::size_t hash) { return passed_.comes_again(hash); }
  void keep(ComposedKey key, ComposedGraph graph);

 private:
  struct Hash {
    std::size_t operator()(const ComposedKey& key) const { return key.hash; }
  };
  std::unordered_map<ComposedKey, std::shared_ptr<ComposedGraph>, Hash> graphs_;
  Passed passed_;
};

// The plans of graphs, which nobody changes, for all threads together.
class ComposedPlans {
 public:
  ComposedPlans();
  static ComposedPlans& shared();

  // Null if there is none.
  std::shared_ptr<const Plan> find(const ComposedKey& key, std::span<const Value> inputs) const;
  // `asked` are the inputs whose shapes the graph depends on, by their bits.
  void keep(const ComposedKey& key, std::span<const Value> inputs, std::uint64_t asked,
            std::shared_ptr<const Plan> plan);
  void forget();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  // The graphs of one kind of node: by the shapes of those inputs that any of them depends on.
  struct Kind {
    std::uint64_t asked = 0;
    std::unordered_map<std::string, std::shared_ptr<const Plan>> plans;
  };
  mutable std::mutex mutex_;  // of all that follows
  std::unordered_map<std::string, Kind, Hash, std::equal_to<>> kinds_;
  std::size_t plan_count_ = 0;
  Passed passed_;
};

}  // namespace assay
