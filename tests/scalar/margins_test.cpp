// Margins against the numbers that they stand for, on ordinary operands and on strange ones.
#include "scalar/margins.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "scalar/vocabulary.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Numbers of float32: of every size, and every thirtieth one special.
std::vector<double> singles(std::size_t count, unsigned seed, bool special) {
  const std::vector<double> strange = {0.0,          -0.0,     kInfinity,      -kInfinity,
                                       std::nan(""), 0x1p-149, 0x1.fffffep127, -0x1p-126};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> size(-40, 12), sign(-1, 1);
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) {
    const double one = std::copysign(std::exp2(size(random)), sign(random));
    const bool odd = special && random() % 30 == 0;
    result.push_back(odd ? strange[random() % strange.size()]
                         : static_cast<double>(static_cast<float>(one)));
  }
  return result;
}

// The same error but for its own rounding, which is less than the room that both leave for it.
void expect_covers(double error, double exact, double value) {
  ASSERT_GE(error, exact * (1 - 0x1p-51)) << value;
  ASSERT_EQ(std::isinf(error), std::isinf(exact)) << value;
  if (std::isfinite(exact)) {
    ASSERT_LE(error, exact * (1 + 1e-12)) << value;
  }
}

template <class Operation>
void check_binary(Margins margins, const Operation& operation, const Rounding& format) {
  const RoundingScope scope(format);
  for (const bool special : {false, true}) {
    const std::vector<double> a = singles(3003, 1, special), b = singles(3003, 2, special);
    std::vector<double> values(a.size()), errors(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) values[i] = operation(a[i], b[i]);
    margins({a.data(), b.data(), values.data(), static_cast<std::int64_t>(a.size())},
            errors.data());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Bounded whole = operation(Bounded{a[i], 0}, Bounded{b[i], 0});
      expect_covers(errors[i], whole.error, values[i]);
    }
  }
}

// What a backend may do beyond the plain format.
Rounding loose() {
  Rounding format = Rounding::f32();
  format.functions[static_cast<std::size_t>(Operation::sigmoid)] = {4, 2e-7};
  format.functions[static_cast<std::size_t>(Operation::multiply)] = {1.5, 0};
  return format;
}

Rounding flushing() {
  Rounding format = Rounding::f32();
  format.flushes_subnormals = true;
  return format;
}

TEST(Margins, OfSumsDifferencesAndProducts) {
  for (const Rounding& format : {Rounding::f32(), Rounding::f16(), loose(), flushing()}) {
    check_binary(
        sum_margins, [](auto a, auto b) { return a + b; }, format);
    check_binary(
        difference_margins, [](auto a, auto b) { return a - b; }, format);
    check_binary(
        product_margins, [](auto a, auto b) { return a * b; }, format);
  }
}

TEST(Margins, WholeNumbersStayExact) {
  const RoundingScope scope(Rounding::f32());
  const std::vector<double> a(16, 3), b(16, 0x1p24), products(16, 3 * 0x1p24), sums(16, 3 + 0x1p24);
  std::vector<double> errors(16, 1);
  product_margins({a.data(), b.data(), products.data(), 16}, errors.data());
  EXPECT_EQ(errors.front(), 0);
  sum_margins({a.data(), b.data(), sums.data(), 16}, errors.data());
  EXPECT_GT(errors.front(), 0) << "float32 does not hold it";
}

TEST(Margins, OfTheSigmoid) {
  for (const Rounding& format : {Rounding::f32(), loose(), flushing()}) {
    const RoundingScope scope(format);
    for (const bool special : {false, true}) {
      const std::vector<double> x = singles(3003, 3, special);
      std::vector<double> values(x.size()), errors(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) values[i] = sigmoid(x[i]);
      sigmoid_margins({x.data(), nullptr, values.data(), static_cast<std::int64_t>(x.size())},
                      errors.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        expect_covers(errors[i], sigmoid(Bounded{x[i], 0}).error, x[i]);
      }
    }
  }
}

}  // namespace
}  // namespace assay
