// Interval contains Bounded contains value, for every entry on every specimen of the corpus; and
// evaluation gives the same bits with every number of threads, and elementwise ones with every
// instruction set.
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/isa.h"
#include "base/parallel.h"
#include "catalogue/corpus.h"
#include "ops/catalogue.h"
#include "patterns/array.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::uint64_t kSeed = 7;

Result<std::vector<Value>> evaluate(const Specimen& s, std::span<const Value> inputs,
                                    Reading reading, bool* unknown = nullptr) {
  return evaluate_node(s.node, s.opset, inputs, reading, nullptr, kSeed, unknown);
}

bool comparable(const Value& a, const Value& b) {
  return a.is_tensor() && b.is_tensor() && a.type() == b.type() && a.shape() == b.shape() &&
         a.type() != ElementType::string && domain_of(a.type()) != Domain::complex;
}

// The first element of `value` outside of `bounds`; -1 if there is none.
std::int64_t first_outside(const Value& value, const Value& bounds, Reading reading) {
  const std::vector<double> elements = value.tensor().reals();
  const std::vector<Bounded> bounded =
      reading == Reading::bounded ? load<Bounded>(bounds).data : std::vector<Bounded>();
  const std::vector<Interval> ranges =
      reading == Reading::interval ? load<Interval>(bounds).data : std::vector<Interval>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool inside = reading == Reading::bounded ? bounded[i].contains(elements[i])
                                                    : ranges[i].contains(elements[i]);
    if (!inside) return static_cast<std::int64_t>(i);
  }
  return -1;
}

void expect_inside(const Specimen& s, const std::vector<Value>& values,
                   const std::vector<Value>& bounds, Reading reading, const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_tensor() || bounds[i].kind() == Value::Kind::unknown) continue;
    ASSERT_EQ(values[i].type(), bounds[i].type()) << s.id << " output " << i;
    ASSERT_EQ(values[i].shape(), bounds[i].shape()) << s.id << " output " << i;
    if (!comparable(values[i], bounds[i])) continue;
    const std::int64_t at = first_outside(values[i], bounds[i], reading);
    EXPECT_EQ(at, -1) << s.id << ": " << what << ", output " << i << ", value "
                      << values[i].tensor().real(std::max<std::int64_t>(at, 0));
  }
}

bool is_random(const Specimen& s) {
  return find_operator(s.node.domain, s.node.op, s.opset).entry->meaning.pattern == Pattern::random;
}

TEST(Readings, BoundedContainsValue) {
  for (const Specimen& s : corpus()) {
    const auto values = evaluate(s, s.inputs, Reading::value);
    const auto bounds = evaluate(s, s.inputs, Reading::bounded);
    if (!values || !bounds) {
      ADD_FAILURE() << s.id << ": " << (values ? bounds : values).error().message;
      continue;
    }
    expect_inside(s, *values, *bounds, Reading::bounded, "value outside of its bound");
  }
}

// Both cover every evaluation. A range may be tighter, since its ends move one by one while a bound
// reaches as far below the value as above; but a bound more than twice as wide, or a range without
// the value, would be a defect of one of them. Some units in the last place are granted: a range
// sees that a sum has one term that is not zero, a bound does not.
bool agree(const Interval& range, const Bounded& bound, ElementType type) {
  if (!range.contains(bound.value)) return false;
  if (bound.is_exact() || bound.is_anything() || !range.has_number()) return true;
  const double reach = std::max(range.high - bound.value, bound.value - range.low);
  const double step = is_real(type) ? 32 * rounding_of(type).unit * std::abs(bound.value) +
                                          4 * rounding_of(type).tiny
                                    : 1;
  return bound.error <= 2 * reach + step;
}

TEST(Readings, IntervalOfPointsAgreesWithBounded) {
  for (const Specimen& s : corpus()) {
    const auto bounds = evaluate(s, s.inputs, Reading::bounded);
    const auto ranges = evaluate(s, s.inputs, Reading::interval);
    if (!bounds || !ranges) {
      ADD_FAILURE() << s.id << ": " << (bounds ? ranges : bounds).error().message;
      continue;
    }
    for (std::size_t i = 0; i < bounds->size(); ++i) {
      const Value &b = (*bounds)[i], &r = (*ranges)[i];
      if (!comparable(b, r)) continue;
      const auto wanted = load<Bounded>(b).data;
      const auto given = load<Interval>(r).data;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (agree(given[k], wanted[k], b.type())) continue;
        ADD_FAILURE() << s.id << " output " << i << " element " << k << ": " << wanted[k].value
                      << " ± " << wanted[k].error << " against [" << given[k].low << ", "
                      << given[k].high << "]" << (given[k].nan ? " or NaN" : "");
        break;
      }
    }
  }
}

// Real inputs widened to ranges, and the same inputs moved inside of these ranges.
struct Widened {
  std::vector<Value> ranges, moved;
  bool any = false;
};

// Whether every extent of the outputs is inferred, with the elements of input `hidden` unknown.
bool shapes_known(const Specimen& s, std::size_t hidden) {
  const Lookup found = find_operator(s.node.domain, s.node.op, s.opset);
  if (!found.entry->infer) return true;
  const Node whole = complete(s.node, *found.schema);
  Site site(whole, found.schema->since_version);
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    Known known;
    known.present = s.inputs[i].present();
    if (known.present) known.type = s.inputs[i].value_type();
    if (i != hidden && s.inputs[i].is_tensor()) known.constant = s.inputs[i].tensor();
    site.inputs.push_back(std::move(known));
  }
  Infer infer(site);
  found.entry->infer(infer);
  return std::all_of(infer.outputs.begin(), infer.outputs.end(), [](const ValueType& type) {
    return !type.is_tensor() || (type.dims && to_shape(*type.dims));
  });
}

// An input whose elements decide the shape (scales, sizes) has no range to be widened to.
bool decides_shape(const Specimen& s, std::size_t input) {
  return shapes_known(s, s.inputs.size()) && !shapes_known(s, input);
}

Widened widen(const Specimen& s, double width, std::mt19937_64& random) {
  Widened result;
  std::uniform_real_distribution<double> draw(-1, 1);
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const Value& input = s.inputs[i];
    if (!input.is_tensor() || !is_real(input.type()) || decides_shape(s, i)) {
      result.ranges.push_back(input);
      result.moved.push_back(input);
      continue;
    }
    std::vector<Interval> ranges;
    std::vector<double> moved;
    for (double x : input.tensor().reals()) {
      const double reach = width * std::max(1.0, std::abs(x));
      double y = std::isfinite(x) ? round_to(input.type(), x + reach * draw(random)) : x;
      if (!std::isfinite(y)) y = x;
      const double low = std::isfinite(x) ? std::min({x, y, round_to(input.type(), x - reach)}) : x;
      const double high =
          std::isfinite(x) ? std::max({x, y, round_to(input.type(), x + reach)}) : x;
      ranges.push_back(std::isnan(x) ? Interval::no_number() : Interval{low, high, false});
      moved.push_back(y);
    }
    result.any = true;
    result.ranges.push_back(Value::ranges(input.type(), input.shape(), std::move(ranges)));
    result.moved.push_back(make_tensor(input.type(), input.shape(), moved));
  }
  return result;
}

TEST(Readings, IntervalContainsEveryPointOfItsInputs) {
  std::mt19937_64 random(kSeed);
  for (const Specimen& s : corpus()) {
    if (is_random(s)) continue;
    for (const double width : {1e-3, 0.5}) {
      const Widened inputs = widen(s, width, random);
      if (!inputs.any) break;
      const auto ranges = evaluate(s, inputs.ranges, Reading::interval);
      if (!ranges) continue;  // a range may reach where the node cannot be evaluated
      for (const auto* points : {&s.inputs, &inputs.moved}) {
        const auto values = evaluate(s, *points, Reading::value);
        if (!values) continue;
        bool same_shapes = true;  // where data decides the shape a range has no single one
        for (std::size_t i = 0; i < values->size(); ++i)
          same_shapes = same_shapes && (!(*values)[i].is_tensor() || !(*ranges)[i].is_tensor() ||
                                        (*values)[i].shape() == (*ranges)[i].shape());
        if (same_shapes)
          expect_inside(s, *values, *ranges, Reading::interval, "value outside of its range");
      }
    }
  }
}

TEST(Readings, OnlyTheListedOperatorsAnswerUnknown) {
  std::set<std::string> listed, found;
  std::ifstream file("tests/unknown.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') listed.insert(line.substr(0, line.find(' ')));
  std::mt19937_64 random(kSeed);
  for (const Specimen& s : corpus()) {
    bool unknown = false;
    const Widened inputs = widen(s, 1e-3, random);
    const auto ranges = evaluate(s, inputs.ranges, Reading::interval, &unknown);
    if (ranges && unknown) found.insert(s.node.op);
  }
  EXPECT_EQ(found, listed);
}

TEST(Readings, ThreadsDoNotChangeABit) {
  for (const Specimen& s : corpus()) {
    set_thread_count(1);
    const auto one = evaluate(s, s.inputs, Reading::value);
    for (int threads : {2, 3}) {
      set_thread_count(threads);
      const auto several = evaluate(s, s.inputs, Reading::value);
      if (!one || !several) {
        ADD_FAILURE() << s.id << ": " << (one ? several : one).error().message;
        break;
      }
      for (std::size_t i = 0; i < one->size(); ++i)
        EXPECT_TRUE(!(*one)[i].is_tensor() || identical((*one)[i].tensor(), (*several)[i].tensor()))
            << s.id;
    }
  }
  set_thread_count(0);
}

TEST(Readings, InstructionSetsDoNotChangeElementwiseBits) {
  const Isa best = isa();
  for (const Specimen& s : corpus()) {
    const Lookup found = find_operator(s.node.domain, s.node.op, s.opset);
    if (found.entry->meaning.pattern != Pattern::elementwise) continue;
    set_isa("sse");
    const auto plain = evaluate(s, s.inputs, Reading::value);
    set_isa(name_of(best));
    const auto wide = evaluate(s, s.inputs, Reading::value);
    if (!plain || !wide) {
      ADD_FAILURE() << s.id << ": " << (plain ? wide : plain).error().message;
      continue;
    }
    EXPECT_TRUE(identical(plain->front().tensor(), wide->front().tensor())) << s.id;
  }
}

}  // namespace
}  // namespace assay
