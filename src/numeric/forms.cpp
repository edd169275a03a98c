#include "numeric/forms.h"

#include <algorithm>
#include <cmath>

#include "scalar/outward.h"
#include "scalar/rounding.h"

namespace assay {
namespace {

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

// The number of a thing among those that are kept.
template <class T>
std::uint32_t number_of(const T& one, std::map<T, std::uint32_t>& numbers, std::vector<T>& all) {
  const auto [found, fresh] = numbers.try_emplace(one, static_cast<std::uint32_t>(all.size()));
  if (fresh) all.push_back(one);
  return found->second;
}

}  // namespace

bool is_plain(const IndexMap& through) {
  for (std::size_t d = 0; d < through.size(); ++d) {
    if (through[d] != AxisRead{static_cast<int>(d), 1, 0}) return false;
  }
  return true;
}

std::size_t Forms::VariableHash::operator()(const Variable& variable) const {
  std::uint64_t mixed = static_cast<std::uint64_t>(variable.cell) * 0x9e3779b97f4a7c15U;
  mixed ^= static_cast<std::uint64_t>(variable.tensor) << 32 ^ variable.positive_part_of;
  mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9U + variable.map;
  return (mixed ^ mixed >> 32) * 0x94d049bb133111ebU;
}

std::uint32_t Forms::new_variable(const Variable& variable, const Interval& range) {
  variables_.push_back(variable);
  ranges_.push_back(range);
  return static_cast<std::uint32_t>(variables_.size() - 1);
}

std::uint32_t Forms::variable(const Variable& key, const Interval& range) {
  const auto [found, fresh] = ids_.try_emplace(key, 0);
  if (fresh) found->second = new_variable(key, range);
  return found->second;
}

std::uint32_t Forms::plain_map(std::size_t rank) {
  while (plain_maps_.size() <= rank) {
    IndexMap map;
    for (std::size_t d = 0; d < plain_maps_.size(); ++d) map.push_back({static_cast<int>(d), 1, 0});
    plain_maps_.push_back(number_of(map, map_ids_, maps_));
  }
  return plain_maps_[rank];
}

Forms::Form Forms::at(std::uint32_t form) const {
  const Kept& kept = kept_[form];
  Form result;
  result.count = kept.count;
  std::copy_n(terms_.begin() + kept.first, kept.count, result.terms.begin());
  result.low = kept.low;
  result.high = kept.high;
  return result;
}

std::uint32_t Forms::keep(const Form& form) {
  if (form.count > kMostTerms) return 0;
  kept_.push_back({static_cast<std::uint32_t>(terms_.size()),
                   static_cast<std::uint32_t>(form.count), form.low, form.high});
  terms_.insert(terms_.end(), form.used().begin(), form.used().end());
  return static_cast<std::uint32_t>(kept_.size() - 1);
}

std::uint32_t Forms::cell(int tensor, std::int64_t cell, std::size_t rank, const Interval& range) {
  if (!finite(range)) return 0;
  kept_.push_back({static_cast<std::uint32_t>(terms_.size()), 1, 0, 0});
  terms_.push_back({new_variable({tensor, plain_map(rank), cell, 0}, range), 1});
  return static_cast<std::uint32_t>(kept_.size() - 1);
}

std::uint32_t Forms::constant(double value) {
  if (!std::isfinite(value)) return 0;
  kept_.push_back({0, 0, value, value});
  return static_cast<std::uint32_t>(kept_.size() - 1);
}

Interval Forms::range_of(const Form& form) const {
  Interval all{form.low, form.high, false};
  for (const Term& term : form.used()) {
    const Interval& x = ranges_[term.variable];
    const double low = term.factor > 0 ? x.low : x.high, high = term.factor > 0 ? x.high : x.low;
    all.low = add_down(all.low, times_down(term.factor, low));
    all.high = add_up(all.high, times_up(term.factor, high));
  }
  return all;
}

// The form with a rounding error of its value added, if its range says anything.
std::uint32_t Forms::settle(Form& form, double error, Interval& result) {
  form.low = add_down(form.low, -error);
  form.high = add_up(form.high, error);
  const Interval range = range_of(form);
  if (!finite(range)) return 0;
  narrow(result, range);
  return keep(form);
}

std::optional<Forms::Form> Forms::joined(const Form& a, const Form& b) {
  Form form;
  form.low = add_down(a.low, b.low);
  form.high = add_up(a.high, b.high);
  const std::span<const Term> first = a.used(), second = b.used();
  auto x = first.begin(), y = second.begin();
  while (x != first.end() || y != second.end()) {
    if (y == second.end() || (x != first.end() && x->variable < y->variable)) {
      form.add(*x++);
    } else if (x == first.end() || y->variable < x->variable) {
      form.add(*y++);
    } else {
      const double factor = x->factor + y->factor;
      if (sum_residual(x->factor, y->factor, factor) != 0) return std::nullopt;
      if (factor != 0) form.add({x->variable, factor});
      ++x;
      ++y;
    }
  }
  return form;
}

std::uint32_t Forms::sum(std::uint32_t a, std::uint32_t b, Interval& result) {
  if (a == 0 || b == 0 || !finite(result)) return 0;
  const Form x = at(a), y = at(b);
  if (x.count == 0 && x.exact()) return b;
  if (y.count == 0 && y.exact()) return a;
  std::optional<Form> form = joined(x, y);
  if (!form) return 0;
  return settle(*form, rounding().error(Operation::add, size_of(result)), result);
}

std::uint32_t Forms::negated(std::uint32_t a) {
  if (a == 0) return 0;
  Form form = at(a);
  for (Term& term : form.used()) term.factor = -term.factor;
  const double low = -form.high;
  form.high = -form.low;
  form.low = low;
  return keep(form);
}

std::uint32_t Forms::scaled(const Form& x, double factor, Interval& result) {
  Form form = x;
  for (Term& term : form.used()) {
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
  return settle(form, std::fabs(factor) == 1 ? 0 : error, result);
}

std::uint32_t Forms::product(std::uint32_t a, std::uint32_t b, Interval& result) {
  if (a == 0 || b == 0 || !finite(result)) return 0;
  const Form x = at(a), y = at(b);
  const auto fixed = [](const Form& form) { return form.count == 0 && form.low == form.high; };
  if (fixed(y) && y.low != 0) return scaled(x, y.low, result);
  if (fixed(x) && x.low != 0) return scaled(y, x.low, result);
  // A number times itself, or times its opposite.
  if (x.low != x.high || y.low != y.high || x.count != y.count) return 0;
  bool same = x.low == y.low, opposite = x.low == -y.low;
  for (std::size_t i = 0; i < x.count; ++i) {
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
  if (!x.exact() || x.count == 0) return 0;
  const Interval range = range_of(x);
  if (range.low >= 0) return a;
  const bool turned = x.terms[0].factor < 0;
  const Form upright = turned ? at(negated(a)) : x;
  if (upright.count == 1 && variables_[upright.terms[0].variable].positive_part_of != 0) {
    if (!turned) return a;
    narrow(result, Interval::point(0));
    return constant(0);
  }
  const Interval inner = range_of(upright);
  const std::vector<Term> terms(upright.used().begin(), upright.used().end());
  const Variable key{-1, plain_map(0), 0, number_of(terms, positive_ids_, positive_parts_)};
  const Interval part{std::max(inner.low, 0.0), std::max(inner.high, 0.0), false};
  Form positive;
  positive.add({variable(key, part), 1});
  if (!turned) return settle(positive, 0, result);
  std::optional<Form> both = joined(x, positive);
  return both ? settle(*both, 0, result) : 0;
}

std::uint32_t Forms::shifted(std::uint32_t id, const IndexMap& through) {
  Variable key = variables_[id];
  ids_.try_emplace(key, id);
  IndexMap map = maps_[key.map];
  for (AxisRead& read : map) {
    if (read.axis < 0) continue;
    const AxisRead& outer = through[static_cast<std::size_t>(read.axis)];
    read = {outer.axis, read.stride * outer.stride, read.stride * outer.offset + read.offset};
    if (read.axis < 0) read.stride = 0;
  }
  key.map = number_of(map, map_ids_, maps_);
  if (key.positive_part_of != 0) {
    std::vector<Term> terms = positive_parts_[key.positive_part_of];
    for (Term& term : terms) term.variable = shifted(term.variable, through);
    std::sort(terms.begin(), terms.end());
    key.positive_part_of = number_of(terms, positive_ids_, positive_parts_);
  }
  const Interval range = ranges_[id];
  return variable(key, range);
}

std::uint32_t Forms::seen_through(std::uint32_t form, const IndexMap& through) {
  if (form == 0 || is_plain(through)) return form;
  Form result = at(form);
  for (Term& term : result.used()) term.variable = shifted(term.variable, through);
  std::sort(result.used().begin(), result.used().end());
  Form merged;
  merged.low = result.low;
  merged.high = result.high;
  for (const Term& term : result.used()) {  // x[i] and x[j] may be seen as one
    Form one;
    one.add(term);
    const std::optional<Form> next = joined(merged, one);
    if (!next) return 0;
    merged = *next;
  }
  return keep(merged);
}

}  // namespace assay
