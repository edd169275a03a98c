// Guards: an epsilon that is added, or a clip, before the operation that fails.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "numeric/rewrite.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

void add_epsilon(Builder& b) {
  b.output(0, b("Add", {b.input(0), b.like(0, b.site().real("epsilon"))}));
}

void clip(Builder& b) {
  const auto end = [&](const char* name) {
    return b.site().has(name) ? b.like(0, b.site().real(name)) : std::string();
  };
  b.output(0, b("Clip", {b.input(0), end("low"), end("high")}));
}

// What people add: well above the smallest number, well below what counts.
double epsilon_of(ElementType type) {
  if (!is_real(type)) return 1;
  const int bits = format_of(type).precision;
  return bits > 50 ? 1e-12 : bits > 20 ? 1e-7 : bits > 10 ? 1e-3 : 1e-2;
}

Rewrite clip_to(const Interval& keep, const Interval& given, std::vector<std::size_t> inputs) {
  Rewrite result;
  result.name = "clip";
  result.body = clip;
  const bool below = keep.low > given.low, above = keep.high < given.high;
  if (below) result.parameters.push_back(attribute("low", keep.low));
  if (above) result.parameters.push_back(attribute("high", keep.high));
  result.text = fmt::format("clip the {} to {}", inputs.size() > 1 ? "operands" : "input",
                            below && above ? to_text(keep)
                            : below        ? fmt::format("at least {:g}", keep.low)
                                           : fmt::format("at most {:g}", keep.high));
  result.inputs = std::move(inputs);
  return result;
}

Rewrite shift_by(double epsilon, std::size_t input) {
  Rewrite result;
  result.name = "add-epsilon";
  result.text = fmt::format("add {:g} to the input", epsilon);
  result.body = add_epsilon;
  result.parameters = {attribute("epsilon", epsilon)};
  result.inputs = {input};
  return result;
}

// An end that is still safe, a little inside of it and easy to read.
double readable(double end, double epsilon, bool low) {
  if (std::fabs(end) < epsilon) return low ? epsilon : -epsilon;
  if (std::fabs(end) > 16 && std::fabs(end) < 1e6) return low ? std::ceil(end) : std::floor(end);
  return end;
}

// The largest part of an argument that the check lets pass.
std::optional<Interval> safe_part(const LintSite& site, double epsilon) {
  Applied applied = site.applied;
  Interval& argument = site.check->function == Operation::divide ? applied.b : applied.a;
  for (int cut = 0; cut < 3; ++cut) {
    const std::optional<Danger> danger = site.check->judge(applied);
    if (!danger) return argument;
    const Interval& bad = danger->unsafe;
    if (bad.low - argument.low > argument.high - bad.high) {
      argument.high = readable(bad.low, epsilon, false);
      if (site.check->judge(applied)) argument.high -= epsilon * std::max(1.0, std::fabs(bad.low));
    } else {
      argument.low = readable(bad.high, epsilon, true);
      if (site.check->judge(applied)) argument.low += epsilon * std::max(1.0, std::fabs(bad.high));
    }
    if (!(argument.low <= argument.high)) return std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::size_t> variable_inputs(const LintSite& site, bool real) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    const Abstract& x = site.inputs[i];
    const bool kind = real ? x.real() : x.is_tensor() && is_integer(x.type.element);
    if (kind && !x.exact.defined() && !x.cells.empty()) result.push_back(i);
  }
  return result;
}

// A function whose argument is an input of the operation, as far as ranges tell.
void guard_argument(const LintSite& site, std::vector<Rewrite>& result) {
  const bool divides = site.check->function == Operation::divide;
  const Interval& argument = divides ? site.applied.b : site.applied.a;
  std::vector<std::size_t> inputs;
  for (const bool real : {true, false})
    for (std::size_t i : variable_inputs(site, real)) inputs.push_back(i);
  std::stable_partition(inputs.begin(), inputs.end(), [&](std::size_t i) {
    const Interval all = hull_of(site.inputs[i]);
    return all.low == argument.low && all.high == argument.high;
  });
  for (std::size_t i : inputs) {
    const double epsilon = epsilon_of(site.inputs[i].type.element);
    const Interval all = hull_of(site.inputs[i]);
    if (all.low >= -epsilon / 2 && site.inputs[i].real()) result.push_back(shift_by(epsilon, i));
    if (const auto keep = safe_part(site, epsilon)) result.push_back(clip_to(*keep, all, {i}));
    // A power's result is judged, not its base: bases that are small enough for common exponents.
    for (const double high : {1e6, 1e3, 1.0})
      if (site.check->function == Operation::pow)
        result.push_back(
            clip_to({std::max(all.low, epsilon), std::min(all.high, high), false}, all, {i}));
  }
}

// Results that are too large: smaller operands.
void guard_size(const LintSite& site, std::vector<Rewrite>& result) {
  for (const bool real : {true, false}) {
    const std::vector<std::size_t> inputs = variable_inputs(site, real);
    if (inputs.empty()) continue;
    for (double size = 0x1p120; size > 1; size = std::sqrt(size)) {
      const Interval keep{-size, size, false};
      result.push_back(clip_to(keep, {-HUGE_VAL, HUGE_VAL, false}, inputs));
    }
  }
}

void guard_conversion(const LintSite& site, std::vector<Rewrite>& result) {
  Interval keep = finite_range(site.result);
  const auto inside = [&](double end) {
    const ElementType from = site.inputs[0].type.element;
    const double rounded = is_real(from) ? round_to(from, end) : end;
    return std::fabs(rounded) > std::fabs(end) ? round_to(from, end * (1 - 0x1p-7)) : rounded;
  };
  keep = {inside(keep.low), inside(keep.high), false};
  result.push_back(clip_to(keep, hull_of(site.inputs[0]), {0}));
}

void guard_index(const LintSite& site, std::vector<Rewrite>& result) {
  if (site.inputs.empty() || !site.inputs[0].ranked()) return;
  for (std::size_t i : variable_inputs(site, false))
    for (const Dim& dim : *site.inputs[0].type.dims) {
      if (i == 0 || !dim.known()) continue;
      const Interval keep{0, static_cast<double>(dim.value - 1), false};
      result.push_back(clip_to(keep, {-HUGE_VAL, HUGE_VAL, false}, {i}));
    }
}

}  // namespace

std::vector<Rewrite> guards_for(const LintSite& site) {
  std::vector<Rewrite> result;
  if (!site.node || !site.node->subgraphs.empty() || site.node->function) return result;
  switch (site.remedy) {
    case Remedy::argument:
      guard_argument(site, result);
      break;
    case Remedy::conversion:
      guard_conversion(site, result);
      break;
    case Remedy::index:
      guard_index(site, result);
      break;
    case Remedy::size:
      guard_size(site, result);
      break;
    case Remedy::none:
      break;
  }
  return result;
}

}  // namespace assay
