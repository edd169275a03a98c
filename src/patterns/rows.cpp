#include "patterns/rows.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay {
namespace {

// Offsets of all index tuples over the chosen axes, in row-major order.
std::vector<std::int64_t> offsets_along(const Shape& shape, const Shape& strides,
                                        const std::vector<std::size_t>& axes) {
  std::vector<std::int64_t> result = {0};
  for (std::size_t axis : axes) {
    std::vector<std::int64_t> next;
    next.reserve(result.size() * static_cast<std::size_t>(shape[axis]));
    for (std::int64_t base : result)
      for (std::int64_t i = 0; i < shape[axis]; ++i) next.push_back(base + i * strides[axis]);
    result = std::move(next);
  }
  return result;
}

}  // namespace

RowLayout row_layout(const Shape& shape, std::span<const std::int64_t> axes) {
  const Shape strides = strides_of(shape);
  std::vector<std::size_t> inner, outer;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool along =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    (along ? inner : outer).push_back(d);
  }
  RowLayout layout{offsets_along(shape, strides, outer), offsets_along(shape, strides, inner),
                   false};
  layout.contiguous = outer.empty() || inner.empty() || outer.back() < inner.front();
  return layout;
}

void for_rows(std::int64_t rows, std::int64_t length,
              const std::function<void(std::int64_t, std::int64_t)>& body) {
  constexpr std::int64_t kGrain = 16 * 1024;
  parallel_for(rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, length)), body);
}

}  // namespace assay
