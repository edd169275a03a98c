// Check: the shared predicates of preconditions. Each names its rule, what it expected and found,
// and a badness that grows with the distance from valid.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/schema.h"
#include "patterns/site.h"

namespace assay {

struct Violation {
  std::string kind;  // "Dimension Error", "Argument Error", … (contract: validate)
  std::string rule;  // "AveragePool.window-fits": stable
  std::string expected, found;
  double badness = 0;
  std::string message;  // a sentence a person can act on
};

struct Undecided {
  std::string rule, needs;
};

// Limits on a rank or a number.
struct Limits {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
inline Limits at_least(std::int64_t n) { return {n, std::numeric_limits<std::int64_t>::max()}; }
inline Limits at_most(std::int64_t n) { return {std::numeric_limits<std::int64_t>::min(), n}; }
inline Limits exactly(std::int64_t n) { return {n, n}; }
inline Limits between(std::int64_t a, std::int64_t b) { return {a, b}; }

// Inputs are named as in the standard ("X", "kernel_shape"). A predicate whose input is absent
// holds; one whose dimensions are unknown is undecided. Each returns whether it certainly holds, so
// that a later predicate can rely on it.
class Check {
 public:
  Check(const Site& site, const Schema& schema) : site(site), schema_(schema) {}

  // dimensions
  bool rank(std::string_view input, Limits limits);
  bool same_rank(std::string_view a, std::string_view b);
  bool same_shape(std::string_view a, std::string_view b);
  bool broadcastable();                                                // all inputs together
  bool broadcastable(std::string_view a, std::string_view b);          // both ways
  bool broadcasts_to(std::string_view small, std::string_view large);  // one way
  // Extent `axis` (may be negative) of the input is `expected`; `what` says why, for the message.
  bool extent(std::string_view input, std::int64_t axis, const Dim& expected,
              std::string_view what);
  bool weight_extent(std::string_view input, std::int64_t axis, const Dim& expected,
                     std::string_view what);  // the same, as a Weight Shape Error
  bool element_count_is(std::string_view input, std::int64_t count);
  bool divisible(const Dim& number, std::int64_t divisor, std::string_view what);
  bool not_empty(std::string_view input);  // no extent is zero

  // arguments: attributes
  bool axis(std::string_view attribute, std::string_view input);  // in [-r, r)
  bool axis(std::string_view attribute, std::int64_t value, Limits limits);
  bool axes(std::string_view attribute, std::string_view input);  // in range, no axis twice
  bool axes(std::string_view what, const std::vector<std::int64_t>& values, std::int64_t rank);
  bool length(std::string_view attribute, std::int64_t count);  // holds if absent
  bool in_range(std::string_view attribute, Limits limits);     // an integer or a list
  bool real_in_range(std::string_view attribute, double least, double most);  // NaN is outside
  bool positive(std::initializer_list<std::string_view> attributes);          // integers or lists
  bool not_negative(std::initializer_list<std::string_view> attributes);
  bool one_of(std::string_view attribute, std::initializer_list<std::string_view> choices);
  bool required(std::string_view attribute);
  // inputs whose elements are known
  bool index_range(std::string_view input, std::int64_t extent);  // each in [-extent, extent)

  // Anything else. `rule` is the part after the dot.
  bool that(bool holds, std::string_view kind, std::string_view rule, std::string expected,
            std::string found, double badness, std::string message);
  bool argument(bool holds, std::string_view rule, std::string expected, std::string found);
  bool shape(bool holds, std::string_view rule, std::string expected, std::string found);
  void undecided(std::string_view rule, std::string needs);

  std::optional<std::size_t> index_of(std::string_view input) const;  // nullopt if not given
  const Dims* dims(std::string_view input) const;
  std::optional<std::int64_t> rank_of(std::string_view input) const;
  std::string id(std::string_view rule) const;  // "Op.rule"

  const Site& site;
  std::vector<Violation> violations;
  std::vector<Undecided> open;

 private:
  const Schema& schema_;
};

// Severity of the kinds: ranks weigh most, then shapes, then arguments.
inline constexpr double kRankBadness = 1000, kShapeBadness = 100, kArgumentBadness = 10;

}  // namespace assay
