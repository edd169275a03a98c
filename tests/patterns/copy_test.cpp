// Copies of regions, against the plain loop over all indices.
#include "patterns/copy.h"

#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace assay {
namespace {

// Element by element, as the contract of Region says.
void copy_plainly(const Region& region, const std::vector<int>& from, std::vector<int>& to) {
  std::vector<std::int64_t> index(region.extents.size());
  if (element_count(region.extents) == 0) return;
  while (true) {
    std::int64_t source = region.from, target = region.to;
    for (std::size_t d = 0; d < index.size(); ++d) {
      source += index[d] * region.from_strides[d];
      target += index[d] * region.to_strides[d];
    }
    to[static_cast<std::size_t>(target)] = from[static_cast<std::size_t>(source)];
    std::size_t d = index.size();
    while (d > 0 && ++index[d - 1] == region.extents[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// A box in a random order of axes, some of them reversed, some repeated from one element.
Region random_region(std::mt19937& random, std::int64_t most, std::int64_t* input_size) {
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Region region;
  const auto rank = static_cast<std::size_t>(draw(0, 4));
  for (std::size_t d = 0; d < rank; ++d)
    region.extents.push_back(draw(draw(0, 9) == 0 ? 0 : 1, most));
  region.to_strides = strides_of(region.extents);
  std::vector<std::size_t> order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), random);
  region.from_strides.resize(rank);
  std::int64_t stride = 1;
  for (std::size_t d : order) {
    const std::int64_t kind = draw(0, 9);
    region.from_strides[d] = kind == 0 ? 0 : kind == 1 ? -stride : stride;
    if (kind == 1) region.from += stride * std::max<std::int64_t>(region.extents[d] - 1, 0);
    if (kind != 0) stride *= std::max<std::int64_t>(region.extents[d], 1);
  }
  *input_size = stride;
  return region;
}

void expect_same(std::int64_t most, int rounds) {
  std::mt19937 random(5);
  for (int round = 0; round < rounds; ++round) {
    std::int64_t size = 0;
    const Region region = random_region(random, most, &size);
    std::vector<int> from(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int>(i) + 1;
    std::vector<int> expected(static_cast<std::size_t>(element_count(region.extents)));
    std::vector<int> found = expected;
    copy_plainly(region, from, expected);
    copy_region(simplified(region), from.data(), found.data());
    ASSERT_EQ(found, expected) << "round " << round << ", extents " << to_text(region.extents);
  }
}

TEST(Copy, SmallRegions) { expect_same(7, 2000); }
TEST(Copy, RegionsOfManyTiles) { expect_same(40, 60); }

TEST(Copy, NeighbouringAxesMerge) {
  const Region region{0, {2, 1, 3, 4}, 0, 0, {12, 7, 4, 1}, {12, 9, 4, 1}};
  EXPECT_EQ(simplified(region).extents, (Shape{24}));
  const Region turned{0, {4, 3, 2}, 0, 0, {1, 8, 4}, {6, 2, 1}};
  EXPECT_EQ(simplified(turned).extents, (Shape{4, 6}));
}

TEST(Copy, TurnedAxesAreWalkedInTiles) {
  const Region turned{0, {30, 20}, 0, 0, {1, 30}, {20, 1}};
  const copy_detail::Walk walk = copy_detail::plan_walk(turned);
  EXPECT_EQ(walk.rows.extent, 30);
  EXPECT_EQ(walk.columns.extent, 20);
  EXPECT_TRUE(walk.outer.empty());
}

}  // namespace
}  // namespace assay
