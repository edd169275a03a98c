#include "numeric/search.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <fmt/format.h>

#include "graph/origin.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::size_t kMostSplit = 8;         // roots whose ranges are cut
constexpr std::int64_t kMostDrawn = 1 << 22;  // elements of all roots together
constexpr int kCandidates = 60;
constexpr double kWitnessShare = 0.8;   // of the time, and of what came before
constexpr double kAttemptShare = 0.25;  // of that, for one attempt: a loop may never end
constexpr std::int64_t kOpenDrawn = 2;  // an open extent, where values are drawn

bool all_finite(const Value& value) {
  if (!value.is_tensor() || !is_real(value.type())) return true;
  const std::vector<double> elements = value.tensor().reals();
  return std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); });
}

bool no_nan(const Value& value) {
  if (!value.is_tensor() || !is_real(value.type())) return true;
  const std::vector<double> elements = value.tensor().reals();
  return std::none_of(elements.begin(), elements.end(), [](double x) { return std::isnan(x); });
}

// Finite operands gave what is not finite, or numbers gave NaN.
bool fails(const Evaluated& seen) {
  const auto all = [](std::span<const Value> values, bool (*holds)(const Value&)) {
    return std::all_of(values.begin(), values.end(), holds);
  };
  if (all(seen.outputs, all_finite)) return false;
  return all(seen.inputs, all_finite) || (all(seen.inputs, no_nan) && !all(seen.outputs, no_nan));
}

// Which way the branches go in one run: values that decide, by their names.
class Decisions {
 public:
  explicit Decisions(const std::map<std::string, Tensor>& given) {
    for (const auto& [name, tensor] : given) note(name, tensor);
  }

  void observe(const Evaluated& seen) {
    for (std::size_t i = 0; i < seen.outputs.size(); ++i)
      if (seen.outputs[i].is_tensor()) note(seen.name(i), seen.outputs[i].tensor());
  }

  // Whether a node of a branch whose sides are both computed is on a side that is not taken.
  bool passes_over(const Node& node) const {
    const std::string* when = find_property(node.metadata, kOriginWhen);
    for (std::size_t at = 0; when && at < when->size();) {
      const std::size_t end = std::min(when->find(' ', at), when->size());
      const auto taken = taken_.find(when->substr(at, end - 2 - at));
      if (taken != taken_.end() && taken->second != ((*when)[end - 1] == '1')) return true;
      at = end + 1;
    }
    return false;
  }

 private:
  void note(const std::string& name, const Tensor& value) {
    if (value.type() == ElementType::boolean && value.size() == 1)
      taken_[name] = value.reals().front() != 0;
  }

  std::map<std::string, bool> taken_;
};

// How the elements of a root are chosen for one attempt. What is far apart along the last axis
// makes one class certain and all others impossible.
enum class Choice : std::uint8_t { low, high, zero, middle, apart, halves, ends, anywhere };
constexpr int kChoices = 8;

double choose(Choice choice, const Interval& range, std::mt19937_64& random) {
  const double width = range.high - range.low;
  std::uniform_real_distribution<double> unit(0, 1);
  switch (choice) {
    case Choice::low:
      return range.low;
    case Choice::high:
      return range.high;
    case Choice::zero:
      return std::clamp(0.0, range.low, range.high);
    case Choice::middle:
      return range.low / 2 + range.high / 2;
    case Choice::apart:
    case Choice::halves:
    case Choice::ends:
      return unit(random) < 0.5 ? range.low : range.high;
    case Choice::anywhere:
      break;
  }
  const double place = unit(random);
  if (std::isfinite(width)) return std::min(range.low + place * width, range.high);
  return place * range.high + (1 - place) * range.low;
}

// What has no rank at all is mostly a rate or a share: a single number.
Shape drawn_shape(const ValueType& type) {
  Shape shape;
  if (!type.dims) return shape;
  for (const Dim& dim : *type.dims) shape.push_back(dim.known() ? dim.value : kOpenDrawn);
  return shape;
}

Tensor draw(const ValueType& type, const Interval& range, Choice choice, std::mt19937_64& random) {
  const Shape shape = drawn_shape(type);
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  const std::size_t row = shape.empty() ? 1 : static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& value = values[i];
    value = choose(choice, range, random);
    if (choice == Choice::apart) value = i % row == 0 ? range.high : range.low;
    if (choice == Choice::halves) value = 2 * (i % row) < row ? range.high : range.low;
    if (!is_real(type.element)) value = std::clamp(std::round(value), range.low, range.high);
  }
  return make_tensor(type.element, shape, values);
}

// The model with parameters that take values as inputs take them.
Model with_parameters(const Model& model, const Roots& roots) {
  Model result = model;
  std::set<std::string> present;
  for (const NamedType& input : result.graph.inputs) present.insert(input.name);
  for (const auto& [name, value] : roots.values)
    if (!present.contains(name)) result.graph.inputs.push_back({name, value.type, {}, {}});
  return result;
}

std::string describe(const Evaluated& seen) {
  for (std::size_t i = 0; i < seen.outputs.size(); ++i) {
    if (all_finite(seen.outputs[i])) continue;
    for (double x : seen.outputs[i].tensor().reals())
      if (!std::isfinite(x))
        return fmt::format("{} in {}",
                           std::isnan(x) ? "NaN"
                           : x > 0       ? "inf"
                                         : "-inf",
                           seen.name(i));
  }
  return {};
}

}  // namespace

double LintSearch::passed() const {
  return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
}

bool LintSearch::has_time(double share) const {
  return passed() + cost_ < share * options_->search_seconds;
}

bool is_unsafe(const LintNode& node) {
  return node.verdict == LintVerdict::warning || node.verdict == LintVerdict::error;
}

Assessment LintSearch::assess() {
  start_ = std::clock();
  Assessment result = assessor_.judge_with_paths(roots_->values, options_->keep_ranges);
  cost_ = passed();
  start_ = std::clock();
  return result;
}

std::map<std::string, Abstract> LintSearch::narrowed(std::size_t root,
                                                     const Interval& range) const {
  std::map<std::string, Abstract> values = roots_->values;
  Abstract& value = values.at(roots_->roots[root].name);
  const Abstract before = value;
  value = uniform(before.type, range);
  value.roots = before.roots;
  return values;
}

// The elements of a tensor lie on both sides of 0 at once, which two halves of a range do not show
// to a node that sees several of them.
bool LintSearch::may_split(const Assessment& judgement, std::size_t node, int root) const {
  const Abstract& value = roots_->values.at(roots_->roots[static_cast<std::size_t>(root)].name);
  const auto shape = value.ranked() ? to_shape(*value.type.dims) : std::nullopt;
  const bool single = shape && checked_element_count(*shape) == 1;
  return single || !judgement.mixed[node].contains(root);
}

void LintSearch::split(Assessment& judgement) {
  RootSet wanted;
  for (std::size_t n = 0; n < judgement.nodes.size(); ++n)
    if (is_unsafe(judgement.nodes[n])) wanted.add(judgement.roots[n]);
  // Two analyses are for nothing where none of the operations may be split at the root.
  const auto helps = [&](int root) {
    for (std::size_t n = 0; n < judgement.nodes.size(); ++n) {
      if (is_unsafe(judgement.nodes[n]) && judgement.roots[n].contains(root) &&
          may_split(judgement, n, root))
        return true;
    }
    return false;
  };
  std::size_t tried = 0;
  for (int root : wanted.all()) {
    const auto place = static_cast<std::size_t>(root);
    const Interval& range = roots_->roots[place].range;
    if (!has_time()) break;
    if (!(range.low < 0 && range.high > 0) || !helps(root)) continue;
    if (++tried > kMostSplit) break;
    const Assessment below = assessor_.judge(narrowed(place, {range.low, 0, false}));
    const Assessment above = assessor_.judge(narrowed(place, {0, range.high, false}));
    for (std::size_t n = 0; n < judgement.nodes.size(); ++n) {
      LintNode& node = judgement.nodes[n];
      if (!is_unsafe(node) || !may_split(judgement, n, root) || !is_safe(below, node.name) ||
          !is_safe(above, node.name))
        continue;
      node.verdict = LintVerdict::safe;
      judgement.sites[n].node = nullptr;
      node.why = fmt::format("safe for {} below 0 and above", roots_->roots[place].name);
    }
  }
}

// First all roots alike, then every mixture.
std::map<std::string, Tensor> LintSearch::draw_all(int attempt, std::mt19937_64& random) const {
  static constexpr double kSizes[] = {HUGE_VAL, 1, 1e2, 1e4, 1e10, 1e19};
  std::map<std::string, Tensor> drawn;
  const double size = kSizes[attempt < kChoices ? 0 : random() % std::size(kSizes)];
  for (const Root& root : roots_->roots) {
    const int choice = attempt < kChoices ? attempt : static_cast<int>(random() % kChoices);
    // Of ranges that nobody gave, the ends overflow long before the operation in question.
    const Interval smaller = meet(root.range, {-size, size, false});
    drawn[root.name] =
        draw(roots_->values.at(root.name).type, smaller.has_number() ? smaller : root.range,
             static_cast<Choice>(choice), random);
  }
  return drawn;
}

bool LintSearch::can_draw() const {
  std::int64_t elements = 0;
  for (const auto& [name, value] : roots_->values) {
    if (!value.is_tensor() || value.cells.empty()) return false;
    elements += element_count(drawn_shape(value.type));
  }
  return elements <= kMostDrawn;
}

void LintSearch::find_witnesses(Assessment& judgement) const {
  std::map<std::string, LintNode*> open;
  for (LintNode& node : judgement.nodes)
    if (is_unsafe(node)) open[node.name] = &node;
  if (open.empty() || !can_draw()) return;
  const auto model = std::make_shared<const Model>(with_parameters(*model_, *roots_));
  const auto evaluator = Evaluator::make(model);
  if (!evaluator) return;
  std::mt19937_64 random(options_->seed);
  const double most = kWitnessShare * options_->search_seconds;
  for (int attempt = 0; attempt < kCandidates && !open.empty() && passed() < most; ++attempt) {
    const std::map<std::string, Tensor> drawn = draw_all(attempt, random);
    std::vector<Value> inputs;
    for (const NamedType& input : model->graph.inputs) {
      const auto found = drawn.find(input.name);
      inputs.push_back(found == drawn.end() ? Value() : Value(found->second));
    }
    EvaluateOptions run;
    run.seed = options_->seed;
    const double end = passed() + kAttemptShare * most;
    Decisions decisions(drawn);
    run.observe = [&](const Evaluated& seen) {
      decisions.observe(seen);
      if (passed() > end) throw EvaluationError("lint.witness-time", "the attempt takes too long");
      const std::string* origin = find_property(seen.node.node.metadata, kOriginNode);
      const auto found = open.find(origin ? *origin : seen.layer());
      if (found == open.end() || !fails(seen) || decisions.passes_over(seen.node.node)) return;
      found->second->witness = LintWitness{drawn, describe(seen)};
      found->second->verdict = LintVerdict::error;
      open.erase(found);
    };
    // Values that the model itself refuses, such as an index out of range, are no witness.
    (void)(*evaluator)->run(inputs, run);
  }
}

}  // namespace assay
