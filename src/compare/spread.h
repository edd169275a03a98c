// Spread: how far honest evaluations of a whole model may lie apart.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/evaluator.h"

namespace assay {

// What rounding alone justifies for one output of a model.
struct Spread {
  Value value;                    // the reference's
  std::vector<double> allowance;  // an element: how far from it others may lie; infinity: anywhere
  double relative = 0, absolute = 0;  // tolerances that cover the allowances

  // The largest |found - value| as a multiple of its allowance; above 1, rounding does not explain
  // it. Infinity for another type or shape. `where` is the worst element.
  double excess(const Value& found, std::size_t* where = nullptr) const;
};

// How far each result of each node may lie from what was computed, by name. It takes a run in the
// slow reading to learn this; runs that draw from it are fast.
class Reaches {
 public:
  // Of an element that is exact, or that can become anything, the reach is 0: both stay.
  const std::vector<float>& learn(const std::string& name, const std::vector<double>& errors);
  const std::vector<float>* find(const std::string& name) const;
  // Whatever either of two allows.
  void widen(Reaches other);
  // Whether all is known that was learned: of a model with too large values little is kept.
  bool complete() const;

 private:
  std::unordered_map<std::string, std::vector<float>> known_;
  std::size_t bytes_ = 0;
};

// Bounds that are carried through a whole model say nothing after a few layers. Instead the model
// is run several times, and each node's result is drawn from that node's own bound on the inputs it
// then has; what the outputs do is the spread. Bounds that are known already, such as those that a
// backend was judged by, save a run.
Result<std::vector<Spread>> rounding_spread(const Evaluator& evaluator,
                                            const std::vector<Value>& inputs, std::uint64_t seed,
                                            Reaches known = {});

}  // namespace assay
