#include "compare/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compare/agreement.h"
#include "compare/drawn.h"
#include "compare/inner_variant.h"

namespace assay {
namespace {

// The node on other inputs, or by another reading, as far as one output is concerned.
std::optional<Value> read_again(const Evaluated& evaluated, std::size_t output,
                                std::span<const Value> inputs, Composition rewrite = nullptr) {
  const PlannedNode& planned = evaluated.node;
  const Result<std::vector<Value>> other = evaluate_node(
      planned.node, planned.found.schema->since_version, inputs, Reading::bounded, rewrite);
  if (!other || output >= other->size() || !(*other)[output].is_tensor()) return std::nullopt;
  return (*other)[output];
}

bool holds(const std::optional<Value>& bounded, const Tensor& found) {
  return bounded && judge_output(*bounded, found).inside;
}

// Whether two bounded values lie apart somewhere, by more than both bounds.
bool lie_apart(const Value& a, const Value& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return true;
  Value wider = a;
  if (b.errors()) {
    Buffer<double> room = *b.errors();
    for (std::size_t i = 0; a.errors() && i < room.size(); ++i) room[i] += (*a.errors())[i];
    wider = Value::bounded(a.tensor(), std::move(room));
  }
  return !judge_output(wider, b.tensor()).inside;
}

// By what is known of the backend's arithmetic, then by the plain one: where a backend divides
// loosely, a quotient that becomes an integer could be nearly anything.
const Variant* find_variant(const Evaluated& evaluated, std::size_t output, const Tensor& found) {
  for (const Arithmetic* arithmetic :
       {current_arithmetic(), static_cast<const Arithmetic*>(nullptr)}) {
    const ArithmeticScope scope(arithmetic);
    const auto explains = [&](const std::optional<Value>& other) {
      return holds(other, found) && lie_apart(evaluated.outputs[output], *other);
    };
    for (const Variant& variant : evaluated.node.found.entry->variants) {
      if (explains(read_again(evaluated, output, evaluated.inputs, variant.rewrite))) {
        return &variant;
      }
    }
    const auto in_layer = [&](const std::vector<Value>& others) {
      return output < others.size() && others[output].is_tensor() && explains(others[output]);
    };
    if (const Variant* inner = find_inner_variant(evaluated, in_layer)) return inner;
  }
  return nullptr;
}

// Inputs that may each be off by so much, relative; those of formats that hold no more stay.
std::vector<Value> loosened(std::span<const Value> inputs, double unit, bool narrow) {
  std::vector<Value> result(inputs.begin(), inputs.end());
  for (Value& input : result) {
    if (!input.is_tensor() || !is_real(input.type())) continue;
    const Rounding& format = rounding_of(input.type());
    if (narrow != (format.unit > Rounding::f32().unit)) continue;
    std::vector<double> errors = input.tensor().reals();
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const double own = input.errors() ? (*input.errors())[i] : 0;
      const double size = std::abs(errors[i]);
      errors[i] = std::isfinite(size) ? own + std::max(unit, narrow ? format.unit : 0) * size : own;
    }
    input = Value::bounded(input.tensor(), errors);
  }
  return result;
}

bool has_half(std::span<const Value> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Value& input) {
    return input.is_tensor() && is_real(input.type()) &&
           rounding_of(input.type()).unit > Rounding::f32().unit;
  });
}

// Ways to compute in another precision that one can defend. A value of a half format that a fused
// segment kept in float32; products of float32 whose factors are cut to 11 bits (TF32), or to 8.
std::string_view find_profile(const Evaluated& evaluated, std::size_t output, const Tensor& found) {
  const std::span<const Value> inputs = evaluated.inputs;
  if (!is_real(found.type())) return {};
  if (has_half(inputs)) {
    return holds(read_again(evaluated, output, loosened(inputs, 0, true)), found) ? "casts-elided"
                                                                                  : "";
  }
  const Pattern pattern = evaluated.node.found.entry->meaning.pattern;
  if (pattern != Pattern::contraction || found.type() != ElementType::f32) return {};
  if (holds(read_again(evaluated, output, loosened(inputs, 0x1p-11, false)), found)) return "tf32";
  const auto eight = read_again(evaluated, output, loosened(inputs, 0x1p-8, false));
  return holds(eight, found) ? "bfloat16-products" : "";
}

bool reaches_beyond_typical(const Judgement& judgement, std::size_t terms) {
  const double typical = roundings_of(terms, {true, true}), worst = roundings_of(terms, {});
  return judgement.excess * worst > typical;
}

// Whether the result is inside only because a half format may add up in its own precision.
bool adds_up_in_half(const Evaluated& evaluated, std::size_t output, const Tensor& found) {
  if (!has_half(evaluated.inputs)) return false;
  Arithmetic wide;
  if (current_arithmetic()) wide = *current_arithmetic();
  wide.wide_sums = true;
  const ArithmeticScope scope(&wide);
  return !holds(read_again(evaluated, output, evaluated.inputs), found);
}

// Of a result inside the worst case. Reading a node again costs as much as the first time, so it is
// only done where the answer can change.
void grade(const Evaluated& evaluated, std::size_t output, const Tensor& found, const Basis& basis,
           Judgement& judgement) {
  if (judgement.difference == 0) return;
  if (!is_real(found.type())) {
    judgement.verdict = Verdict::tie;
    return;
  }
  const auto holds_in = [&](Tier tier) {
    const TierScope scope(tier);
    return holds(read_again(evaluated, output, evaluated.inputs), found);
  };
  if (basis.open_decision && !holds_in({false, true})) {
    judgement.verdict = Verdict::tie;
    return;
  }
  if (!reaches_beyond_typical(judgement, basis.longest_sum) || holds_in({true, true})) return;
  const bool half = adds_up_in_half(evaluated, output, found);
  judgement.verdict = half ? Verdict::difference : Verdict::suspicious;
  if (half) judgement.profile = "half-accumulation";
}

// Gives a judgement its verdict, and the variant or profile that explains it.
void explain(const Evaluated& evaluated, std::size_t output, const Tensor& found,
             const Basis& basis, Judgement& judgement) {
  if (!judgement.inside) judgement.verdict = Verdict::defect;
  const PlannedNode& planned = evaluated.node;
  const bool alone = planned.found.entry && !planned.function && planned.subgraphs.empty();
  if (!alone || !has_numbers(evaluated.outputs[output].type())) return;
  if (judgement.inside) return grade(evaluated, output, found, basis, judgement);
  judgement.variant = find_variant(evaluated, output, found);
  if (!judgement.variant) judgement.profile = find_profile(evaluated, output, found);
  const bool defended = judgement.variant ? judgement.variant->kind == Variant::Kind::difference
                                          : !judgement.profile.empty();
  if (defended) judgement.verdict = Verdict::difference;
}

// An output that rounding leaves open altogether (how many boxes, which branch): one that differs
// from what the values decide is a tie.
Judgement judge_open(const Evaluated& evaluated, std::size_t output, const Tensor& found) {
  Judgement judgement;
  judgement.inside = true;
  const PlannedNode& planned = evaluated.node;
  const Result<std::vector<Value>> decided = evaluate_node(
      planned.node, planned.found.schema->since_version, evaluated.inputs, Reading::value);
  if (!decided || output >= decided->size()) return judgement;
  const Agreement agreement = agrees((*decided)[output], found, {});
  if (agreement.agrees) return judgement;
  judgement.verdict = Verdict::tie;
  judgement.detail = agreement.detail;
  return judgement;
}

// A draw may be anything that can be drawn, as often as it is.
Judgement judge_chance(const Evaluated& evaluated, std::size_t output, const Tensor& found) {
  std::vector<Value> drawn(evaluated.outputs.size());
  drawn[output] = found;
  const Agreement agreement =
      judge_draw(draw_of(evaluated.node, evaluated.inputs), evaluated.inputs, drawn);
  Judgement judgement;
  judgement.inside = agreement.agrees;
  judgement.detail = agreement.detail;
  if (!agreement.agrees) {
    judgement.verdict = Verdict::defect;
    judgement.excess = std::numeric_limits<double>::infinity();
  }
  return judgement;
}

}  // namespace

std::optional<Judgement> judge_one(const Evaluated& evaluated, std::size_t output,
                                   const Tensor& found, const Basis& basis) {
  const PlannedNode& planned = evaluated.node;
  if (is_drawn(planned, evaluated.inputs)) return judge_chance(evaluated, output, found);
  if (evaluated.unknown) {
    const bool open = basis.open_decision && planned.found.entry && !planned.function &&
                      planned.subgraphs.empty();
    return open ? std::optional(judge_open(evaluated, output, found)) : std::nullopt;
  }
  if (!evaluated.outputs[output].is_tensor()) return std::nullopt;
  Judgement judgement = judge_output(evaluated.outputs[output], found);
  explain(evaluated, output, found, basis, judgement);
  return judgement;
}

}  // namespace assay
