// Steps: what the body of an elementwise operator does with its inputs, as far as that is adding,
// multiplying and choosing the larger one; found by watching it work on a few random points.
//
// A body never branches on a value, so its steps are the same everywhere; one that compares, or
// uses any other function, has no steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "numeric/abstract.h"
#include "numeric/forms.h"
#include "semantics/plan.h"

namespace assay {

// An operand: input i, the result of a step, or a constant of the body.
struct Operand {
  enum class Kind : std::uint8_t { input, step, constant };
  Kind kind = Kind::constant;
  std::size_t index = 0;
  double value = 0;  // of a constant
  bool negative = false;
  bool operator==(const Operand&) const = default;
};

struct Step {
  enum class Kind : std::uint8_t { add, multiply, larger };
  Kind kind = Kind::add;
  Operand a, b;
  bool operator==(const Step&) const = default;
};

struct Steps {
  std::vector<Step> steps;
  Operand result;
  bool operator==(const Steps&) const = default;
};

// The steps of a node all of whose inputs and whose output have the given real type; nothing if it
// does anything else. `same_as` has, for each input that is present, the first one with its value.
std::optional<Steps> find_steps(const PlannedNode& node, ElementType type,
                                std::span<const std::size_t> same_as);

// The same for node after node: a network has few kinds of elementwise nodes.
class KnownSteps {
 public:
  const std::optional<Steps>& of(const PlannedNode& node, ElementType type,
                                 std::span<const std::size_t> same_as);

 private:
  std::unordered_map<std::string, std::optional<Steps>> found_;
  std::optional<Steps> single_;  // of a node that none is like
};

// The form of the result for inputs with these forms and ranges, in the current rounding; narrows
// `result`.
std::uint32_t follow(const Steps& steps, std::span<const Cell> inputs, Forms& forms,
                     Interval& result);

}  // namespace assay
