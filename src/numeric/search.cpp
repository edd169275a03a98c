#include "numeric/search.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "graph/origin.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::size_t kMostSplit = 8;         // roots whose ranges are cut
constexpr std::int64_t kMostDrawn = 1 << 22;  // elements of all roots together
constexpr int kCandidates = 40;
constexpr std::int64_t kOpenDrawn = 2;  // an open extent, where values are drawn

bool unsafe(const LintNode& node) { return node.verdict == LintVerdict::warning; }

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

// How the elements of a root are chosen for one attempt.
enum class Choice : std::uint8_t { low, high, zero, middle, ends, anywhere };
constexpr int kChoices = 6;

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
    case Choice::ends:
      return unit(random) < 0.5 ? range.low : range.high;
    case Choice::anywhere:
      break;
  }
  const double place = unit(random);
  if (std::isfinite(width)) return std::min(range.low + place * width, range.high);
  return place * range.high + (1 - place) * range.low;
}

Shape drawn_shape(const ValueType& type) {
  Shape shape;
  for (const Dim& dim : *type.dims) shape.push_back(dim.known() ? dim.value : kOpenDrawn);
  return shape;
}

Tensor draw(const ValueType& type, const Interval& range, Choice choice, std::mt19937_64& random) {
  const Shape shape = drawn_shape(type);
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (double& value : values) {
    value = choose(choice, range, random);
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
      if (!std::isfinite(x)) return fmt::format("{} in {}", x, seen.name(i));
  }
  return {};
}

}  // namespace

bool LintSearch::has_time() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  return passed.count() < options_->search_seconds;
}

Assessment LintSearch::with_range(std::size_t root, const Interval& range) const {
  Roots narrowed = *roots_;
  Abstract& value = narrowed.values.at(narrowed.roots[root].name);
  const Abstract before = value;
  value = uniform(before.type, range);
  value.roots = before.roots;
  narrowed.roots[root].range = range;
  return judge(*model_, narrowed, options_->setting);
}

// The elements of a tensor lie on both sides of 0 at once, which two halves of a range do not show
// to a node that sees several of them.
bool LintSearch::may_split(const Assessment& judgement, std::size_t node, int root) const {
  const Abstract& value = roots_->values.at(roots_->roots[static_cast<std::size_t>(root)].name);
  const auto shape = value.ranked() ? to_shape(*value.type.dims) : std::nullopt;
  const bool single = shape && checked_element_count(*shape) == 1;
  return single || !judgement.mixed[node].contains(root);
}

void LintSearch::split(Assessment& judgement) const {
  std::set<int> wanted;
  for (std::size_t n = 0; n < judgement.nodes.size(); ++n)
    if (unsafe(judgement.nodes[n]))
      wanted.insert(judgement.roots[n].begin(), judgement.roots[n].end());
  std::size_t tried = 0;
  for (int root : wanted) {
    const auto place = static_cast<std::size_t>(root);
    const Interval& range = roots_->roots[place].range;
    if (!(range.low < 0 && range.high > 0) || ++tried > kMostSplit || !has_time()) continue;
    const Assessment below = with_range(place, {range.low, 0, false});
    const Assessment above = with_range(place, {0, range.high, false});
    for (std::size_t n = 0; n < judgement.nodes.size(); ++n) {
      LintNode& node = judgement.nodes[n];
      if (!unsafe(node) || !may_split(judgement, n, root) || !is_safe(below, node.name) ||
          !is_safe(above, node.name))
        continue;
      node.verdict = LintVerdict::safe;
      node.why = fmt::format("safe for {} below 0 and above", roots_->roots[place].name);
    }
  }
}

// First all roots alike, then every mixture.
std::map<std::string, Tensor> LintSearch::draw_all(int attempt, std::mt19937_64& random) const {
  std::map<std::string, Tensor> drawn;
  for (const Root& root : roots_->roots) {
    const int choice = attempt < kChoices ? attempt : static_cast<int>(random() % kChoices);
    drawn[root.name] =
        draw(roots_->values.at(root.name).type, root.range, static_cast<Choice>(choice), random);
  }
  return drawn;
}

bool LintSearch::can_draw() const {
  std::int64_t elements = 0;
  for (const auto& [name, value] : roots_->values) {
    if (!value.is_tensor() || !value.ranked() || value.cells.empty()) return false;
    elements += element_count(drawn_shape(value.type));
  }
  return elements <= kMostDrawn;
}

void LintSearch::find_witnesses(Assessment& judgement) const {
  std::map<std::string, LintNode*> open;
  for (LintNode& node : judgement.nodes)
    if (unsafe(node)) open[node.name] = &node;
  if (open.empty() || !can_draw()) return;
  const auto model = std::make_shared<const Model>(with_parameters(*model_, *roots_));
  const auto evaluator = Evaluator::make(model);
  if (!evaluator) return;
  std::mt19937_64 random(options_->seed);
  for (int attempt = 0; attempt < kCandidates && !open.empty() && has_time(); ++attempt) {
    const std::map<std::string, Tensor> drawn = draw_all(attempt, random);
    std::vector<Value> inputs;
    for (const NamedType& input : model->graph.inputs) {
      const auto found = drawn.find(input.name);
      inputs.push_back(found == drawn.end() ? Value() : Value(found->second));
    }
    EvaluateOptions run;
    run.seed = options_->seed;
    run.observe = [&](const Evaluated& seen) {
      const std::string* origin = find_property(seen.node.node.metadata, kOriginNode);
      const auto found = open.find(origin ? *origin : seen.layer());
      if (found == open.end() || !fails(seen)) return;
      found->second->witness = LintWitness{drawn, describe(seen)};
      found->second->verdict = LintVerdict::error;
      open.erase(found);
    };
    // Values that the model itself refuses, such as an index out of range, are no witness.
    (void)(*evaluator)->run(inputs, run);
  }
}

namespace {

// Half way, on a scale of sizes where the ends are of different ones.
double between(double a, double b) {
  if (a > 0 && b > 0 && std::max(a / b, b / a) > 16) return std::sqrt(a) * std::sqrt(b);
  if (a < 0 && b < 0 && std::max(a / b, b / a) > 16) return -std::sqrt(-a) * std::sqrt(-b);
  return a / 2 + b / 2;
}

bool close(double a, double b) {
  return std::fabs(a - b) <= 0.01 * std::max(std::fabs(a), std::fabs(b)) || std::fabs(a - b) < 1e-9;
}

}  // namespace

// From a safe end outwards, by halves, as far as it stays safe.
double LintSearch::stretched(double end, double limit,
                             const std::function<bool(double)>& safe) const {
  if (safe(limit)) return limit;
  double bad = limit;
  while (!close(end, bad) && has_time()) {
    const double middle = between(end, bad);
    (safe(middle) ? end : bad) = middle;
  }
  return end;
}

std::optional<LintFix> LintSearch::fix(const LintNode& node, std::size_t root) const {
  const Interval range = roots_->roots[root].range;
  const auto safe = [&](double low, double high) {
    return has_time() && is_safe(with_range(root, {low, high, false}), node.name);
  };
  std::optional<LintFix> best;
  for (double anchor : {range.high, range.low, std::clamp(0.0, range.low, range.high),
                        std::clamp(1.0, range.low, range.high)}) {
    if (!safe(anchor, anchor)) continue;
    const double low = stretched(anchor, range.low, [&](double end) { return safe(end, anchor); });
    const double high = stretched(anchor, range.high, [&](double end) { return safe(low, end); });
    if (!best || high - low > best->range.high - best->range.low)
      best = LintFix{roots_->roots[root].name, {low, high, false}};
  }
  return best;
}

void LintSearch::find_fixes(Assessment& judgement) const {
  for (std::size_t n = 0; n < judgement.nodes.size(); ++n) {
    LintNode& node = judgement.nodes[n];
    if (node.verdict != LintVerdict::warning && node.verdict != LintVerdict::error) continue;
    for (int root : judgement.roots[n]) {
      if (!has_time()) return;
      const auto place = static_cast<std::size_t>(root);
      const Abstract& value = roots_->values.at(roots_->roots[place].name);
      if (!value.real()) continue;
      const std::optional<LintFix> found = fix(node, place);
      if (found && (!node.fix || found->range.high - found->range.low >
                                     node.fix->range.high - node.fix->range.low))
        node.fix = found;
    }
  }
}

}  // namespace assay
