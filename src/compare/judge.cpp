#include "compare/judge.h"

#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/isa.h"
#include "compare/drawn.h"
#include "compare/explain.h"
#include "compare/fused.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLess = 1 - 0x1p-50;  // makes up for the rounding of a product

// How far the difference is from the bound: 0 equal, at most 1 inside.
double excess_of(double expected, double error, double found) {
  if (expected == found || (std::isnan(expected) && std::isnan(found)) || error == kInfinity)
    return 0;
  const double difference = std::abs(expected - found);
  return std::isnan(difference) || error == 0 ? kInfinity : difference / error;
}

// Below this a backend makes zeros, also of what it only copies; 0 if it does not.
double smallest_kept(ElementType type) {
  const Arithmetic* profile = current_arithmetic();
  return profile && profile->flushes_subnormals && type == ElementType::f32 ? 0x1p-126 : 0;
}

// A long row of elements, most of which are known by little to be no worse than those before.
template <class T>
struct JudgedRow {
  const T *expected, *found;
  const double* errors;  // null: they are exact
};

constexpr std::size_t kLanes = 8, kBlock = 64 * kLanes;

// The largest difference among a block's elements; none if one of them may exceed its bound by more
// than `excess`.
template <class T>
std::optional<double> largest_in(const JudgedRow<T>& all, std::size_t start, double excess) {
  double largest[kLanes] = {};
  std::int64_t beyond[kLanes] = {};
  for (std::size_t i = start; i < start + kBlock; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double value = all.expected[i + k], other = all.found[i + k];
      const double difference = std::abs(value - other);
      const bool within = difference < excess * all.errors[i + k] * kLess;
      beyond[k] |= static_cast<std::int64_t>(!within) & static_cast<std::int64_t>(value != other);
      largest[k] = difference > largest[k] ? difference : largest[k];
    }
  }
  for (std::size_t k = 1; k < kLanes; ++k) {
    beyond[0] |= beyond[k];
    largest[0] = std::max(largest[0], largest[k]);
  }
  return beyond[0] != 0 ? std::nullopt : std::optional(largest[0]);
}

// The largest difference, and the element that exceeds its bound the most.
template <class T>
void find_worst(const T* expected, const T* found, const Value& bounded, Judgement& result) {
  const double normal = smallest_kept(bounded.type());
  const auto count = static_cast<std::size_t>(bounded.tensor().size());
  const double* const errors = bounded.errors() ? bounded.errors()->data() : nullptr;
  const JudgedRow<T> all{expected, found, errors};
  std::size_t worst = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (errors && normal == 0 && i % kBlock == 0 && i + kBlock <= count) {
      const auto largest =
          with_widest_vectors([=, excess = result.excess] { return largest_in(all, i, excess); });
      if (largest) {
        result.difference = std::max(result.difference, *largest);
        i += kBlock - 1;
        continue;
      }
    }
    if (expected[i] == found[i]) continue;
    const double value = expected[i], other = found[i];
    if (other == 0 && std::abs(value) < normal) continue;
    const double difference = std::abs(value - other);
    if (difference > result.difference) result.difference = difference;
    const double error = errors ? errors[i] : 0;
    if (difference < result.excess * error * kLess) continue;  // spares the division
    const double excess = excess_of(value, error, other);
    if (excess <= result.excess) continue;
    result.excess = excess;
    worst = i;
  }
  if (worst == count) return;
  result.detail = fmt::format("element {}: {:.9g} ± {:.3g}, found {:.9g}", worst,
                              static_cast<double>(expected[worst]), errors ? errors[worst] : 0,
                              static_cast<double>(found[worst]));
}

// What is outside its own bound, but inside the one of a chain that was computed as one, is
// rounding.
void allow_fusion(const FusedChains& chains, const Evaluated& evaluated, std::size_t output,
                  const Tensor& found, Judgement& judgement) {
  const std::optional<Value> bounded = chains.result(evaluated, output);
  if (!bounded || !bounded->is_tensor()) return;
  Judgement fused = judge_output(*bounded, found);
  if (fused.inside) judgement = std::move(fused);
}

// Whether a node's plain results are what was recorded, to the last bit: those no bound excludes,
// and there is nothing to explain. What chance decides is not judged by its value.
bool is_as_recorded(const Evaluated& evaluated, const std::map<std::string, Tensor>& recorded) {
  if (evaluated.unknown) return false;
  for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) {
    if (evaluated.node.node.outputs[i].empty()) continue;
    const auto found = recorded.find(evaluated.name(i));
    const Value& output = evaluated.outputs[i];
    if (found == recorded.end() || !output.is_tensor()) return false;
    if (!identical(output.tensor(), found->second)) return false;
  }
  return !is_drawn(evaluated.node, evaluated.inputs);
}

}  // namespace

VerdictCounts count_verdicts(const std::vector<Judgement>& judgements) {
  VerdictCounts counts;
  for (const Judgement& one : judgements) ++counts[one.verdict];
  return counts;
}

Judgement judge_output(const Value& bounded, const Tensor& found) {
  Judgement result;
  if (bounded.type() != found.type() || bounded.shape() != found.shape()) {
    result.excess = kInfinity;
    result.detail =
        fmt::format("expected {}{}, found {}{}", short_name(bounded.type()),
                    to_text(bounded.shape()), short_name(found.type()), to_text(found.shape()));
    return result;
  }
  if (!has_numbers(bounded.type())) {
    result.inside = identical(bounded.tensor(), found);
    return result;
  }
  if (bounded.type() == ElementType::f32) {
    find_worst(bounded.tensor().data<float>().data(), found.data<float>().data(), bounded, result);
  } else {
    const std::vector<double> expected = bounded.tensor().reals(), elements = found.reals();
    find_worst(expected.data(), elements.data(), bounded, result);
  }
  result.inside = result.excess <= 1;
  return result;
}

Result<std::vector<Judgement>> judge(const Evaluator& evaluator, const std::vector<Value>& inputs,
                                     const std::map<std::string, Tensor>& recorded,
                                     std::uint64_t seed, const Arithmetic* profile,
                                     const std::vector<bool>* only) {
  std::vector<Judgement> judgements;
  FusedChains chains;
  const ArithmeticScope scope(profile);
  EvaluateOptions options;
  options.reading = Reading::bounded;
  options.seed = seed;
  options.recorded = &recorded;
  options.impose = true;
  options.only = only;
  bool plain = false;
  options.suffices = [&](const Evaluated& evaluated) {
    plain = is_as_recorded(evaluated, recorded);
    return plain;
  };
  options.observe = [&](const Evaluated& evaluated) {
    const Basis basis = take_basis();
    for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) {
      const std::string name = evaluated.name(i);
      const auto found = recorded.find(name);
      if (found == recorded.end()) continue;
      std::optional<Judgement> judgement = judge_one(evaluated, i, found->second, basis);
      if (!judgement) continue;
      if (!judgement->inside) allow_fusion(chains, evaluated, i, found->second, *judgement);
      judgement->layer = evaluated.layer();
      judgement->op = evaluated.node.node.op;
      judgement->output = name;
      if (!judgement->inside) {
        judgement->node = evaluated.node.node;
        judgement->inputs.assign(evaluated.inputs.begin(), evaluated.inputs.end());
      }
      judgements.push_back(*std::move(judgement));
    }
    chains.observe(evaluated, plain);
    plain = false;
    take_basis();
  };
  const Result<std::vector<Value>> outputs = evaluator.run(inputs, options);
  if (!outputs) return outputs.error();
  return judgements;
}

}  // namespace assay
