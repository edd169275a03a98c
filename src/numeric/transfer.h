// Transfers: what a node makes of abstract tensors, derived from its pattern and its own body.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "numeric/abstract.h"
#include "numeric/applied.h"
#include "numeric/forms.h"
#include "numeric/numbered_forms.h"
#include "numeric/range_memory.h"
#include "numeric/steps.h"
#include "numeric/transfer_memory.h"
#include "patterns/call.h"
#include "semantics/plan.h"

namespace assay {

struct Setting {
  TensorMode tensors = TensorMode::partition;
  NumberMode numbers = NumberMode::affine;
};

// A node with what is known around it.
struct Situation {
  const PlannedNode& node;
  std::span<const Abstract> inputs;     // not a tensor: an input that is not given
  std::vector<ValueType> output_types;  // as inferred
  Setting setting;
  Forms& forms;
  KnownSteps& steps;
  RangeMemory& memory;
  TransferMemory& transfers;
  // Filled in by the transfer: what bodies applied, a result that an integer type did not hold, and
  // whether the first output is element by element what the body makes of the inputs.
  std::vector<Applied> applied{};
  std::optional<Interval> left_type{};
  bool elementwise = false;
  // Of the inputs, where outputs are to have numbers for forms.
  NumberedForms* numbered = nullptr;

  void forget() {
    applied.clear();
    left_type.reset();
    elementwise = false;
  }
  bool present(std::size_t i) const { return i < inputs.size() && inputs[i].is_tensor(); }
};

using Outputs = std::optional<std::vector<Abstract>>;  // nothing: this transfer does not apply

// Nodes whose axes run along together (ops/alignment.h): one element of a cell for all.
Outputs transfer_aligned(Situation& s);
// Elementwise nodes on tensors that are one range each: one element stands for all of any shape.
Outputs transfer_points(Situation& s);
// Nodes that move elements: cells are relabelled and keep their forms.
Outputs transfer_moved(Situation& s);
// Any node with an Interval reading, element by element; only for few elements.
Outputs transfer_dense(Situation& s);
// Nodes all of whose inputs are known exactly.
Outputs transfer_exact(Situation& s);
// The first of these that applies, or what it gave for such a node before.
Outputs transfer(Situation& s);

// What the body's steps say about the forms of an elementwise output, which narrow its ranges.
void attach_forms(Situation& s, Abstract& output);

// Extents that the model leaves open are looked at as if they were this. It has many divisors, so
// that splits and reshapes of it work.
inline constexpr std::int64_t kOpenExtent = 840;
// And between 1 and this where elements are counted.
inline constexpr double kMostOpen = 0x1p16;
// Elements along open axes together.
inline constexpr double kMostCounted = 0x1p20;
Shape concrete(const Dims& dims);
bool is_open(const Dims& dims);

// Numbers that a tensor may hold more cells than.
std::int64_t most_cells(TensorMode mode);

// Runs the node in the Interval reading, or remembers what that gave, and notes what its body
// applies, before which nothing was; no values if it says "unknown". Throws EvaluationError.
std::optional<std::vector<Value>> run_watched(Situation& s, std::span<const Value> inputs);
// The same with another node in its place.
std::optional<std::vector<Value>> run_watched(Situation& s, const PlannedNode& node,
                                              std::span<const Value> inputs);

}  // namespace assay
