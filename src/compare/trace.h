// Trace: one run of a model with all that it shows: weights, inner values, and what rounding may do
// to each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "compare/spread.h"

namespace assay {

// An initialiser or a constant, of the main graph or of one inside it.
struct Weight {
  std::string name;  // "w", "if/then_branch/w"
  Tensor tensor;
  bool used = false;  // some node that was run has read it
};

// A value that a node gave. One that only carries another on (Identity, the branch of an If) is not
// listed again.
struct InnerValue {
  std::string name, layer, op;
  Tensor tensor;
  double allowance = 0;                // how far an element may lie from the reference's
  bool constant = false;               // it depends on weights alone
  std::vector<std::size_t> values{};   // that its node has read, in this list
  std::vector<std::size_t> weights{};  // that its node has read
};

struct TracedOutput {
  std::string name;
  Value value;    // the backend's, of a run that nobody watched
  Spread spread;  // around the reference's
};

struct Trace {
  std::vector<Weight> weights;
  std::vector<InnerValue> values;  // in order of execution
  std::vector<TracedOutput> outputs;
  Answer refusal{};  // what the backend said, if it did not run the model
};

// What is to be run: a model, where its file is, its inputs in the order of the graph's, and who
// runs it (null: the reference).
struct Traced {
  std::shared_ptr<const Model> model;
  ModelSource source;
  std::vector<Value> inputs;
  Backend* backend = nullptr;
};
// Errors are those of the evaluator; what a backend does not do is in `refusal`.
Result<Trace> trace(const Traced& traced, std::uint64_t seed);

// The outputs alone. A backend that does not answer is an Error.
Result<std::vector<TracedOutput>> trace_outputs(const Traced& traced, std::uint64_t seed);

}  // namespace assay
