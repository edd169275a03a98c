#include "report/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/convert.h"

namespace assay {

nlohmann::ordered_json number_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

bool has_statistics(ElementType type) {
  const Domain domain = domain_of(type);
  return domain == Domain::real || domain == Domain::signed_integer ||
         domain == Domain::unsigned_integer;
}

Statistics statistics_of(const Tensor& tensor) {
  Statistics result;
  result.count = tensor.size();
  result.smallest = std::numeric_limits<double>::infinity();
  result.largest = -result.smallest;
  double sum = 0;
  std::vector<double> piece(4096);
  for (std::int64_t begin = 0; begin < tensor.size(); begin += 4096) {
    const std::int64_t end = std::min<std::int64_t>(begin + 4096, tensor.size());
    to_doubles(tensor, begin, end, piece.data());
    for (std::int64_t i = 0; i < end - begin; ++i) {
      const double x = piece[static_cast<std::size_t>(i)];
      if (std::isnan(x)) {
        ++result.nan;
      } else if (std::isinf(x)) {
        ++result.infinite;
      } else {
        result.smallest = std::min(result.smallest, x);
        result.largest = std::max(result.largest, x);
        sum += x;
      }
    }
  }
  const std::int64_t finite = result.count - result.nan - result.infinite;
  if (finite > 0) result.mean = sum / static_cast<double>(finite);
  return result;
}

}  // namespace assay
