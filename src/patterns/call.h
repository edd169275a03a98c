// Call: one evaluation of one node, in one reading; and what a meaning is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/value.h"
#include "patterns/site.h"

namespace assay {

// Which input elements an output element reads.
enum class Pattern : std::uint8_t {
  elementwise,
  reduce,
  rowwise,
  windowed,
  contraction,
  move,
  gather,
  sample,
  prefix,
  generate,
  random,
  control,
  container,
  text,
  function,
  opaque
};
std::string_view to_text(Pattern pattern);

// A node that cannot be evaluated on these values: an index out of range, an overflowing size.
class EvaluationError : public std::runtime_error {
 public:
  EvaluationError(std::string rule, const std::string& message)
      : std::runtime_error(message), rule_(std::move(rule)) {}
  const std::string& rule() const { return rule_; }  // "gather.index-range"

 private:
  std::string rule_;
};

// A decision that must be exact (an index, a length) depends on a value that is not: the driver
// answers with the type's whole range and says "unknown".
class InexactDecision : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Call;

// What semantics/ lends to nodes that contain graphs or are made of other operators.
class GraphEvaluator {
 public:
  virtual ~GraphEvaluator() = default;
  // A subgraph of the running node, which sees the names around it. `step` numbers iterations in
  // the names of hidden values (loop/body/x#3); below 0 the iteration around it goes on.
  virtual std::vector<Value> run_subgraph(const Call& caller, const Graph& body,
                                          std::span<const Value> inputs, std::int64_t step) = 0;
  // A closed graph over the newest operators: a function's body or a variant's rewrite.
  virtual std::vector<Value> run_function(const Call& caller, const Graph& body,
                                          std::span<const Value> inputs) = 0;
  // The graph in which the running node stands, up to that node: its initializers, and its nodes
  // with the version of each operator filled in. Empty for a node by itself.
  virtual Graph surroundings() const = 0;
  // Of a random node; `own` is what its attributes say.
  virtual std::uint64_t seed(std::optional<std::uint64_t> own) const = 0;
};

struct Call {
  const Site& site;  // attributes, version, concrete input types
  Reading reading;
  std::span<const Value> inputs;
  std::vector<ValueType> types;  // of the outputs, as inferred; concrete unless data decides
  std::vector<Value> outputs;    // to be filled, one for each of node.outputs
  GraphEvaluator& evaluator;
  bool unknown = false;  // the answer is only the type's range
  // Where a node that is evaluated again may keep what it has made of its inputs; else null.
  std::shared_ptr<void>* kept = nullptr;

  const Node& node() const { return site.node(); }
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].present(); }
  const Value& input(std::size_t i) const { return inputs[i]; }
  // The elements of an input that must be exact; throws InexactDecision if it is not.
  const Tensor& exact(std::size_t i) const;
  ElementType output_type(std::size_t i) const { return types[i].element; }
  Shape output_shape(std::size_t i) const;  // throws if not concrete
};

class Builder;

struct Meaning {
  Pattern pattern = Pattern::opaque;
  std::function<void(Call&)> evaluate;
  bool answers_interval = true;             // false: the Interval reading is always "unknown"
  void (*composition)(Builder&) = nullptr;  // of pattern function: the graph that it is
};

// Any function on calls; its answers to bounded and interval are those of the exact inputs, and
// "unknown" where an input is not exact. For patterns without a driver: container, text, random, …
Meaning custom(Pattern pattern, std::function<void(Call&)> evaluate);

// Fills the outputs with the whole range of their types (interval) or errors of infinity (bounded).
void answer_unknown(Call& call);

}  // namespace assay
