// Convolutions of patches against their definition, on every path that they may take.
#include "patterns/patches.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace assay {
namespace {

using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

Patches random_patches(Random& random) {
  Patches p;
  p.batches = pick(random, 1, 3);
  p.groups = pick(random, 1, 3);
  p.channels = pick(random, 1, 3);
  p.maps = pick(random, 1, 6);
  for (std::int64_t d = pick(random, 1, 3); d > 0; --d) {
    PatchAxis axis;
    axis.extent = pick(random, 1, 9);
    axis.outputs = pick(random, 1, 40 / (d * d));
    axis.step = pick(random, 1, 3);
    for (std::int64_t t = pick(random, 1, 4); t > 0; --t)
      axis.offsets.push_back(pick(random, -4, 9));
    p.axes.push_back(axis);
  }
  if (pick(random, 0, 9) == 0)
    for (PatchAxis& axis : p.axes) axis = {axis.extent, axis.extent, 1, {0}};
  return p;
}

struct Operands {
  std::vector<float> x, w;
};

Operands draw_operands(const Patches& p, Random& random) {
  std::normal_distribution<float> draw;
  Operands drawn;
  drawn.x.resize(static_cast<std::size_t>(p.batches * p.groups * p.channels * p.plane()));
  drawn.w.resize(static_cast<std::size_t>(p.groups * p.maps * p.terms()));
  for (float& element : drawn.x) element = draw(random);
  for (float& element : drawn.w) element = draw(random);
  return drawn;
}

// What an output reads at a tap; both numbered over all axes.
double element_at(const Patches& p, const std::vector<double>& x, std::int64_t channel,
                  std::int64_t output, std::int64_t tap) {
  std::int64_t place = 0, scale = 1;
  for (std::size_t d = p.axes.size(); d-- > 0;) {
    const PatchAxis& axis = p.axes[d];
    const auto taps = static_cast<std::int64_t>(axis.offsets.size());
    const std::int64_t position =
        output % axis.outputs * axis.step + axis.offsets[static_cast<std::size_t>(tap % taps)];
    if (position < 0 || position >= axis.extent) return 0;
    place += position * scale;
    scale *= axis.extent;
    output /= axis.outputs;
    tap /= taps;
  }
  return x[static_cast<std::size_t>(channel * p.plane() + place)];
}

std::vector<double> by_definition(const Patches& p, const std::vector<double>& x,
                                  const std::vector<double>& w) {
  std::vector<double> y;
  const std::int64_t taps = p.terms() / p.channels;
  for (std::int64_t b = 0; b < p.batches; ++b)
    for (std::int64_t map = 0; map < p.groups * p.maps; ++map)
      for (std::int64_t o = 0; o < p.outputs(); ++o) {
        double sum = 0;
        for (std::int64_t c = 0; c < p.channels; ++c)
          for (std::int64_t t = 0; t < taps; ++t)
            sum += w[static_cast<std::size_t>((map * p.channels + c) * taps + t)] *
                   element_at(p, x, (b * p.groups + map / p.maps) * p.channels + c, o, t);
        y.push_back(sum);
      }
  return y;
}

std::vector<double> convolved(const Patches& p, const Elements& x, const Elements& w) {
  const std::int64_t maps = p.groups * p.maps, outputs = p.outputs();
  std::vector<double> y(static_cast<std::size_t>(p.batches * maps * outputs), std::nan(""));
  convolve(p, x, w,
           [&](std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
               double* sums) {
             std::copy_n(sums, count, y.data() + (batch * maps + map) * outputs + begin);
           });
  return y;
}

TEST(Patches, MatchTheirDefinition) {
  Random random(3);
  for (int round = 0; round < 400; ++round) {
    const Patches p = random_patches(random);
    const auto [x, w] = draw_operands(p, random);
    const std::vector<double> xs(x.begin(), x.end()), ws(w.begin(), w.end());
    const std::vector<double> expected = by_definition(p, xs, ws);
    const std::vector<double> floats = convolved(p, {x.data(), true}, {w.data(), true});
    const std::vector<double> doubles = convolved(p, {xs.data(), false}, {ws.data(), false});
    ASSERT_EQ(floats.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(floats[i], expected[i], 1e-12) << "round " << round << " element " << i;
      ASSERT_EQ(floats[i], doubles[i]) << "round " << round << " element " << i;
    }
    std::vector<Bounded> bounded_x, bounded_w;
    for (double element : xs) bounded_x.push_back({element, 0});
    for (double element : ws) bounded_w.push_back({element, 0});
    const auto bounds = convolve<Bounded>(p, bounded_x.data(), bounded_w.data(), nullptr);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_TRUE(bounds[i].contains(expected[i]));
  }
}

// In one pass, sums and magnitudes have the bits that two passes give them.
TEST(Patches, HaveMagnitudesBesideThem) {
  Random random(6);
  int at_once = 0;
  for (int round = 0; round < 400; ++round) {
    const Patches p = random_patches(random);
    auto [x, w] = draw_operands(p, random);
    const std::int64_t maps = p.groups * p.maps, outputs = p.outputs();
    std::vector<double> sums(static_cast<std::size_t>(p.batches * maps * outputs)), sizes = sums;
    const bool done =
        convolve_with_magnitudes(p, {x.data(), true}, {w.data(), true},
                                 [&](std::int64_t batch, std::int64_t map, std::int64_t begin,
                                     std::int64_t count, const double* sum, const double* size) {
                                   const std::int64_t at = (batch * maps + map) * outputs + begin;
                                   std::copy_n(sum, count, sums.data() + at);
                                   std::copy_n(size, count, sizes.data() + at);
                                 });
    if (!done) continue;
    ++at_once;
    EXPECT_EQ(sums, convolved(p, {x.data(), true}, {w.data(), true})) << "round " << round;
    for (float& element : x) element = std::abs(element);
    for (float& element : w) element = std::abs(element);
    EXPECT_EQ(sizes, convolved(p, {x.data(), true}, {w.data(), true})) << "round " << round;
  }
  EXPECT_GT(at_once, 100);
}

TEST(Patches, DoNotDependOnThreads) {
  Random random(4);
  for (const std::int64_t groups : {1, 8}) {
    Patches p;
    p.batches = 2;
    p.groups = groups;
    p.channels = 8 / groups;
    p.maps = 16 / groups;
    p.axes = {{30, 30, 1, {-1, 0, 1}}, {40, 20, 2, {-1, 0, 1}}};
    const auto [x, w] = draw_operands(p, random);
    set_thread_count(1);
    const auto one = convolved(p, {x.data(), true}, {w.data(), true});
    for (int threads : {2, 3, 7}) {
      set_thread_count(threads);
      EXPECT_EQ(convolved(p, {x.data(), true}, {w.data(), true}), one);
    }
  }
  set_thread_count(0);
}

// Several strips and slivers, rows that fit neither, and one long row.
TEST(Patches, MatchTheirDefinitionInStrips) {
  Random random(5);
  const std::vector<std::vector<PatchAxis>> shapes = {
      {{20, 20, 1, {-1, 0, 1}}, {20, 20, 1, {-1, 0, 1}}},
      {{40, 20, 2, {-1, 0, 1}}, {21, 10, 2, {-1, 0, 1, 2}}},
      {{13, 13, 1, {-2, 0, 2}}, {40, 40, 1, {-2, 0, 2}}},
      {{1000, 990, 1, {0, 3, 7, 9}}},
      {{4000, 1300, 3, {-1, 0, 1, 2, 3}}}};
  for (const std::vector<PatchAxis>& axes : shapes) {
    Patches p;
    p.batches = 2;
    p.channels = 40;
    p.maps = 9;
    p.axes = axes;
    const auto [x, w] = draw_operands(p, random);
    const std::vector<double> expected = by_definition(p, std::vector<double>(x.begin(), x.end()),
                                                       std::vector<double>(w.begin(), w.end()));
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      const std::vector<double> actual = convolved(p, {x.data(), true}, {w.data(), true});
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], 1e-10) << "element " << i;
    }
    set_thread_count(0);
  }
}

TEST(Patches, WithoutTermsAreZero) {
  Patches p;
  p.batches = p.maps = 1;
  p.axes = {{3, 2, 1, {0, 1}}};
  EXPECT_EQ(convolved(p, {nullptr, true}, {nullptr, true}), (std::vector<double>{0, 0}));
  p.channels = 4;
  p.maps = 4;
  p.axes = {{3, 2, 1, {}}};
  EXPECT_EQ(convolved(p, {nullptr, true}, {nullptr, true}), std::vector<double>(8));
}

}  // namespace
}  // namespace assay
