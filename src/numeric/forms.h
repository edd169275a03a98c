// Forms: each element of a cell as a linear expression of elements of other tensors, so that
// additions and subtractions cancel.
//
// A term is an element of a cell at an index that depends on the index of the element it stands
// for: x[i, 0] and x[i, 1] are different, and do not cancel. A form holds for every float
// evaluation: what rounding adds is in its rest.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "scalar/interval.h"

namespace assay {

// Where along an axis the element is that stands for index i: stride · i[axis] + offset.
struct AxisRead {
  int axis = -1;  // none: the offset alone
  std::int64_t stride = 0, offset = 0;
  auto operator<=>(const AxisRead&) const = default;
};
using IndexMap = std::vector<AxisRead>;

struct Term {
  std::uint32_t variable = 0;
  double factor = 0;
  auto operator<=>(const Term&) const = default;
};

struct Form {
  std::vector<Term> terms;   // by variable
  double low = 0, high = 0;  // the rest lies in here
  bool exact() const { return low == 0 && high == 0; }
};

class Forms {
 public:
  Forms() : forms_(1) {}

  // A new tensor of so many axes; its cells are variables from now on.
  int new_tensor() { return next_tensor_++; }
  std::uint32_t cell(int tensor, std::int64_t cell, std::size_t rank, const Interval& range);
  std::uint32_t constant(double value);

  // These give 0 where nothing is known. `result` is what interval arithmetic says, in the current
  // rounding; it is narrowed.
  std::uint32_t sum(std::uint32_t a, std::uint32_t b, Interval& result);
  std::uint32_t negated(std::uint32_t a);
  std::uint32_t product(std::uint32_t a, std::uint32_t b, Interval& result);
  std::uint32_t larger_than_zero(std::uint32_t a, Interval& result);  // max(a, 0)

  // The form as seen through another index: axis d of the old index is through[d] of the new one.
  std::uint32_t seen_through(std::uint32_t form, const IndexMap& through);

  const Form& at(std::uint32_t form) const { return forms_[form]; }
  Interval range_of(const Form& form) const;

 private:
  // An element of a cell, or max(0, ·) of a form without rest.
  struct Variable {
    int tensor = -1;
    std::int64_t cell = 0;
    IndexMap map;
    std::vector<Term> positive_part_of;
    auto operator<=>(const Variable&) const = default;
  };
  std::uint32_t variable(const Variable& key, const Interval& range);
  std::uint32_t keep(Form form);
  std::uint32_t scaled(const Form& form, double factor, Interval& result);
  std::optional<Form> joined(const Form& a, const Form& b) const;
  std::uint32_t settle(Form form, double error, Interval& result);
  std::uint32_t shifted(std::uint32_t variable, const IndexMap& through);

  std::vector<Form> forms_;
  std::vector<Variable> variables_;
  std::vector<Interval> ranges_;
  std::map<Variable, std::uint32_t> ids_;
  int next_tensor_ = 0;
};

}  // namespace assay
