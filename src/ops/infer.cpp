#include "ops/infer.h"

#include <algorithm>

namespace assay {
namespace {

std::optional<Dims> broadcast_inputs(const Site& site) {
  std::optional<Dims> result = Dims{};
  for (std::size_t i = 0; i < site.input_count(); ++i) {
    if (!site.has_input(i)) continue;
    const Dims* dims = site.dims(i);
    if (!dims) return std::nullopt;
    result = broadcast_dims(*result, *dims);
  }
  return result;
}

void output_broadcast(Infer& n, ElementType type) {
  ValueType result = ValueType::tensor(type);
  result.dims = broadcast_inputs(n.site);
  n.output(0, std::move(result));
}

Dim broadcast_dim(const Dim& a, const Dim& b) {
  if (a.known() && a.value == 1) return b;
  if (b.known() && b.value == 1) return a;
  if (a.known()) return a;  // b is unknown or the same: it must be 1 or a
  if (b.known()) return b;
  return a.same_as(b) ? a : Dim();
}

}  // namespace

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims result(rank, Dim(1));
  for (std::size_t d = 0; d < rank; ++d) {
    const Dim x = d + a.size() >= rank ? a[d + a.size() - rank] : Dim(1);
    const Dim y = d + b.size() >= rank ? b[d + b.size() - rank] : Dim(1);
    result[d] = broadcast_dim(x, y);
  }
  return result;
}

Dim product(const Dims& dims, std::size_t begin, std::size_t end) {
  Dim result = 1;
  for (std::size_t d = begin; d < end; ++d) result = result * dims[d];
  return result;
}

void same_as_first(Infer& n) { n.output(0, n.site.type(0)); }
void broadcast_all(Infer& n) { output_broadcast(n, n.element(0)); }
void broadcast_to_bool(Infer& n) { output_broadcast(n, ElementType::boolean); }

std::optional<Dims> dims_from_input(const Site& site, std::size_t i) {
  auto extents = site.extents(i);
  if (!extents) return std::nullopt;
  return *std::move(extents);
}

}  // namespace assay
