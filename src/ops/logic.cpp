// Comparisons, operators on truth values, and the choice between two tensors.
#include <algorithm>
#include <bit>

#include "base/parallel.h"
#include "ops/broadcast.h"
#include "ops/families.h"
#include "ops/logic_bits.h"
#include "patterns/elementwise.h"

namespace assay {
namespace {

template <class S>
Condition<S> is_true(const S& x) {
  return negate(equal(x, zero<S>()));
}

#define ASSAY_CONDITION(Name, expression)     \
  struct Name {                               \
    template <class S>                        \
    Condition<S> operator()(S a, S b) const { \
      return expression;                      \
    }                                         \
  }

ASSAY_CONDITION(And, both(is_true(a), is_true(b)));
ASSAY_CONDITION(Or, either(is_true(a), is_true(b)));
ASSAY_CONDITION(Xor, exclusive(is_true(a), is_true(b)));
ASSAY_CONDITION(Equal, equal(a, b));
ASSAY_CONDITION(Greater, greater(a, b));
ASSAY_CONDITION(GreaterOrEqual, greater_equal(a, b));
ASSAY_CONDITION(Less, less(a, b));
ASSAY_CONDITION(LessOrEqual, less_equal(a, b));

#undef ASSAY_CONDITION

struct Not {
  template <class S>
  Condition<S> operator()(S x) const {
    return negate(is_true(x));
  }
};

struct Where {
  template <class S>
  S operator()(S condition, S x, S y) const {
    return select(is_true(condition), x, y);
  }
};

constexpr std::int64_t kGrain = 16 * 1024;

void equal_texts(Call& call) {
  const auto a = call.input(0).tensor().data<std::string>();
  const auto b = call.input(1).tensor().data<std::string>();
  const Shape shape = call.output_shape(0);
  const BroadcastWalk walk(shape, {&call.input(0).shape(), &call.input(1).shape()});
  Tensor result(ElementType::boolean, shape);
  const auto out = result.mutate<bool>();
  walk(0, result.size(),
       [&](std::int64_t at, std::int64_t count, const std::int64_t* offsets,
           const std::int64_t* steps) {
         for (std::int64_t i = 0; i < count; ++i)
           out[static_cast<std::size_t>(at + i)] =
               a[static_cast<std::size_t>(offsets[0] + i * steps[0])] ==
               b[static_cast<std::size_t>(offsets[1] + i * steps[1])];
       });
  call.outputs[0] = std::move(result);
}

Meaning equal_meaning() {
  const Meaning numbers = elementwise<Equal, RealsAndIntegers>();
  return aligned({Pattern::elementwise,
                  [inner = numbers.evaluate](Call& call) {
                    if (call.input(0).type() == ElementType::string)
                      equal_texts(call);
                    else
                      inner(call);
                  },
                  true});
}

// Numbers are chosen by masks of their bits: a branch that depends on data costs more.
template <class T>
T choose(bool first, const T& x, const T& y) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>) {
    const auto mask = std::uint32_t{0} - static_cast<std::uint32_t>(first);
    const auto bits =
        (std::bit_cast<std::uint32_t>(x) & mask) | (std::bit_cast<std::uint32_t>(y) & ~mask);
    return std::bit_cast<T>(bits);
  } else {
    return first ? x : y;
  }
}

template <class T>
void choose_run(const bool* c, const T* x, const T* y, T* out, std::int64_t count,
                const std::int64_t* steps) {
  if (steps[0] == 1 && steps[1] == 1 && steps[2] == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = choose(c[i], x[i], y[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = choose(c[i * steps[0]], x[i * steps[1]], y[i * steps[2]]);
  }
}

// Exact elements of any type are chosen as they are stored.
void choose_elements(Call& call) {
  const Tensor &c = call.input(0).tensor(), &x = call.input(1).tensor(),
               &y = call.input(2).tensor();
  const Shape shape = call.output_shape(0);
  const BroadcastWalk walk(shape, {&c.shape(), &x.shape(), &y.shape()});
  Tensor result = Tensor::uninitialized(x.type(), shape);
  visit_storage(x.type(), [&]<class T>(T*) {
    T* out = result.mutate<T>().data();
    const bool* from_c = c.data<bool>().data();
    const T *from_x = x.data<T>().data(), *from_y = y.data<T>().data();
    parallel_for(result.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      walk(begin, end,
           [&](std::int64_t at, std::int64_t count, const std::int64_t* offsets,
               const std::int64_t* steps) {
             choose_run(from_c + offsets[0], from_x + offsets[1], from_y + offsets[2], out + at,
                        count, steps);
           });
    });
  });
  call.outputs[0] = std::move(result);
}

Meaning where_meaning() {
  const Meaning numbers = elementwise<Where, RealsAndIntegers>();
  return {Pattern::elementwise,
          [inner = numbers.evaluate](Call& call) {
            const bool exact = std::all_of(call.inputs.begin(), call.inputs.end(),
                                           [](const Value& v) { return v.exact(); });
            const Domain domain = domain_of(call.output_type(0));
            if (exact)
              choose_elements(call);
            else if (domain == Domain::text || domain == Domain::complex)
              answer_unknown(call);
            else
              inner(call);
          },
          true};
}

Operator comparison(std::string_view name, std::vector<int> versions, std::string_view summary,
                    Meaning meaning) {
  std::vector<AttributeRole> attributes;
  if (versions.front() == 1) attributes = {{"axis", Role::axis}, {"broadcast", Role::flag}};
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = std::move(attributes),
          .require = require_broadcast,
          .infer = infer_comparison,
          .meaning = aligned(std::move(meaning))};
}

// Integers compared in single precision.
void in_single_precision(Builder& b) {
  if (is_real(b.site().element(0))) return b.output(0, b.again().front());
  const auto single = [&](std::size_t i) {
    return b("Cast", {b.input(i)}, {attribute("to", static_cast<std::int64_t>(ElementType::f32))});
  };
  b.output(0, b(b.site().node().op, {single(0), single(1)}));
}

// The opposite comparison, negated: true where an operand is NaN.
void not_less(Builder& b) { b.output(0, b("Not", {b("Less", {b.input(0), b.input(1)})})); }
void not_greater(Builder& b) { b.output(0, b("Not", {b("Greater", {b.input(0), b.input(1)})})); }

constexpr std::string_view kOldExports =
    "PyTorch's export to opset 8 and below, where comparisons took no integers";
constexpr std::string_view kNegatedExports = "PyTorch's export below opset 12";

Operator with_variant(Operator entry, std::string_view name, std::string_view source,
                      Composition rewrite) {
  entry.variants = {{name, Variant::Kind::difference, source, rewrite}};
  return entry;
}

std::vector<Operator> comparisons() {
  return {comparison("Equal", {1, 7, 11, 13, 19}, "Whether A = B; texts letter by letter.",
                     equal_meaning()),
          with_variant(comparison("Greater", {1, 7, 9, 13}, "Whether A > B.",
                                  elementwise<Greater, RealsAndIntegers>()),
                       "in-single-precision", kOldExports, in_single_precision),
          with_variant(comparison("GreaterOrEqual", {12, 16}, "Whether A >= B.",
                                  elementwise<GreaterOrEqual, RealsAndIntegers>()),
                       "not-less", kNegatedExports, not_less),
          with_variant(comparison("Less", {1, 7, 9, 13}, "Whether A < B.",
                                  elementwise<Less, RealsAndIntegers>()),
                       "in-single-precision", kOldExports, in_single_precision),
          with_variant(comparison("LessOrEqual", {12, 16}, "Whether A <= B.",
                                  elementwise<LessOrEqual, RealsAndIntegers>()),
                       "not-greater", kNegatedExports, not_greater)};
}

Operator not_entry() {
  return {.name = "Not",
          .versions = {1},
          .summary = "Whether x is false.",
          .attributes = {},
          .infer = same_as_first,
          .meaning = elementwise<Not, Integers>()};
}

void infer_where(Infer& n) {
  broadcast_all(n);
  if (!n.outputs.empty()) n.outputs[0].element = n.element(1);
}

Operator where() {
  return {.name = "Where",
          .versions = {9, 16},
          .summary = "The element of X where the condition holds, of Y elsewhere.",
          .attributes = {},
          .require = [](Check& c) { c.broadcastable(); },
          .infer = infer_where,
          .meaning = where_meaning()};
}

}  // namespace

std::vector<Operator> logic_operators() {
  std::vector<Operator> all = {
      comparison("And", {1, 7}, "Whether A and B hold.", elementwise<And, Integers>()), not_entry(),
      comparison("Or", {1, 7}, "Whether A or B holds.", elementwise<Or, Integers>()), where(),
      comparison("Xor", {1, 7}, "Whether one of A and B holds and the other does not.",
                 elementwise<Xor, Integers>())};
  for (auto part : {comparisons, bit_operators})
    for (Operator& entry : part()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay
