// Spread: how far honest evaluations of a whole model may lie apart.
#pragma once

#include <functional>
#include <vector>

#include "semantics/evaluator.h"

namespace assay {

// What rounding alone justifies for one output of a model.
struct Spread {
  Value value;                    // the reference's
  std::vector<double> allowance;  // an element: how far from it others may lie; infinity: anywhere
  double relative = 0, absolute = 0;  // tolerances that cover the allowances
  bool open = false;   // rounding decides the shape, or chance everything: others are right too
  bool given = false;  // the allowances are the user's, of one backend beside another

  // The largest |found - value| as a multiple of its allowance; above 1, rounding does not explain
  // it. Infinity for another type, or a shape that rounding does not explain. `where` is the worst
  // element.
  double excess(const Value& found, std::size_t* where = nullptr) const;
};

// A few draws do not show the extremes; so many times their reach does, by far.
inline constexpr double kSpreadSafety = 3;

// Sees every node: as it is, and in each run with what was drawn for it.
struct SpreadObserver {
  std::function<void(const Evaluated&)> exact{};
  std::function<void(const Evaluated&, std::span<const Value> drawn)> drawn{};
};

// Bounds that are carried through a whole model say nothing after a few layers. Instead the model
// is run several times, and each node's result is drawn from that node's own bound on the inputs it
// then has; what the outputs do is the spread. Elements of about one size share what they did.
Result<std::vector<Spread>> rounding_spread(const Evaluator& evaluator,
                                            const std::vector<Value>& inputs, std::uint64_t seed,
                                            const SpreadObserver& observer = {});

}  // namespace assay
