// Convolutions of exact tensors against the whole reading with bounds.
#include "patterns/patches_bounded.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "patterns/arithmetic.h"
#include "patterns/array.h"

namespace assay {
namespace {

Patches window_of_three() {
  Patches p;
  p.batches = 2;
  p.groups = 2;
  p.channels = 3;
  p.maps = 5;
  p.axes = {{7, 4, 2, {-1, 0, 1}}, {6, 6, 1, {-1, 0, 1}}};
  return p;
}

Tensor drawn(ElementType type, Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> elements(static_cast<std::size_t>(element_count(shape)));
  for (double& one : elements) one = normal(random);
  return make_tensor(type, std::move(shape), elements);
}

struct Case {
  Patches p = window_of_three();
  Value x, w, bias;
  Shape shape = {2, 10, 4, 6};

  explicit Case(ElementType type)
      : x(drawn(type, {2, 6, 7, 6}, 1)),
        w(drawn(type, {10, 3, 3, 3}, 2)),
        bias(drawn(type, {10}, 3)) {}
  std::optional<Value> exact(bool biased = true) const {
    return convolve_exact(p, x, w, biased ? &bias : nullptr, x.type(), shape);
  }
  Value whole(bool biased = true) const {
    const RoundingScope scope(rounding_of(x.type()));
    const Array<Bounded> from = load<Bounded>(x), by = load<Bounded>(w), b = load<Bounded>(bias);
    Array<Bounded> y;
    y.shape = shape;
    y.data =
        convolve<Bounded>(p, from.data.data(), by.data.data(), biased ? b.data.data() : nullptr);
    return settle(x.type(), y);
  }
};

TEST(ConvolveExact, GivesTheBoundsOfTheWholeReading) {
  for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16}) {
    for (const bool biased : {true, false}) {
      const Case one(type);
      const std::optional<Value> fast = one.exact(biased);
      ASSERT_TRUE(fast);
      const Value whole = one.whole(biased);
      for (std::int64_t i = 0; i < whole.tensor().size(); ++i) {
        const double error = (*whole.errors())[static_cast<std::size_t>(i)];
        const double found = (*fast->errors())[static_cast<std::size_t>(i)];
        ASSERT_NEAR(fast->tensor().real(i), whole.tensor().real(i), 1e-3 * error);
        ASSERT_NEAR(found, error, 1e-3 * error);
        ASSERT_GT(found, 0);
      }
    }
  }
}

TEST(ConvolveExact, LeavesWhatIsNotPlainToTheWholeReading) {
  Case one(ElementType::f32);
  ASSERT_TRUE(one.exact());
  const Value x = one.x;
  one.x = Value::bounded(x.tensor(), std::vector<double>(504, 1e-6));
  EXPECT_FALSE(one.exact());
  std::vector<double> elements = x.tensor().reals();
  elements[17] = std::numeric_limits<double>::infinity();
  one.x = make_tensor(ElementType::f32, x.shape(), elements);
  EXPECT_FALSE(one.exact());
  elements[17] = std::numeric_limits<double>::quiet_NaN();
  one.x = make_tensor(ElementType::f32, x.shape(), elements);
  EXPECT_FALSE(one.exact());
}

TEST(ConvolveExact, LeavesWhatMayBeFlushedToTheWholeReading) {
  Case one(ElementType::f32);
  std::vector<double> elements = one.x.tensor().reals();
  elements[17] = 0x1p-130;
  one.x = make_tensor(ElementType::f32, one.x.shape(), elements);
  EXPECT_TRUE(one.exact());
  Arithmetic flushing;
  flushing.flushes_subnormals = true;
  const ArithmeticScope scope(&flushing);
  EXPECT_FALSE(one.exact());
}

}  // namespace
}  // namespace assay
