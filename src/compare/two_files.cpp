#include "compare/two_files.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compare/agreement.h"
#include "compare/substitute.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> allowances(const TracedOutput& output, std::size_t size) {
  return output.spread.allowance.size() == size ? output.spread.allowance
                                                : std::vector<double>(size, 0);
}

// Elements of two outputs in one order, with what rounding allows both.
struct Elements {
  std::vector<double> a, b, room;
};

void judge(const Elements& elements, OutputPair& pair) {
  for (std::size_t i = 0; i < elements.a.size(); ++i) {
    const double x = elements.a[i], y = elements.b[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double apart = std::isnan(x - y) ? kInfinity : std::abs(x - y);
    pair.difference = std::max(pair.difference, apart);
    pair.relative = std::max(pair.relative, apart / std::abs(y));
    const double room = elements.room[i];
    const double excess = room == kInfinity ? 0 : (room == 0 ? kInfinity : apart / room);
    if (excess <= pair.excess) continue;
    pair.excess = excess;
    pair.detail =
        fmt::format("element {}: {:.9g} and {:.9g}, rounding allows {:.3g}", i, x, y, room);
  }
}

bool comparable(const Value& value) { return value.is_tensor() && has_numbers(value.tensor()); }

OutputPair hold_apart(OutputPair pair, std::string why) {
  pair.excess = pair.difference = kInfinity;
  pair.detail = std::move(why);
  return pair;
}

OutputPair hold_together(const TracedOutput& a, const TracedOutput& b) {
  OutputPair best{a.name, b.name};
  if (!a.value.is_tensor() || !b.value.is_tensor()) {
    const Agreement held = ::assay::agrees(a.value, b.value, Tolerance{});
    return held.agrees ? best : hold_apart(best, held.detail);
  }
  const Shape &from = a.value.shape(), &to = b.value.shape();
  if (!comparable(a.value) || !comparable(b.value)) {
    return identical(a.value.tensor(), b.value.tensor()) ? best : hold_apart(best, "not identical");
  }
  if (element_count(from) != element_count(to)) {
    return hold_apart(best, fmt::format("shapes {} and {}", to_text(from), to_text(to)));
  }
  const std::vector<double> first = a.value.tensor().reals(), second = b.value.tensor().reals();
  const std::vector<double> left = allowances(a, first.size()),
                            right = allowances(b, second.size());
  best.excess = kInfinity;
  for (const Arrangement& one : arrangements(from, to)) {
    OutputPair pair{a.name, b.name, one};
    Elements elements{arranged(first, from, one), second, arranged(left, from, one)};
    for (std::size_t i = 0; i < right.size(); ++i) elements.room[i] += right[i];
    judge(elements, pair);
    if (pair.excess < best.excess || best.detail.empty()) best = pair;
    if (best.agrees()) break;
  }
  return best;
}

// By name, the rest by position.
std::vector<OutputPair> pair_outputs(const std::vector<TracedOutput>& a,
                                     const std::vector<TracedOutput>& b) {
  std::vector<std::size_t> partner(a.size(), b.size());
  std::vector<bool> taken(b.size());
  for (const bool by_name : {true, false}) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size() && partner[i] == b.size(); ++j) {
        if (taken[j] || (by_name && a[i].name != b[j].name)) continue;
        partner[i] = j;
        taken[j] = true;
      }
    }
  }
  std::vector<OutputPair> pairs;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (partner[i] < b.size()) pairs.push_back(hold_together(a[i], b[partner[i]]));
  }
  return pairs;
}

bool all_agree(const std::vector<OutputPair>& pairs) {
  return std::all_of(pairs.begin(), pairs.end(),
                     [](const OutputPair& pair) { return pair.agrees(); });
}

// A weight that was folded into another is read by nodes whose values differ; one that is simply
// wrong may be multiplied by zeros. What the last bits of a weight are is no news.
bool is_news(const FileComparison& found, const WeightPair& pair) {
  constexpr double kLastBits = 16;
  if (pair.relation != WeightRelation::differing || !pair.used) return false;
  const Tensor& tensor = found.a.weights[pair.a.front()].tensor;
  if (!is_real(tensor.type())) return true;
  double largest = 0;
  for (const double element : tensor.reals()) largest = std::max(largest, std::abs(element));
  return pair.difference > kLastBits * std::ldexp(largest, -format_of(tensor.type()).precision);
}

void find_silent(FileComparison& found) {
  const auto reads = [](const InnerValue& value, std::size_t weight) {
    return std::find(value.weights.begin(), value.weights.end(), weight) != value.weights.end();
  };
  for (std::size_t w = 0; w < found.weights.pairs.size(); ++w) {
    const WeightPair& weights = found.weights.pairs[w];
    if (!is_news(found, weights)) continue;
    for (std::size_t v = 0; v < found.values.pairs.size(); ++v) {
      const ValuePair& pair = found.values.pairs[v];
      if (!pair.agrees || !reads(found.a.values[pair.a], weights.a.front())) continue;
      if (reads(found.b.values[pair.b], weights.b.front())) found.silent.emplace_back(v, w);
    }
  }
}

// Weights that differ, without those that were folded: these do no harm.
std::vector<WeightPair> weights_at_work(const FileComparison& found) {
  std::vector<bool> harmful(found.a.weights.size());
  for (std::size_t i = 0; i < found.a.values.size(); ++i) {
    if (found.values.healed_a[i]) continue;
    for (const std::size_t weight : found.a.values[i].weights) harmful[weight] = true;
  }
  std::vector<WeightPair> pairs;
  for (const WeightPair& pair : found.weights.pairs) {
    if (!pair.equal() && pair.used && harmful[pair.a.front()]) pairs.push_back(pair);
  }
  return pairs;
}

Result<Blame> find_blame(const Traced& a, const FileComparison& found, std::uint64_t seed) {
  if (found.agrees()) return found.silent.empty() ? Blame::none : Blame::weights;
  const Result<Traced> substituted =
      substitute_weights(a, found.a, found.b, weights_at_work(found));
  if (!substituted) return substituted.error();
  if (!substituted->model) return Blame::operators;  // no weight differs
  const Result<std::vector<TracedOutput>> outputs = trace_outputs(*substituted, seed);
  if (!outputs) return outputs.error();
  if (all_agree(pair_outputs(*outputs, found.b.outputs))) return Blame::weights;
  return all_agree(pair_outputs(*outputs, found.a.outputs)) ? Blame::operators : Blame::both;
}

}  // namespace

std::string_view to_text(Blame blame) {
  static constexpr std::string_view kNames[] = {"none", "weights", "operators",
                                                "weights and operators"};
  return kNames[static_cast<std::size_t>(blame)];
}

bool FileComparison::agrees() const { return unpaired_outputs == 0 && all_agree(outputs); }

bool FileComparison::one_network() const {
  if (agrees()) return true;
  if (outputs.empty()) return false;
  const std::size_t most = std::max(values.total_a, values.total_b);
  const double shared =
      most == 0 ? 0 : static_cast<double>(values.pairs.size()) / static_cast<double>(most);
  const bool weighty = !weights.pairs.empty() || !weights.only_a.empty() || !weights.only_b.empty();
  return weighty ? weights.coverage >= 0.5 : shared >= 0.5;
}

std::string FileComparison::matched_text() const {
  const std::size_t paired = weights.count(true) + weights.count(false);
  return fmt::format(
      "{} of {} weights ({:.0f} % of the elements) and {} of {} inner values matched", paired,
      paired + std::max(weights.only_a.size(), weights.only_b.size()), 100 * weights.coverage,
      values.pairs.size(), std::max(values.total_a, values.total_b));
}

Result<FileComparison> compare_files(const Traced& a, const Traced& b, std::uint64_t seed,
                                     const FilesProgress& progress) {
  FileComparison found;
  for (const bool second : {false, true}) {
    const Traced& side = second ? b : a;
    progress(fmt::format("running {}", side.source.path));
    Result<Trace> traced = trace(side, seed);
    if (!traced) {
      return Error{traced.error().kind,
                   fmt::format("{}: {}", side.source.path, traced.error().message),
                   traced.error().where};
    }
    (second ? found.b : found.a) = *std::move(traced);
  }
  if (!found.ran()) return found;
  progress("matching weights");
  found.weights = match_weights(found.a, found.b);
  progress("matching inner values");
  found.values = match_values(found.a, found.b);
  found.outputs = pair_outputs(found.a.outputs, found.b.outputs);
  found.unpaired_outputs =
      std::max(found.a.outputs.size(), found.b.outputs.size()) - found.outputs.size();
  find_silent(found);
  if (!found.agrees()) found.first = first_difference(found.values);
  progress("finding out what is to blame");
  const Result<Blame> blame = find_blame(a, found, seed);
  if (!blame) return blame.error();
  found.blame = *blame;
  return found;
}

}  // namespace assay
