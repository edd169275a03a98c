// Numbers that say a shape, a slice or a place, and what the families that use them share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/operator.h"

namespace assay {

// A list that older versions take as an attribute and newer ones as an input.
struct Numbers {
  bool given = false;
  std::optional<std::vector<std::int64_t>> values;  // absent: not given, or not known yet
};
Numbers numbers(const Site& site, std::string_view attribute, std::size_t input);
// The same in a body: the input must be exact. Empty if the node does not have it.
std::vector<std::int64_t> exact_numbers(const Call& call, std::string_view attribute,
                                        std::size_t input);
// Elements of an integer or a real input as whole numbers; a real one is cut toward zero.
std::vector<std::int64_t> whole_numbers(const Tensor& tensor);

// Axes in [-rank, rank) as axes in [0, rank); those outside are left out.
std::vector<std::size_t> normalized(const std::vector<std::int64_t>& axes, std::size_t rank);
// The axis attribute as an axis in [0, rank), of a node that is known to be legal; and of one that
// may not have been checked to the end, where an extent is unknown.
std::size_t axis_of(const Site& site, std::string_view attribute, std::size_t rank,
                    std::int64_t fallback = 0);
std::optional<std::size_t> find_axis(const Site& site, std::string_view attribute, std::size_t rank,
                                     std::int64_t fallback = 0);

// No tensor has more elements than this: a known shape beyond it is refused, not allocated.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
bool sensible_size(Check& c, const Dims& output);  // rule "size"
// The axis attribute of the first input, named `input`; `fallback` where the standard's table gives
// no default but its text does.
bool require_axis(Check& c, std::string_view input, std::int64_t fallback = 0);

// The known elements of an integer input are each in [-extent, extent); rule "index-range".
bool require_indices(Check& c, std::string_view input, const Dim& extent);
// The extents of a shape before `axis` together, and those behind it.
struct Around {
  std::int64_t outer = 1, inner = 1;
};
Around around(const Shape& shape, std::size_t axis);

// A meaning that leaves the elements of the first input as they stand and reads the others to know
// the output's shape.
Meaning reshape();

}  // namespace assay
