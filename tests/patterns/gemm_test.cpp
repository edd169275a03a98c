#include "patterns/gemm.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/isa.h"
#include "base/parallel.h"

namespace assay {
namespace {

using Size = std::int64_t;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUntouched = -12345.5;

enum class Layout { RowMajor, ColumnMajor, Spread, Reversed };
constexpr Layout kLayouts[] = {Layout::RowMajor, Layout::ColumnMajor, Layout::Spread,
                               Layout::Reversed};

// A matrix in some layout, as float or double, and the view of it.
class Matrix {
 public:
  Matrix(Size rows, Size columns, Layout layout = Layout::RowMajor, bool is_float = false)
      : columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {
    view_.is_float = is_float;
    view_.row_stride = layout == Layout::ColumnMajor ? 1 : columns;
    view_.column_stride = layout == Layout::ColumnMajor ? rows : 1;
    if (layout == Layout::Spread) {
      view_.row_stride = 3 * columns + 2;
      view_.column_stride = 3;
    }
    if (layout == Layout::Reversed) {
      view_.row_stride = -columns;
      origin_ = std::max<Size>(0, (rows - 1) * columns);
    }
    rows_ = rows;
  }

  double& at(Size i, Size j) { return values_[static_cast<std::size_t>(i * columns_ + j)]; }

  template <typename Make>
  Matrix& fill(Make make) {
    for (double& value : values_) value = view_.is_float ? static_cast<float>(make()) : make();
    return *this;
  }

  // Lays the values out; valid until the next call.
  MatrixView view() {
    const Size size = std::max<Size>(0, rows_ - 1) * std::abs(view_.row_stride) +
                      std::max<Size>(0, columns_ - 1) * view_.column_stride + 1;
    floats_.assign(static_cast<std::size_t>(size), std::numeric_limits<float>::quiet_NaN());
    doubles_.assign(static_cast<std::size_t>(size), kNan);
    for (Size i = 0; i < rows_; ++i) {
      for (Size j = 0; j < columns_; ++j) {
        const Size where = origin_ + i * view_.row_stride + j * view_.column_stride;
        floats_[static_cast<std::size_t>(where)] = static_cast<float>(at(i, j));
        doubles_[static_cast<std::size_t>(where)] = at(i, j);
      }
    }
    view_.data = view_.is_float ? static_cast<const void*>(floats_.data() + origin_)
                                : static_cast<const void*>(doubles_.data() + origin_);
    return view_;
  }

 private:
  Size rows_ = 0;
  Size columns_;
  Size origin_ = 0;
  std::vector<double> values_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  MatrixView view_;
};

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}

std::vector<double> product(Size m, Size n, Size k, const MatrixView& a, const MatrixView& b) {
  std::vector<double> c(static_cast<std::size_t>(m * n), kNan);
  gemm(m, n, k, a, b, c.data(), n);
  return c;
}

// What gemm.h promises: runs of 256 terms, each term rounded once, or twice without fused
// multiply-add.
double promised_element(Matrix& a, Matrix& b, Size i, Size j, Size k) {
  const bool fused = isa() != Isa::sse;
  double total = 0;
  for (Size k0 = 0; k0 < k; k0 += 256) {
    double run = 0;
    for (Size kk = k0; kk < std::min(k, k0 + 256); ++kk) {
      const double x = a.at(i, kk);
      const double y = b.at(kk, j);
      run = fused ? std::fma(x, y, run) : run + x * y;
    }
    total = k0 == 0 ? run : total + run;
  }
  return total;
}

std::vector<double> promised(Matrix& a, Matrix& b, Size m, Size n, Size k) {
  std::vector<double> c;
  for (Size i = 0; i < m; ++i) {
    for (Size j = 0; j < n; ++j) c.push_back(promised_element(a, b, i, j, k));
  }
  return c;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()() { return normal_(engine_); }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

class SmallIntegers {
 public:
  explicit SmallIntegers(unsigned seed) : engine_(seed) {}
  double operator()() { return static_cast<double>(distribution_(engine_)); }

 private:
  std::mt19937_64 engine_;
  std::uniform_int_distribution<int> distribution_{-8, 8};
};

// Runs once per instruction set; those that the machine lacks are skipped.
class GemmTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    before_ = isa();
    set_thread_count(1);
    if (!set_isa(GetParam())) GTEST_SKIP() << "no " << GetParam();
  }
  void TearDown() override {
    set_isa(name_of(before_));
    set_thread_count(0);
  }

 private:
  Isa before_ = isa();
};
INSTANTIATE_TEST_SUITE_P(Isa, GemmTest, testing::Values("sse", "avx2", "avx512"),
                         [](const auto& info) { return std::string(info.param); });

const std::tuple<Size, Size, Size> kSizes[] = {
    {1, 1, 1},    {2, 3, 4},     {3, 2, 1},     {1, 1, 300},  {1, 5, 40},
    {1, 33, 17},  {1, 70, 257},  {1, 13, 64},   {600, 1, 9},  {37, 1, 600},
    {4, 12, 256}, {8, 24, 255},  {5, 25, 257},  {9, 49, 31},  {7, 23, 600},
    {13, 11, 1},  {130, 70, 20}, {64, 100, 65}, {1, 21, 512}, {21, 1, 1024}};

TEST_P(GemmTest, IsExactOnSmallIntegers) {
  for (const auto& [m, n, k] : kSizes) {
    Matrix a(m, k);
    Matrix b(k, n);
    a.fill(SmallIntegers(1));
    b.fill(SmallIntegers(2));
    const std::vector<double> c = product(m, n, k, a.view(), b.view());
    for (Size i = 0; i < m; ++i) {
      for (Size j = 0; j < n; ++j) {
        Size sum = 0;
        for (Size kk = 0; kk < k; ++kk) sum += static_cast<Size>(a.at(i, kk) * b.at(kk, j));
        ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)], static_cast<double>(sum))
            << m << 'x' << n << 'x' << k << " at " << i << ',' << j;
      }
    }
  }
}

TEST_P(GemmTest, AddsInThePromisedOrderInEveryLayout) {
  for (const auto& [m, n, k] : kSizes) {
    for (const Layout a_layout : kLayouts) {
      for (const Layout b_layout : kLayouts) {
        for (const int floats : {0, 1, 2, 3}) {
          Matrix a(m, k, a_layout, (floats & 1) != 0);
          Matrix b(k, n, b_layout, (floats & 2) != 0);
          a.fill(Random(1));
          b.fill(Random(2));
          ASSERT_EQ(bits(product(m, n, k, a.view(), b.view())), bits(promised(a, b, m, n, k)))
              << m << 'x' << n << 'x' << k << " layouts " << static_cast<int>(a_layout) << ' '
              << static_cast<int>(b_layout) << " floats " << floats;
        }
      }
    }
  }
}

TEST_P(GemmTest, TakesLongSums) {
  for (const auto& [m, n] : {std::pair<Size, Size>{1, 3}, {3, 1}, {1, 1}, {2, 2}}) {
    const Size k = 130001;
    Matrix a(m, k, Layout::RowMajor, true);
    Matrix b(k, n, Layout::RowMajor, true);
    a.fill(Random(1));
    b.fill(Random(2));
    EXPECT_EQ(bits(product(m, n, k, a.view(), b.view())), bits(promised(a, b, m, n, k)));
  }
}

TEST_P(GemmTest, ReadsBroadcastOperands) {
  const double three = 3;
  const MatrixView threes{&three, false, 0, 0};
  EXPECT_EQ(product(20, 30, 5, threes, threes), std::vector<double>(600, 45.0));
  EXPECT_EQ(product(1, 30, 50, threes, threes), std::vector<double>(30, 450.0));
}

TEST_P(GemmTest, LeavesTheGapsBetweenRows) {
  for (const auto& [m, n, k] : kSizes) {
    Matrix a(m, k);
    Matrix b(k, n);
    a.fill(SmallIntegers(1));
    b.fill(SmallIntegers(2));
    const Size ldc = n + 3;
    std::vector<double> c(static_cast<std::size_t>(m * ldc), kUntouched);
    gemm(m, n, k, a.view(), b.view(), c.data(), ldc);
    const std::vector<double> dense = product(m, n, k, a.view(), b.view());
    for (Size i = 0; i < m; ++i) {
      for (Size j = 0; j < ldc; ++j) {
        const double want = j < n ? dense[static_cast<std::size_t>(i * n + j)] : kUntouched;
        ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)], want);
      }
    }
  }
}

TEST_P(GemmTest, TakesEmptySizes) {
  Matrix a(3, 3);
  Matrix b(3, 3);
  std::vector<double> c(9, kUntouched);
  gemm(0, 3, 3, a.view(), b.view(), c.data(), 3);
  gemm(3, 0, 3, a.view(), b.view(), c.data(), 3);
  EXPECT_EQ(c, std::vector<double>(9, kUntouched));
  gemm(3, 2, 0, a.view(), b.view(), c.data(), 3);
  EXPECT_EQ(c, (std::vector<double>{0, 0, kUntouched, 0, 0, kUntouched, 0, 0, kUntouched}));
  const PackColumns never = [](Size, Size, Size, double*) { FAIL(); };
  gemm_packed(PackedRows(2, 0, a.view()), 2, never, c.data(), 3);
  gemm_packed(PackedRows(0, 3, a.view()), 2, never, c.data(), 3);
}

TEST_P(GemmTest, KeepsNanAndInfinityInTheirRowsAndColumns) {
  for (const auto& [m, n, k] :
       {std::tuple<Size, Size, Size>{7, 29, 300}, {1, 29, 300}, {29, 1, 300}, {2, 3, 4}}) {
    Matrix a(m, k);
    Matrix b(k, n);
    a.fill([] { return 1.0; });
    b.fill([] { return 1.0; });
    a.at(m - 1, k - 1) = kInf;
    b.at(k - 1, n - 1) = 0;
    const auto last = static_cast<std::size_t>(m * n - 1);
    std::vector<double> c = product(m, n, k, a.view(), b.view());
    for (std::size_t e = 0; e < c.size(); ++e) {
      const bool in_row = static_cast<Size>(e) / n == m - 1;
      const bool in_column = static_cast<Size>(e) % n == n - 1;
      if (e == last) {
        EXPECT_TRUE(std::isnan(c[e]));  // infinity times zero
      } else {
        EXPECT_EQ(c[e], in_row ? kInf : static_cast<double>(in_column ? k - 1 : k));
      }
    }
    b.at(k - 1, n - 1) = kNan;
    c = product(m, n, k, a.view(), b.view());
    for (std::size_t e = 0; e < c.size(); ++e) {
      EXPECT_EQ(std::isnan(c[e]), static_cast<Size>(e) % n == n - 1);
    }
  }
}

TEST_P(GemmTest, DoesNotDependOnThreadsOrOnHowTheCallerCuts) {
  const std::tuple<Size, Size, Size> sizes[] = {
      {70, 1500, 300}, {1200, 40, 300}, {300, 300, 300}, {1, 3000, 300}, {3000, 1, 300}};
  for (const auto& [m, n, k] : sizes) {
    for (const Layout layout : {Layout::RowMajor, Layout::ColumnMajor}) {
      Matrix a(m, k, layout);
      Matrix b(k, n, layout);
      const MatrixView av = a.fill(Random(1)).view();
      const MatrixView bv = b.fill(Random(2)).view();
      set_thread_count(1);
      const auto expected = bits(product(m, n, k, av, bv));
      for (const int threads : {2, 3}) {
        set_thread_count(threads);
        ASSERT_EQ(bits(product(m, n, k, av, bv)), expected) << threads << " threads";
      }
      std::vector<double> c(expected.size());
      for (Size i = 0, height = 1; i < m; i += height, height = std::min(m - i, 2 * height)) {
        MatrixView rows = av;
        rows.data = static_cast<const double*>(av.data) + i * av.row_stride;
        gemm(height, n, k, rows, bv, c.data() + i * n, n);
      }
      ASSERT_EQ(bits(c), expected) << "cut by rows";
      for (Size j = 0, width = 1; j < n; j += width, width = std::min(n - j, 2 * width)) {
        MatrixView columns = bv;
        columns.data = static_cast<const double*>(bv.data) + j * bv.column_stride;
        gemm(m, width, k, av, columns, c.data() + j, n);
      }
      ASSERT_EQ(bits(c), expected) << "cut by columns";
    }
  }
}

TEST_P(GemmTest, MultipliesRowsThatWerePackedBefore) {
  const std::tuple<Size, Size, Size> sizes[] = {{1, 1, 1},      {1, 50, 300},   {9, 49, 31},
                                                {70, 480, 300}, {300, 90, 700}, {1200, 40, 300}};
  for (const auto& [m, n, k] : sizes) {
    Matrix a(m, k);
    Matrix b(k, n);
    const MatrixView av = a.fill(Random(1)).view();
    const MatrixView bv = b.fill(Random(2)).view();
    const auto expected = bits(product(m, n, k, av, bv));
    for (const int threads : {1, 2, 3}) {
      set_thread_count(threads);
      const PackedRows packed(m, k, av);
      std::vector<double> c(expected.size(), kNan);
      gemm(packed, n, bv, c.data(), n);
      ASSERT_EQ(bits(c), expected) << m << 'x' << n << 'x' << k << ", " << threads << " threads";
      std::atomic<int> violations = 0;
      const PackColumns pack = [&, k = k, n = n](Size k0, Size k1, Size width, double* panel) {
        violations += !(0 <= k0 && k0 < k1 && k1 <= k && k1 - k0 <= 256);
        for (Size kk = k0; kk < k1; ++kk) {
          for (Size j = 0; j < n; ++j)
            panel[(j / width * (k1 - k0) + kk - k0) * width + j % width] = b.at(kk, j);
        }
        const Size whole = (n + width - 1) / width * width;
        std::fill_n(panel + whole * (k1 - k0), kPanelSlack, kNan);
      };
      std::fill(c.begin(), c.end(), kNan);
      gemm_packed(packed, n, pack, c.data(), n);
      ASSERT_EQ(bits(c), expected) << m << 'x' << n << 'x' << k << ", " << threads << " threads";
      EXPECT_EQ(violations, 0);
    }
  }
}

TEST_P(GemmTest, ReadsColumnsWhereTheyLie) {
  const std::tuple<Size, Size, Size> sizes[] = {{5, 8, 3}, {70, 200, 300}, {1200, 40, 520}};
  for (const auto& [m, n, k] : sizes) {
    Matrix a(m, k);
    Matrix b(k, n);
    const MatrixView av = a.fill(Random(1)).view();
    const auto expected = bits(product(m, n, k, av, b.fill(Random(2)).view()));
    // Groups of eight columns from the last to the first, each with its rows one behind the other.
    const Size groups = n / 8, distance = 8 * k + 3;
    std::vector<double> data(static_cast<std::size_t>(groups * distance));
    std::vector<std::int64_t> eights(static_cast<std::size_t>(groups + kMostSliver / 8));
    for (Size g = 0; g < groups; ++g) {
      const Size start = (groups - 1 - g) * distance;
      eights[static_cast<std::size_t>(g)] = start;
      for (Size i = 0; i < 8 * k; ++i)
        data[static_cast<std::size_t>(start + i)] = b.at(i / 8, 8 * g + i % 8);
    }
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      std::vector<double> c(expected.size(), kNan);
      const SpreadRows rows = [&](Size k0, Size k1) -> SpreadColumns {
        thread_local std::vector<std::int64_t> offsets;
        offsets.clear();
        for (Size kk = k0; kk < k1; ++kk) offsets.push_back(8 * kk);
        return {data.data(), offsets.data(), eights.data()};
      };
      gemm_spread(PackedRows(m, k, av), n, rows, c.data(), n);
      ASSERT_EQ(bits(c), expected) << m << 'x' << n << 'x' << k << ", " << threads << " threads";
    }
  }
}

TEST_P(GemmTest, PassesOnWhatTheCallbackThrows) {
  set_thread_count(3);
  Matrix a(1000, 300);
  const PackedRows packed(1000, 300, a.view());
  std::vector<double> c(1000 * 90);
  const PackColumns fail = [](Size, Size, Size, double*) {
    throw std::runtime_error("no such patch");
  };
  EXPECT_THROW(gemm_packed(packed, 90, fail, c.data(), 90), std::runtime_error);
}

}  // namespace
}  // namespace assay
