#include "numeric/steps.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "patterns/array.h"
#include "scalar/watch.h"
#include "semantics/key_writer.h"
#include "semantics/run.h"

namespace assay {
namespace {

bool same(const Interval& a, const Interval& b) {
  return a.low == b.low && a.high == b.high && !a.nan && !b.nan;
}

// Everything that an operand may be: with one evaluation, a maximum is not told from the operand
// that it is.
using Operands = std::vector<Operand>;

struct SeenStep {
  Step::Kind kind = Step::Kind::add;
  Operands a, b;
};

struct SeenSteps {
  std::vector<SeenStep> steps;
  Operands result;
};

// Writes down the steps of one evaluation on known points. Every operand must be one of the
// numbers seen so far, or their opposite: random points do not coincide.
class Recorder : public Watch {
 public:
  explicit Recorder(std::vector<Interval> inputs) : inputs_(std::move(inputs)) {}

  void applied(Operation, const Interval&, const Interval&, const Interval&) override {
    failed_ = true;
  }
  void left_type(const Interval&) override { failed_ = true; }
  void compared() override { failed_ = true; }
  void added(const Interval& a, const Interval& b, const Interval& result) override {
    note(Step::Kind::add, a, b, result);
  }
  void multiplied(const Interval& a, const Interval& b, const Interval& result) override {
    note(Step::Kind::multiply, a, b, result);
  }
  void chose_larger(const Interval& a, const Interval& b, const Interval& result) override {
    note(Step::Kind::larger, a, b, result);
  }
  void named_constant(const Interval& value) override { constants_.push_back(value); }

  std::optional<SeenSteps> finish(const Interval& output, ElementType type) {
    if (failed_) return std::nullopt;
    const auto settled = [&](const Interval& x) {
      Array<Interval> one(Shape{1}, x);
      return settle(type, one).intervals()->front();
    };
    if (steps_.empty()) return SeenSteps{{}, find(output)};
    const bool plain = same(settled(results_.back()), output);
    const bool turned = same(settled(-results_.back()), output);
    if (!plain && !turned) return std::nullopt;
    return SeenSteps{steps_, {{Operand::Kind::step, steps_.size() - 1, 0, !plain}}};
  }

 private:
  Operands find(const Interval& x) const {
    Operands found;
    const auto look_through = [&](const std::vector<Interval>& seen, Operand::Kind kind) {
      for (std::size_t i = 0; i < seen.size(); ++i) {
        // Of two inputs with one value, the first stands for both.
        const bool again = kind == Operand::Kind::input &&
                           std::any_of(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Interval& other) { return same(other, seen[i]); });
        if (again) continue;
        if (same(seen[i], x)) found.push_back({kind, i, 0, false});
        if (same(seen[i], -x)) found.push_back({kind, i, 0, true});
      }
    };
    look_through(inputs_, Operand::Kind::input);
    look_through(results_, Operand::Kind::step);
    const bool known = same(x, Interval::point(0)) ||
                       std::any_of(constants_.begin(), constants_.end(),
                                   [&](const Interval& c) { return same(c, x) || same(c, -x); });
    if (known && x.low == x.high) found.push_back({Operand::Kind::constant, 0, x.low, false});
    return found;
  }

  void note(Step::Kind kind, const Interval& a, const Interval& b, const Interval& result) {
    steps_.push_back({kind, find(a), find(b)});
    failed_ = failed_ || steps_.back().a.empty() || steps_.back().b.empty();
    results_.push_back(result);
  }

  std::vector<Interval> inputs_, results_, constants_;
  std::vector<SeenStep> steps_;
  bool failed_ = false;
};

void keep_common(Operands& operands, const Operands& others) {
  std::erase_if(operands, [&](const Operand& one) {
    return std::find(others.begin(), others.end(), one) == others.end();
  });
}

// What two evaluations have in common; false if they took different steps.
bool keep_common(SeenSteps& steps, const SeenSteps& others) {
  if (steps.steps.size() != others.steps.size()) return false;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (steps.steps[i].kind != others.steps[i].kind) return false;
    keep_common(steps.steps[i].a, others.steps[i].a);
    keep_common(steps.steps[i].b, others.steps[i].b);
  }
  keep_common(steps.result, others.result);
  return true;
}

// The steps, if there is no doubt left about any operand.
std::optional<Steps> certain(const SeenSteps& seen) {
  Steps steps;
  for (const SeenStep& step : seen.steps) {
    if (step.a.size() != 1 || step.b.size() != 1) return std::nullopt;
    steps.steps.push_back({step.kind, step.a.front(), step.b.front()});
  }
  if (seen.result.size() != 1) return std::nullopt;
  steps.result = seen.result.front();
  return steps;
}

// Random points of both signs and several sizes, exact in the type.
std::vector<double> draw_points(ElementType type, std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-3, 5), sign(0, 1);
  std::vector<double> points(count);
  for (double& point : points) {
    const double size = std::ldexp(mantissa(random), exponent(random));
    point = make_scalar(type, sign(random) != 0 ? size : -size).real(0);
  }
  return points;
}

std::optional<SeenSteps> watched(const PlannedNode& node, ElementType type,
                                 const std::vector<double>& points) {
  std::vector<Interval> ranges;
  for (double point : points) ranges.push_back(Interval::point(point));
  std::vector<Value> inputs;
  std::size_t next = 0;
  for (const std::string& name : node.node.inputs) {
    if (name.empty())
      inputs.emplace_back();
    else
      inputs.push_back(Value::ranges(type, Shape{}, {ranges[next++]}));
  }
  Recorder recorder(ranges);
  EvaluateOptions options;
  options.reading = Reading::interval;
  RunMemory memory;
  std::vector<Value> outputs;
  try {
    const WatchScope scope(&recorder);
    outputs = Run(options, memory).run_single(node, inputs);
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
  if (outputs.size() != 1 || !outputs[0].is_tensor() || !outputs[0].intervals())
    return std::nullopt;
  return recorder.finish(outputs[0].intervals()->front(), type);
}

// What the steps of a node depend on; empty for one with attributes that a key does not tell.
std::string kind_of(const PlannedNode& node, ElementType type,
                    std::span<const std::size_t> same_as) {
  KeyWriter key;
  if (!key.node(node.node, node.found.schema)) return {};
  key.number(static_cast<std::int64_t>(type));
  for (const std::string& input : node.node.inputs) key.mark(input.empty() ? '-' : '+');
  for (const std::size_t first : same_as) key.count(first);
  return key.key();
}

}  // namespace

const std::optional<Steps>& KnownSteps::of(const PlannedNode& node, ElementType type,
                                           std::span<const std::size_t> same_as) {
  std::string kind = kind_of(node, type, same_as);
  if (kind.empty()) return single_ = find_steps(node, type, same_as);
  const auto known = found_.find(kind);
  if (known != found_.end()) return known->second;
  return found_.emplace(std::move(kind), find_steps(node, type, same_as)).first->second;
}

std::optional<Steps> find_steps(const PlannedNode& node, ElementType type,
                                std::span<const std::size_t> same_as) {
  std::mt19937_64 random(20201);
  std::optional<SeenSteps> found;
  constexpr int kPoints = 12;
  for (int i = 0; i < kPoints; ++i) {
    std::vector<double> points = draw_points(type, same_as.size(), random);
    for (std::size_t k = 0; k < points.size(); ++k) points[k] = points[same_as[k]];
    std::optional<SeenSteps> steps = watched(node, type, points);
    if (!steps || (found && !keep_common(*found, *steps))) return std::nullopt;
    if (!found) found = std::move(steps);
  }
  return certain(*found);
}

std::uint32_t follow(const Steps& steps, std::span<const Cell> inputs, Forms& forms,
                     Interval& result) {
  InlineVector<Cell, 4> results;
  const auto value_of = [&](const Operand& operand) -> Cell {
    Cell cell;
    if (operand.kind == Operand::Kind::input)
      cell = inputs[operand.index];
    else if (operand.kind == Operand::Kind::step)
      cell = results[operand.index];
    else
      cell = {Interval::point(operand.value), forms.constant(operand.value)};
    if (operand.negative) cell = {-cell.range, forms.negated(cell.form)};
    return cell;
  };
  for (const Step& step : steps.steps) {
    const Cell a = value_of(step.a), b = value_of(step.b);
    Cell next;
    switch (step.kind) {
      case Step::Kind::add:
        next.range = a.range + b.range;
        next.form = forms.sum(a.form, b.form, next.range);
        break;
      case Step::Kind::multiply:
        next.range = a.range * b.range;
        next.form = forms.product(a.form, b.form, next.range);
        if (step.a == step.b) next.range.low = std::max(next.range.low, 0.0);
        break;
      case Step::Kind::larger: {
        next.range = max(a.range, b.range);
        const auto zero = [](const Interval& x) { return x.low == 0 && x.high == 0; };
        if (a.range.low >= b.range.high)
          next.form = a.form;
        else if (b.range.low >= a.range.high)
          next.form = b.form;
        else if (zero(b.range))
          next.form = forms.larger_than_zero(a.form, next.range);
        else if (zero(a.range))
          next.form = forms.larger_than_zero(b.form, next.range);
        break;
      }
    }
    results.push_back(next);
  }
  const Cell last = value_of(steps.result);
  const Interval narrowed = meet(result, last.range);
  if (narrowed.has_number()) result = narrowed;
  return last.form;
}

}  // namespace assay
