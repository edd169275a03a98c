// Function: a meaning written as a small graph of other operators; also the form of variants.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "patterns/call.h"

namespace assay {

// Builds the graph that stands for one node. Names of values are plain strings; operators are those
// of the newest version of the standard unless a node asks for another.
class Builder {
 public:
  using Values = std::vector<std::string>;
  using Attributes = std::vector<Attribute>;

  explicit Builder(const Site& site);
  const Site& site() const { return *site_; }

  bool has(std::size_t i) const { return site_->has_input(i); }
  std::string input(std::size_t i) const;  // "" if it is not given
  bool wants(std::size_t i) const { return site_->has_output(i); }

  // A node with one output; the name of that output.
  std::string operator()(std::string op, Values inputs, Attributes attributes = {});
  // A node with `outputs` outputs.
  Values many(std::string op, Values inputs, std::size_t outputs, Attributes attributes = {});
  // The node itself again (same operator and version) with some attributes replaced, on the node's
  // own inputs or on other ones: the usual variant.
  Values again(Attributes changes = {});
  Values again_on(Values inputs, Attributes changes = {});

  std::string constant(Tensor tensor);
  std::string like(std::size_t i, double value);           // rank 0, of input i's element type
  std::string integers(std::vector<std::int64_t> values);  // i64[n]
  std::string integer(std::int64_t value);                 // i64[]

  void output(std::size_t i, std::string value);
  Graph finish();

 private:
  std::string fresh();
  Node& add(std::string op, Values inputs, Attributes attributes);
  const Site* site_;
  Graph graph_;
  std::vector<std::string> outputs_;
  int next_ = 0;
};

using Composition = void (*)(Builder&);

// The graph of a composition for one node.
Graph compose(Composition body, const Site& site);
Meaning function(Composition body);

}  // namespace assay
