#include "patterns/compute.h"

#include <algorithm>

namespace assay::compute_detail {

Scalar choose(const Call& call, std::size_t leading, bool has_real, bool has_integers) {
  const Domain domain = call.has(leading) ? domain_of(call.input(leading).type()) : Domain::real;
  const bool integer = has_integers && (domain != Domain::real || !has_real);
  const bool exact = std::all_of(call.inputs.begin(), call.inputs.end(),
                                 [](const Value& v) { return !v.is_tensor() || v.exact(); });
  if (integer && (exact || call.reading == Reading::value))
    return domain == Domain::unsigned_integer ? Scalar::natural : Scalar::integer;
  if (call.reading == Reading::value) return Scalar::real;
  return call.reading == Reading::bounded ? Scalar::bounded : Scalar::interval;
}

}  // namespace assay::compute_detail
