#include "compare/weight_print.h"

#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

// A finaliser with full avalanche (Stafford's mix 13), so that sums of prints do not collide.
std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

}  // namespace

std::uint64_t print_of(const Tensor& tensor, ElementType rounded_to) {
  std::uint64_t sum = 0;
  for (double element : tensor.reals()) {
    if (rounded_to != ElementType::undefined) element = round_to(rounded_to, element);
    if (std::isnan(element)) element = std::numeric_limits<double>::quiet_NaN();
    // Adding zero makes -0 and 0 one.
    sum += mix(std::bit_cast<std::uint64_t>(element + 0.0) + 0x9e3779b97f4a7c15ULL);
  }
  return sum;
}

}  // namespace assay
