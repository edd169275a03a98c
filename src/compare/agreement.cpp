#include "compare/agreement.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

namespace assay {
namespace {

Agreement same_form(const Value& expected, const Value& found) {
  if (expected.kind() != found.kind())
    return {false, fmt::format("expected {}, found {}", to_text(expected.value_type()),
                               to_text(found.value_type()))};
  if (!expected.is_tensor()) return {true, {}};
  if (expected.type() != found.type() || expected.shape() != found.shape())
    return {false, fmt::format("expected {}{}, found {}{}", short_name(expected.type()),
                               to_text(expected.shape()), short_name(found.type()),
                               to_text(found.shape()))};
  return {true, {}};
}

bool close(double expected, double found, Tolerance t) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == found) return true;
  if (!std::isfinite(expected) || !std::isfinite(found)) return false;
  return std::abs(expected - found) <= t.absolute + t.relative * std::abs(expected);
}

Agreement compare_reals(const Tensor& expected, const Tensor& found, Tolerance tolerance) {
  std::int64_t wrong = 0, first = -1;
  const std::vector<double> a = expected.reals(), b = found.reals();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!close(a[i], b[i], tolerance)) {
      if (wrong++ == 0) first = static_cast<std::int64_t>(i);
    }
  if (wrong == 0) return {true, "within tolerance"};
  const auto at = static_cast<std::size_t>(first);
  return {false, fmt::format("{} of {} elements differ; element {}: expected {:.9g}, found {:.9g}",
                             wrong, a.size(), first, a[at], b[at])};
}

template <class C>
Agreement compare_complex(const Tensor& expected, const Tensor& found, Tolerance t) {
  const auto a = expected.data<C>(), b = found.data<C>();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!close(a[i].real(), b[i].real(), t) || !close(a[i].imag(), b[i].imag(), t))
      return {false, fmt::format("element {}: expected ({}, {}), found ({}, {})", i, a[i].real(),
                                 a[i].imag(), b[i].real(), b[i].imag())};
  return {true, "within tolerance"};
}

Agreement compare_exactly(const Tensor& expected, const Tensor& found) {
  if (identical(expected, found)) return {true, "identical"};
  if (expected.type() == ElementType::string) {
    const auto a = expected.data<std::string>(), b = found.data<std::string>();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i])
        return {false, fmt::format("element {}: expected '{}', found '{}'", i, a[i], b[i])};
  }
  for (std::int64_t i = 0; i < expected.size(); ++i)
    if (expected.integer(i) != found.integer(i))
      return {false, fmt::format("element {}: expected {}, found {}", i, expected.integer(i),
                                 found.integer(i))};
  return {false, "differs"};
}

Agreement compare_tensors(const Tensor& expected, const Tensor& found, Tolerance tolerance) {
  switch (domain_of(expected.type())) {
    case Domain::real:
      return compare_reals(expected, found, tolerance_for(expected.type(), tolerance));
    case Domain::complex:
      return expected.type() == ElementType::c64
                 ? compare_complex<std::complex<float>>(expected, found, tolerance)
                 : compare_complex<std::complex<double>>(expected, found, tolerance);
    default:
      return compare_exactly(expected, found);
  }
}

// A framework has plain values where the standard has optional ones.
bool is_wrapped(const Value& value) {
  return value.kind() == Value::Kind::optional && value.elements().size() == 1;
}

bool inside(double expected, double value, double error) {
  if (std::isinf(error)) return true;
  if (std::isnan(expected) || std::isnan(value)) return std::isnan(expected) && std::isnan(value);
  return expected == value || std::abs(expected - value) <= error;
}

}  // namespace

Tolerance tolerance_for(ElementType type, Tolerance given) {
  if (type == ElementType::bf16) given.relative = std::max(given.relative, 0x1p-6);
  return given;
}

Agreement agrees(const Value& expected, const Value& found, Tolerance tolerance) {
  if (is_wrapped(expected) != is_wrapped(found)) {
    return agrees(is_wrapped(expected) ? expected.elements().front() : expected,
                  is_wrapped(found) ? found.elements().front() : found, tolerance);
  }
  Agreement form = same_form(expected, found);
  if (!form.agrees) return form;
  switch (expected.kind()) {
    case Value::Kind::tensor:
      return compare_tensors(expected.tensor(), found.tensor(), tolerance);
    case Value::Kind::sequence:
    case Value::Kind::optional:
    case Value::Kind::map:
      break;
    default:
      return {true, "absent"};
  }
  const auto &a = expected.elements(), &b = found.elements();
  if (a.size() != b.size())
    return {false, fmt::format("expected {} elements, found {}", a.size(), b.size())};
  for (std::size_t i = 0; i < a.size(); ++i) {
    Agreement one = agrees(a[i], b[i], tolerance);
    if (!one.agrees) return {false, fmt::format("[{}]: {}", i, one.detail)};
  }
  return {true, "within tolerance"};
}

Agreement within_bound(const Value& expected, const Value& bounded) {
  const Agreement form = same_form(expected, bounded);
  if (!form.agrees || !expected.is_tensor()) return {false, form.detail};
  const Buffer<double>* errors = bounded.errors();
  if (!errors || domain_of(expected.type()) == Domain::complex)
    return {false, "the value is exact"};
  const std::vector<double> a = expected.tensor().reals(), b = bounded.tensor().reals();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!inside(a[i], b[i], (*errors)[i]))
      return {false, fmt::format("element {}: expected {:.9g}, bound {:.9g} ± {:.3g}", i, a[i],
                                 b[i], (*errors)[i])};
  return {true, "within the rounding bound"};
}

}  // namespace assay
