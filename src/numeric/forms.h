// Forms: each element of a cell as a linear expression of elements of other tensors, so that
// additions and subtractions cancel.
//
// A term is an element of a cell at an index that depends on the index of the element it stands
// for: x[i, 0] and x[i, 1] are different, and do not cancel. A form holds for every float
// evaluation: what rounding adds is in its rest.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
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
bool is_plain(const IndexMap& through);  // whether every index is seen as itself

struct Term {
  std::uint32_t variable;
  double factor;
  auto operator<=>(const Term&) const = default;
};

// Forms by number, 0 for none, whatever is known of them.
class FormReader {
 public:
  virtual ~FormReader() = default;
  // The form as seen through another index: axis d of the old index is through[d] of the new one.
  virtual std::uint32_t seen_through(std::uint32_t form, const IndexMap& through) = 0;
};

// Every cell of every value of a network has a form, so all that is kept lies in a few long lists.
class Forms : public FormReader {
 public:
  Forms() : kept_(1), positive_parts_(1) {}

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

  std::uint32_t seen_through(std::uint32_t form, const IndexMap& through) override;

 private:
  static constexpr std::size_t kMostTerms = 16;

  // A form that is being made; one that was kept has its terms in the list of all. Most have one or
  // two, so the room for others is left as it is.
  struct Form {
    Form() {}                                   // NOLINT(*-member-init, *-equals-default)
    Form(const Form& other) { *this = other; }  // NOLINT(*-member-init)
    Form& operator=(const Form& other) {
      std::copy_n(other.terms.begin(), other.count, terms.begin());
      count = other.count;
      low = other.low;
      high = other.high;
      return *this;
    }
    std::array<Term, 2 * kMostTerms> terms;  // by variable
    std::size_t count = 0;
    double low = 0, high = 0;  // the rest lies in here

    std::span<Term> used() { return {terms.data(), count}; }
    std::span<const Term> used() const { return {terms.data(), count}; }
    void add(const Term& term) { terms[count++] = term; }
    bool exact() const { return low == 0 && high == 0; }
  };
  struct Kept {
    std::uint32_t first = 0, count = 0;
    double low = 0, high = 0;
  };
  // An element of a cell, or max(0, ·) of a form without rest. Maps and such forms are few.
  struct Variable {
    int tensor = -1;
    std::uint32_t map = 0;
    std::int64_t cell = 0;
    std::uint32_t positive_part_of = 0;  // 0: of none
    bool operator==(const Variable&) const = default;
  };
  struct VariableHash {
    std::size_t operator()(const Variable& variable) const;
  };

  Form at(std::uint32_t form) const;
  Interval range_of(const Form& form) const;
  std::uint32_t new_variable(const Variable& variable, const Interval& range);
  std::uint32_t variable(const Variable& key, const Interval& range);
  std::uint32_t plain_map(std::size_t rank);
  std::uint32_t keep(const Form& form);
  std::uint32_t scaled(const Form& form, double factor, Interval& result);
  static std::optional<Form> joined(const Form& a, const Form& b);
  std::uint32_t settle(Form& form, double error, Interval& result);
  std::uint32_t shifted(std::uint32_t variable, const IndexMap& through);

  std::vector<Kept> kept_;
  std::vector<Term> terms_;
  std::vector<Variable> variables_;
  std::vector<Interval> ranges_;
  // Of a tensor's own cells those that were seen through another index: nobody asks for others.
  std::unordered_map<Variable, std::uint32_t, VariableHash> ids_;
  std::vector<IndexMap> maps_;
  std::map<IndexMap, std::uint32_t> map_ids_;
  std::vector<std::vector<Term>> positive_parts_;
  std::map<std::vector<Term>, std::uint32_t> positive_ids_;
  std::vector<std::uint32_t> plain_maps_;  // by rank: every index is its own
  int next_tensor_ = 0;
};

}  // namespace assay
