// Watch: someone who sees what bodies do with intervals, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "scalar/interval.h"

namespace assay {

class Watch {
 public:
  virtual ~Watch() = default;
  // A function was applied. `b` is no number for a function of one argument.
  virtual void applied(Operation function, const Interval& a, const Interval& b,
                       const Interval& result) = 0;
  virtual void added(const Interval& a, const Interval& b, const Interval& result) = 0;
  virtual void multiplied(const Interval& a, const Interval& b, const Interval& result) = 0;
  virtual void chose_larger(const Interval& a, const Interval& b, const Interval& result) = 0;
  virtual void named_constant(const Interval& value) = 0;
  // A result that its integer type does not hold all of.
  virtual void left_type(const Interval& range) = 0;
  // Or rounded to whole numbers, taken the size of, joined.
  virtual void compared() = 0;
};

// That of this thread; null outside every scope.
Watch* watch();

class WatchScope {
 public:
  explicit WatchScope(Watch* watch);
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  Watch* before_;
};

// For the part of a body whose operations cannot fail, by a relation between their operands that
// ranges do not show (x - max(x) is not positive), or by a guard around them.
template <class S, class Body>
auto guarded(Body&& body) {
  if constexpr (std::is_same_v<S, Interval>) {
    const WatchScope nobody(nullptr);
    return std::forward<Body>(body)();
  } else {
    return std::forward<Body>(body)();
  }
}

// How many elements each element of a row stands for, as the lowest and the highest count. While
// one is set, reductions of as many intervals as there are counts take them so.
struct Counts {
  std::vector<std::pair<double, double>> of;
  double most = 0;  // elements altogether
};
const Counts* counts();
const Counts* counts_of(std::size_t terms);  // those that are set, if they are of so many terms
// What the elements that a term stands for can sum up to.
Interval repeated(const Interval& term, const std::pair<double, double>& count);
// Where counts are set for so many terms: those of sums in which each of them is there `times`, one
// after the other, and then `more` that stand for themselves.
std::optional<Counts> counts_of_sums(std::int64_t terms, std::int64_t times, std::int64_t more);

class CountsScope {
 public:
  explicit CountsScope(const Counts& counts);
  ~CountsScope();
  CountsScope(const CountsScope&) = delete;
  CountsScope& operator=(const CountsScope&) = delete;

 private:
  const Counts* before_;
};

}  // namespace assay
