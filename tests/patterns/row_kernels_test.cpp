// The loops over rows give the same on every instruction set, at every length.
#include "patterns/row_kernels.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/isa.h"

namespace assay {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<const RowKernels*> available() {
  std::vector<const RowKernels*> all;
  const Isa best = isa();
  for (const char* name : {"sse", "avx2", "avx512"})
    if (set_isa(name)) all.push_back(&row_kernels());
  set_isa(name_of(best));
  return all;
}

template <class T>
std::vector<T> random_row(std::size_t size, std::mt19937& random) {
  std::uniform_real_distribution<double> draw(-4, 4);
  std::vector<T> row(size);
  for (T& x : row) x = static_cast<T>(draw(random));
  return row;
}

TEST(RowKernels, ConvertAndSplit) {
  std::mt19937 random(1);
  for (const RowKernels* k : available()) {
    for (std::size_t n = 1; n < 70; ++n) {
      const std::vector<float> x = random_row<float>(2 * n, random);
      const auto count = static_cast<std::int64_t>(n);
      std::vector<double> wide(n), second(n), even(n), odd(n);
      std::vector<float> narrow(n), even_floats(n), odd_floats(n);
      k->widen(x.data(), count, wide.data());
      k->widen_every_second(x.data(), count, second.data());
      k->narrow(wide.data(), 0.125, count, narrow.data());
      k->split_floats(x.data(), count, even_floats.data(), odd_floats.data());
      const std::vector<double> doubles(x.begin(), x.end());
      k->split_doubles(doubles.data(), count, even.data(), odd.data());
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_EQ(wide[j], x[j]);
        EXPECT_EQ(second[j], x[2 * j]);
        EXPECT_EQ(narrow[j], static_cast<float>(wide[j] + 0.125));
        EXPECT_EQ(even_floats[j], x[2 * j]);
        EXPECT_EQ(odd_floats[j], x[2 * j + 1]);
        EXPECT_EQ(even[j], x[2 * j]);
        EXPECT_EQ(odd[j], x[2 * j + 1]);
      }
    }
  }
}

TEST(RowKernels, FoldAndWeigh) {
  std::mt19937 random(2);
  constexpr std::size_t kTerms = 5;
  for (const RowKernels* k : available()) {
    for (std::size_t n = 1; n < 70; ++n) {
      std::vector<std::vector<double>> rows;
      std::vector<const double*> pointers;
      for (std::size_t t = 0; t < kTerms; ++t) rows.push_back(random_row<double>(n, random));
      for (const auto& row : rows) pointers.push_back(row.data());
      const std::vector<double> weights = random_row<double>(kTerms, random);
      const auto count = static_cast<std::int64_t>(n);
      std::vector<double> top(n), sum(n), weighed(n);
      k->max_doubles(pointers.data(), kTerms, count, top.data());
      k->add_doubles(pointers.data(), kTerms, count, sum.data());
      k->weigh(pointers.data(), weights.data(), kTerms, count, weighed.data());
      for (std::size_t j = 0; j < n; ++j) {
        double most = rows[0][j], total = rows[0][j], product = weights[0] * rows[0][j];
        for (std::size_t t = 1; t < kTerms; ++t) {
          most = std::max(most, rows[t][j]);
          total += rows[t][j];
          product += weights[t] * rows[t][j];
        }
        EXPECT_EQ(top[j], most);
        EXPECT_EQ(sum[j], total);
        EXPECT_NEAR(weighed[j], product, 1e-13);
      }
      const std::vector<double> before = sum;
      k->divide(sum.data(), 3, weights.data(), count < 5 ? count : 5);
      for (std::size_t j = 0; j < std::min(n, kTerms); ++j)
        EXPECT_EQ(sum[j], before[j] / (3 * weights[j]));
    }
  }
}

TEST(RowKernels, MaximumKeepsNaN) {
  for (const RowKernels* k : available()) {
    for (std::size_t where = 0; where < 3; ++where) {
      std::vector<std::vector<float>> rows(3, std::vector<float>(40, 1));
      for (float& x : rows[where]) x = static_cast<float>(kNaN);
      const float* pointers[] = {rows[0].data(), rows[1].data(), rows[2].data()};
      std::vector<float> top(40);
      k->max_floats(pointers, 3, 40, top.data());
      for (float x : top) EXPECT_TRUE(std::isnan(x));
    }
  }
}

TEST(RowKernels, Sums) {
  for (const RowKernels* k : available()) {
    for (std::size_t n = 0; n < 100; ++n) {
      std::vector<float> x(n);
      double expected = 0;
      for (std::size_t i = 0; i < n; ++i) expected += x[i] = static_cast<float>(i);
      EXPECT_EQ(k->sum_floats(x.data(), static_cast<std::int64_t>(n)), expected);
      const std::vector<double> doubles(x.begin(), x.end());
      EXPECT_EQ(k->sum_doubles(doubles.data(), static_cast<std::int64_t>(n)), expected);
    }
  }
}

}  // namespace
}  // namespace assay
