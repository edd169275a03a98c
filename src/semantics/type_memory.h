// TypeMemory: what inference said of nodes, for the next one with the same attributes on inputs of
// which the same is known. Networks are made of a few blocks over and over, and so are gradients.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/name_index.h"
#include "ops/check.h"
#include "semantics/plan.h"

namespace assay {

class TypeMemory {
 public:
  struct Said {
    std::vector<Known> outputs;
    std::vector<Undecided> undecided;
  };

  // What decides about a node that has no graphs inside; empty where it cannot be told.
  static std::string key_of(const PlannedNode& node, std::span<const Known* const> inputs);
  const Said* find(const std::string& key) const;  // null: nothing was said
  void keep(std::string key, Said said);

 private:
  std::unordered_map<std::string, Said> said_;
};

// Numbers for what is known of values: one for what does not differ. Where no key tells whether it
// does, each has its own.
class KnownNumbers {
 public:
  int of(const Known& known);  // never 0

 private:
  NameIndex keys_{NameIndex::Names::copied};
  int others_ = 0;
};

// TypeMemory for values that have such numbers, which makes keys short, and for nodes as they are
// written, before they are looked up. `version` is the node's own.
class NumberedMemory {
 public:
  struct Said {
    std::vector<std::shared_ptr<const Known>> outputs;  // by position; null: not wanted
    std::vector<int> numbers;                           // of these
    std::vector<Undecided> undecided;
    Lookup found;
    bool whole = false;  // the node left nothing out that the standard gives
  };

  // Of a node whose inputs have these numbers, 0 for one that is not given; empty where it cannot
  // be told. Good until the next call.
  std::string_view key_of(const Node& node, std::span<const int> inputs);
  const Said* find(std::string_view key) const;  // null: nothing was said
  void keep(std::string_view key, Said said);

 private:
  std::string key_;
  NameIndex keys_{NameIndex::Names::copied};
  std::vector<Said> said_;  // by the number of the key
};

}  // namespace assay
