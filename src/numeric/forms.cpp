#include "numeric/forms.h"

#include <algorithm>
#include <cmath>

#include "scalar/outward.h"
#include "scalar/rounding.h"

namespace assay {
namespace {

constexpr std::size_t kMostTerms = 16;

double times_up(double a, double b) {
  const double product = a * b;
  return product_is_exact(a, b, product) ? product : std::nextafter(product, kInfinity);
}
double times_down(double a, double b) { return -times_up(-a, b); }

bool finite(const Interval& x) {
  return !x.nan && x.has_number() && std::isfinite(x.low) && std::isfinite(x.high);
}

double size_of(const Interval& x) { return std::max(std::fabs(x.low), std::fabs(x.high)); }

void narrow(Interval& result, const Interval& known) {
  const Interval both = meet({result.low, result.high, false}, {known.low, known.high, false});
  if (both.has_number()) result = {both.low, both.high, result.nan};
}

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::fabs(std::frexp(x, &exponent)) == 0.5;
}

}  // namespace

std::uint32_t Forms::variable(const Variable& key, const Interval& range) {
  const auto [found, fresh] = ids_.try_emplace(key, static_cast<std::uint32_t>(variables_.size()));
  if (fresh) {
    variables_.push_back(key);
    ranges_.push_back(range);
  }
  return found->second;
}

std::uint32_t Forms::keep(Form form) {
  if (form.terms.size() > kMostTerms) return 0;
  forms_.push_back(std::move(form));
  return static_cast<std::uint32_t>(forms_.size() - 1);
}

std::uint32_t Forms::cell(int tensor, std::int64_t cell, std::size_t rank, const Interval& range) {
  if (!finite(range)) return 0;
  Variable key{tensor, cell, {}, {}};
  for (std::size_t d = 0; d < rank; ++d) key.map.push_back({static_cast<int>(d), 1, 0});
  return keep({{{variable(key, range), 1}}, 0, 0});
}

std::uint32_t Forms::constant(double value) {
  return std::isfinite(value) ? keep({{}, value, value}) : 0;
}

Interval Forms::range_of(const Form& form) const {
  Interval all{form.low, form.high, false};
  for (const Term& term : form.terms) {
    const Interval& x = ranges_[term.variable];
    const double low = term.factor > 0 ? x.low : x.high, high = term.factor > 0 ? x.high : x.low;
    all.low = add_down(all.low, times_down(term.factor, low));
    all.high = add_up(all.high, times_up(term.factor, high));
  }
  return all;
}

// The form with a rounding error of its value added, if its range says anything.
std::uint32_t Forms::settle(Form form, double error, Interval& result) {
  form.low = add_down(form.low, -error);
  form.high = add_up(form.high, error);
  const Interval range = range_of(form);
  if (!finite(range)) return 0;
  narrow(result, range);
  return keep(std::move(form));
}

std::optional<Form> Forms::joined(const Form& a, const Form& b) const {
  Form form{{}, add_down(a.low, b.low), add_up(a.high, b.high)};
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->variable < y->variable)) {
      form.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->variable < x->variable) {
      form.terms.push_back(*y++);
    } else {
      const double factor = x->factor + y->factor;
      if (sum_residual(x->factor, y->factor, factor) != 0) return std::nullopt;
      if (factor != 0) form.terms.push_back({x->variable, factor});
      ++x;
      ++y;
    }
  }
  return form;
}

std::uint32_t Forms::sum(std::uint32_t a, std::uint32_t b, Interval& result) {
  if (a == 0 || b == 0 || !finite(result)) return 0;
  const Form x = at(a), y = at(b);
  if (x.terms.empty() && x.exact()) return b;
  if (y.terms.empty() && y.exact()) return a;
  std::optional<Form> form = joined(x, y);
  if (!form) return 0;
  return settle(std::move(*form), rounding().error(Operation::add, size_of(result)), result);
}

std::uint32_t Forms::negated(std::uint32_t a) {
  if (a == 0) return 0;
  Form form = at(a);
  for (Term& term : form.terms) term.factor = -term.factor;
  form = {std::move(form.terms), -form.high, -form.low};
  return keep(std::move(form));
}

std::uint32_t Forms::scaled(const Form& x, double factor, Interval& result) {
  Form form = x;
  for (Term& term : form.terms) {
    const double product = term.factor * factor;
    if (product == 0 || !product_is_exact(term.factor, factor, product)) return 0;
    term.factor = product;
  }
  const double low = factor > 0 ? x.low : x.high, high = factor > 0 ? x.high : x.low;
  form.low = times_down(factor, low);
  form.high = times_up(factor, high);
  const double error = is_power_of_two(factor)
                           ? rounding().tiny
                           : rounding().error(Operation::multiply, size_of(result));
  return settle(std::move(form), std::fabs(factor) == 1 ? 0 : error, result);
}

std::uint32_t Forms::product(std::uint32_t a, std::uint32_t b, Interval& result) {
  if (a == 0 || b == 0 || !finite(result)) return 0;
  const Form x = at(a), y = at(b);
  const auto fixed = [](const Form& form) { return form.terms.empty() && form.low == form.high; };
  if (fixed(y) && y.low != 0) return scaled(x, y.low, result);
  if (fixed(x) && x.low != 0) return scaled(y, x.low, result);
  // A number times itself, or times its opposite.
  if (x.low != x.high || y.low != y.high || x.terms.size() != y.terms.size()) return 0;
  bool same = x.low == y.low, opposite = x.low == -y.low;
  for (std::size_t i = 0; i < x.terms.size(); ++i) {
    same = same && x.terms[i] == y.terms[i];
    opposite = opposite && x.terms[i] == Term{y.terms[i].variable, -y.terms[i].factor};
  }
  if (same) result.low = std::max(result.low, 0.0);
  if (opposite) result.high = std::min(result.high, 0.0);
  return 0;
}

// relu(−x) = −x + relu(x), relu(relu(x)) = relu(x), relu(−relu(x)) = 0.
std::uint32_t Forms::larger_than_zero(std::uint32_t a, Interval& result) {
  if (a == 0 || !finite(result)) return 0;
  const Form x = at(a);
  if (!x.exact() || x.terms.empty()) return 0;
  const Interval range = range_of(x);
  if (range.low >= 0) return a;
  const bool turned = x.terms.front().factor < 0;
  const Form upright = turned ? at(negated(a)) : x;
  if (upright.terms.size() == 1 &&
      !variables_[upright.terms[0].variable].positive_part_of.empty()) {
    if (!turned) return a;
    narrow(result, Interval::point(0));
    return constant(0);
  }
  const Interval inner = range_of(upright);
  Variable key;
  key.positive_part_of = upright.terms;
  const Interval part{std::max(inner.low, 0.0), std::max(inner.high, 0.0), false};
  const Form positive{{{variable(key, part), 1}}, 0, 0};
  if (!turned) return settle(positive, 0, result);
  const std::optional<Form> both = joined(x, positive);
  return both ? settle(*both, 0, result) : 0;
}

std::uint32_t Forms::shifted(std::uint32_t id, const IndexMap& through) {
  Variable key = variables_[id];
  for (AxisRead& read : key.map) {
    if (read.axis < 0) continue;
    const AxisRead& outer = through[static_cast<std::size_t>(read.axis)];
    read = {outer.axis, read.stride * outer.stride, read.stride * outer.offset + read.offset};
    if (read.axis < 0) read.stride = 0;
  }
  for (Term& term : key.positive_part_of) term.variable = shifted(term.variable, through);
  std::sort(key.positive_part_of.begin(), key.positive_part_of.end());
  const Interval range = ranges_[id];
  return variable(key, range);
}

std::uint32_t Forms::seen_through(std::uint32_t form, const IndexMap& through) {
  if (form == 0) return 0;
  Form result = at(form);
  for (Term& term : result.terms) term.variable = shifted(term.variable, through);
  std::sort(result.terms.begin(), result.terms.end());
  Form merged{{}, result.low, result.high};
  for (const Term& term : result.terms) {  // x[i] and x[j] may be seen as one
    const std::optional<Form> next = joined(merged, {{term}, 0, 0});
    if (!next) return 0;
    merged = *next;
  }
  return keep(std::move(merged));
}

}  // namespace assay
