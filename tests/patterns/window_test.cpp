// Where windows lie, and folding them against going through each.
#include "patterns/window.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace assay {
namespace {

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

WindowAttributes one_axis(std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                          std::vector<std::int64_t> pads, std::string auto_pad, bool ceil_mode) {
  return {{kernel}, {stride}, {dilation}, std::move(pads), std::move(auto_pad), ceil_mode};
}

TEST(Window, CountsAsTheStandardSays) {
  const auto count = [](const WindowAttributes& a, std::int64_t extent) {
    return window_output(a, 0, extent).value;
  };
  EXPECT_EQ(count(one_axis(3, 2, 1, {0, 0}, "NOTSET", false), 6), 2);
  EXPECT_EQ(count(one_axis(3, 2, 1, {0, 0}, "NOTSET", true), 6), 3);
  EXPECT_EQ(count(one_axis(3, 2, 1, {0, 0}, "VALID", true), 6), 2);
  EXPECT_EQ(count(one_axis(3, 2, 2, {0, 0}, "SAME_UPPER", true), 7), 4);
  EXPECT_EQ(count(one_axis(3, 3, 1, {1, 1}, "NOTSET", true), 2), 1);
  EXPECT_EQ(count(one_axis(2, 3, 1, {0, 0}, "NOTSET", false), 1), 0);
  EXPECT_FALSE(window_output(one_axis(3, 2, 1, {0, 0}, "NOTSET", false), 0, Dim()).known());
}

TEST(Window, PadsTheOddElementOnTheNamedSide) {
  const auto pads = [](const char* word) {
    const WindowGeometry g = window_geometry(one_axis(2, 1, 3, {0, 0}, word, false), {5});
    return std::pair(g.pads_begin[0], g.pads_end[0]);
  };
  EXPECT_EQ(pads("SAME_UPPER"), (std::pair<std::int64_t, std::int64_t>(1, 2)));
  EXPECT_EQ(pads("SAME_LOWER"), (std::pair<std::int64_t, std::int64_t>(2, 1)));
}

TEST(Window, LimitsKeepArithmeticWhole) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(in_window_limits(one_axis(3, 2, 1, {0, 1}, "", false)));
  EXPECT_TRUE(in_window_limits(one_axis(1, 1, kWindowLimit - 1, {0, 0}, "", false)));
  EXPECT_FALSE(in_window_limits(one_axis(3, 1, kWindowLimit / 2, {0, 0}, "", false)));
  EXPECT_FALSE(in_window_limits(one_axis(kHuge, 1, kHuge, {0, 0}, "", false)));
  EXPECT_FALSE(in_window_limits(one_axis(1, 0, 1, {0, 0}, "", false)));
  EXPECT_FALSE(in_window_limits(one_axis(1, 1, 1, {kHuge, 0}, "", false)));
}

WindowGeometry random_geometry(std::mt19937& random) {
  while (true) {
    WindowAttributes a;
    Shape spatial;
    for (std::int64_t d = pick(random, 1, 3); d > 0; --d) {
      spatial.push_back(pick(random, 1, 20 / d));
      a.kernel.push_back(pick(random, 1, 5));
      a.strides.push_back(pick(random, 1, 4));
      a.dilations.push_back(pick(random, 1, 3));
    }
    for (std::size_t i = 0; i < 2 * spatial.size(); ++i) a.pads.push_back(pick(random, 0, 4));
    a.ceil_mode = pick(random, 0, 1) == 1;
    bool fits = true;
    for (std::size_t d = 0; d < spatial.size(); ++d)
      fits = fits && window_output(a, d, spatial[d]).value > 0;
    if (fits) return window_geometry(a, spatial);
  }
}

TEST(Window, FoldsAsItVisits) {
  std::mt19937 random(5);
  std::normal_distribution<double> draw;
  for (int round = 0; round < 500; ++round) {
    const WindowGeometry g = random_geometry(random);
    Shape in = {1, 2}, out = {1, 2};
    in.insert(in.end(), g.extents.begin(), g.extents.end());
    out.insert(out.end(), g.outputs.begin(), g.outputs.end());
    std::vector<double> values(static_cast<std::size_t>(element_count(in)));
    for (double& x : values) x = draw(random);
    for (const ElementType type : {ElementType::f64, ElementType::f32}) {
      const Tensor x = make_tensor(type, in, values);
      std::vector<double> counts;
      const auto note = [&](const FoldedRow& row) {
        for (std::size_t j = 0; j < row.values.size(); ++j)
          counts.push_back(row.inside * row.insides[j] * 1000 + row.padded * row.paddeds[j]);
      };
      const Tensor top = fold_windows(x, g, Fold::maximum, out, note);
      const Tensor sum = fold_windows(x, g, Fold::sum, out, note);
      const std::int64_t size = element_count(g.extents), windows = element_count(g.outputs);
      for_windows(
          g, [&](std::int64_t at, std::span<const std::int64_t> places, std::int64_t padded) {
            double most = -std::numeric_limits<double>::infinity(), total = 0;
            for (std::int64_t place : places) {
              most = std::max(most, x.real(size + place));
              total += x.real(size + place);
            }
            EXPECT_EQ(top.real(windows + at), most) << "round " << round;
            EXPECT_NEAR(sum.real(windows + at), total, type == ElementType::f64 ? 1e-12 : 1e-5);
            EXPECT_EQ(counts[static_cast<std::size_t>(at)],
                      static_cast<double>(places.size()) * 1000 + static_cast<double>(padded));
          });
    }
  }
}

TEST(Window, FoldsSmallIntegers) {
  const Tensor x = make_tensor(ElementType::i8, {1, 1, 4}, std::vector<double>{-128, -5, 7, -9});
  const WindowGeometry g = window_geometry(one_axis(2, 2, 1, {1, 3}, "", false), {4});
  const Tensor y = fold_windows(x, g, Fold::maximum, {1, 1, 4}, nullptr);
  EXPECT_EQ(y.integers(), (std::vector<std::int64_t>{-128, 7, -9, -128}));
}

}  // namespace
}  // namespace assay
