// Random small graphs with random ranges of their inputs, for the tests of soundness.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "formats/text_case.h"
#include "graph/graph.h"
#include "graph/value.h"
#include "scalar/interval.h"

namespace assay {

// Numbers between ends that are drawn again and again.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  // Any number of a range, often an end of it, 0, or one of the smallest.
  double element(const Interval& range, ElementType type);

 private:
  std::mt19937_64 random_;
};

// A graph, where its inputs lie, and how to draw a point.
struct DrawnGraph {
  std::shared_ptr<const Model> model;
  std::map<std::string, Interval> ranges;  // of inputs; the ends are numbers of the type
  std::map<std::string, Shape> shapes;     // that the inputs really have, also where open
  std::map<std::string, Value> fixed;      // inputs that are always this

  std::vector<Value> point(Dice& dice) const;
  bool finite() const;  // no range has NaN or an infinity
  std::string describe() const;
};

// A few nodes on tensors of rank 2, so that relations between them matter.
DrawnGraph draw_relations(std::uint64_t seed);
// The node of a case, with nodes before and behind it.
DrawnGraph draw_around(const TextCase& text_case, std::uint64_t seed);

}  // namespace assay
