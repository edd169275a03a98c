#include "compare/drawn.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "compare/draw_figures.h"
#include "ops/operator.h"

namespace assay {
namespace {

constexpr std::size_t kDraws = 64;
constexpr double kRounded = 1e-5;  // two readings of one value
constexpr double kDeviations = 8;  // with 64 draws, Student's t is beyond it with less than 1e-10
// A run's seed and the number of the node make the node's: seeds far apart share none.
constexpr std::uint64_t kApart = 0x9E3779B97F4A7C15;

// Events that may have been missed: with a rate of `kMissed` a run, seeing none in `kDraws` runs is
// less probable than a wrong alarm.
const double kMissed = -std::log(kWrongAlarm) / static_cast<double>(kDraws);

Value without_option(const Value& value) {
  const bool wrapped = value.kind() == Value::Kind::optional && value.elements().size() == 1;
  return wrapped ? value.elements().front() : value;
}

// Whether more may come than one draw and its rounding.
bool leaves_open(const Value& all, const Value& one) {
  if (!all.intervals()) return false;
  for (std::size_t i = 0; i < all.intervals()->size(); ++i) {
    const double value = one.tensor().real(static_cast<std::int64_t>(i));
    const double error = (one.errors() ? (*one.errors())[i] : 0) + kRounded * std::abs(value);
    if (!Interval{value - error, value + error, std::isnan(value)}.contains((*all.intervals())[i]))
      return true;
  }
  return false;
}

// Draws of the reference, all outputs of each.
Result<std::vector<std::vector<Value>>> draw_some(const Draw& draw) {
  std::vector<std::vector<Value>> draws;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    Result<std::vector<Value>> one = draw(Reading::value, (seed + 1) * kApart);
    if (!one) return one.error();
    draws.push_back(*std::move(one));
  }
  return draws;
}

Agreement inside_what_can_be(const Value& ranges, const Tensor& found) {
  if (!ranges.is_tensor() || !ranges.intervals()) return {true, ""};
  for (std::int64_t i = 0; i < found.size(); ++i) {
    const Interval& range = (*ranges.intervals())[static_cast<std::size_t>(i)];
    if (range.contains(found.real(i))) continue;
    return {false, fmt::format("element {} is {:.9g}, which is not in [{:.9g}, {:.9g}]", i,
                               found.real(i), range.low, range.high)};
  }
  return {true, ""};
}

// One figure of what was found against the same figure of all draws. What is rare may not have
// occurred in them, so that a few of the largest terms are always allowed.
std::optional<std::string> differs(const DrawFigure& found, std::span<const double> drawn) {
  double mean = 0, squares = 0;
  for (double one : drawn) mean += one / static_cast<double>(drawn.size());
  for (double one : drawn) squares += (one - mean) * (one - mean);
  const double variance = squares / static_cast<double>(drawn.size() - 1);
  const double rare = found.largest * found.largest * kMissed;
  const double reach = kDeviations * std::sqrt(variance + rare) + 1e-6 * std::abs(mean);
  if (std::abs(found.sum - mean) <= reach) return std::nullopt;
  return fmt::format("{}: {:.6g}, expected {:.6g} ± {:.2g}", found.name, found.sum, mean, reach);
}

Agreement figures_agree(const std::vector<std::vector<Value>>& draws, std::span<const Value> found,
                        std::size_t at, std::span<const Value> inputs) {
  const std::vector<DrawFigure> own = draw_figures(found, at, inputs);
  std::vector<std::vector<double>> drawn(own.size());
  for (const std::vector<Value>& one : draws) {
    std::vector<Value> judged = one;  // with the same outputs absent
    for (std::size_t i = 0; i < judged.size(); ++i) {
      if (!found[i].present()) judged[i] = Value();
    }
    const std::vector<DrawFigure> figures = draw_figures(judged, at, inputs);
    for (std::size_t i = 0; i < own.size(); ++i) drawn[i].push_back(figures[i].sum);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (const auto how = differs(own[i], drawn[i])) return {false, *how};
  }
  return {true, fmt::format("by property: {} figures as in {} draws", own.size(), draws.size())};
}

// Where few values can be drawn, values that nobody draws show: half of the draws tell which values
// there are, the others how often there is one that these have missed.
Agreement values_agree(const std::vector<std::vector<Value>>& draws, const Tensor& found,
                       std::size_t at) {
  std::vector<Tensor> seen;
  for (std::size_t i = 0; i < kDraws / 2; ++i) seen.push_back(draws[i][at].tensor());
  double missed = -std::log(kWrongAlarm);
  for (std::size_t i = kDraws / 2; i < kDraws; ++i)
    missed += static_cast<double>(count_unseen(draws[i][at].tensor(), seen));
  const double rate = missed / (kDraws / 2.0);
  const auto own = static_cast<double>(count_unseen(found, seen));
  // Chernoff's bound of a count of rare events.
  if (own <= rate || own * std::log(own / rate) - own + rate <= -std::log(kWrongAlarm))
    return {true, ""};
  return {false, fmt::format("{} elements have values that are never drawn there", own)};
}

}  // namespace

Draw draw_of(const PlannedNode& node, std::span<const Value> inputs) {
  return [&node, inputs](Reading reading, std::uint64_t seed) -> Result<std::vector<Value>> {
    EvaluateOptions options;
    options.reading = reading;
    options.seed = seed;
    options.redraw = true;
    return evaluate_alone(node, inputs, options);
  };
}

bool is_drawn(const PlannedNode& node, std::span<const Value> inputs) {
  if (!node.found.entry || node.found.entry->meaning.pattern != Pattern::random) return false;
  const Draw draw = draw_of(node, inputs);
  const Result<std::vector<Value>> all = draw(Reading::interval, 0),
                                   one = draw(Reading::bounded, 0);
  if (!all || !one) return false;
  for (std::size_t i = 0; i < all->size(); ++i) {
    if ((*all)[i].is_tensor() && leaves_open((*all)[i], (*one)[i])) return true;
  }
  return false;
}

Agreement judge_draw(const Draw& draw, std::span<const Value> inputs,
                     std::span<const Value> found) {
  const auto draws = draw_some(draw);
  if (!draws) return {false, draws.error().message};
  const Result<std::vector<Value>> ranges = draw(Reading::interval, 0);
  std::vector<Value> plain(draws->front().size());
  for (std::size_t i = 0; i < plain.size() && i < found.size(); ++i) {
    plain[i] = without_option(found[i]);
    if (!plain[i].present()) continue;
    const Value& model = draws->front()[i];
    if (plain[i].kind() != model.kind() || plain[i].type() != model.type() ||
        plain[i].shape() != model.shape())
      return {false, fmt::format("expected {}, found {}", to_text(model.value_type()),
                                 to_text(plain[i].value_type()))};
  }
  Agreement result{true, ""};
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (!plain[i].is_tensor() || !has_numbers(plain[i].type())) continue;
    const Tensor& own = plain[i].tensor();
    if (ranges) result = inside_what_can_be((*ranges)[i], own);
    if (result.agrees) result = values_agree(*draws, own, i);
    if (result.agrees) result = figures_agree(*draws, plain, i, inputs);
    if (!result.agrees) return result;
  }
  return result;
}

}  // namespace assay
