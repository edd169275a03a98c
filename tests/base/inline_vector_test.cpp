#include "base/inline_vector.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Few = InlineVector<std::int64_t, 4>;
using Many = std::vector<std::int64_t>;

// One change of both lists, which are the same, to others that should be.
void change(std::mt19937& random, Few& few, Many& many) {
  const auto draw = [&](std::size_t below) { return random() % below; };
  const auto place = static_cast<std::ptrdiff_t>(draw(many.size() + 1));
  const auto value = static_cast<std::int64_t>(draw(100));
  switch (draw(10)) {
    case 0:
      few.push_back(value);
      return many.push_back(value);
    case 1:
      few.insert(few.begin() + place, value);
      many.insert(many.begin() + place, value);
      return;
    case 2:
      few.insert(few.begin() + place, {value, 1, 2});
      many.insert(many.begin() + place, {value, 1, 2});
      return;
    case 3:
      few.erase(few.begin() + place, few.end());
      many.erase(many.begin() + place, many.end());
      return;
    case 4:
      few.resize(draw(7), value);
      return many.resize(few.size(), value);
    case 5:
      few.insert(few.begin() + place, 2, value);
      many.insert(many.begin() + place, 2, value);
      return;
    case 6:
      if (few.empty()) return;
      few.push_back(few.front());  // an element of its own, which may move
      return many.push_back(many.front());
    case 7:
      erase_if(few, [&](std::int64_t x) { return x < value; });
      std::erase_if(many, [&](std::int64_t x) { return x < value; });
      return;
    case 8:
      few = Few(many);
      return;
    default:
      few.assign(draw(7), value);
      return many.assign(few.size(), value);
  }
}

TEST(InlineVectorTest, IsAVector) {
  std::mt19937 random(7);
  Few few;
  Many many;
  for (int i = 0; i < 20'000; ++i) {
    change(random, few, many);
    ASSERT_EQ(few.empty(), many.empty());
    ASSERT_EQ(Many(few), many);
    ASSERT_TRUE(std::equal(few.rbegin(), few.rend(), many.rbegin(), many.rend()));
    ASSERT_LE(few.size(), few.capacity());
  }
}

TEST(InlineVectorTest, CopiesAreAlikeAndWhatWasMovedIsEmpty) {
  for (std::int64_t n = 0; n < 9; ++n) {
    const Few original(static_cast<std::size_t>(n), n);
    Few copy = original, other = {1, 2, 3, 4, 5};
    EXPECT_EQ(copy, original);
    other = copy;
    EXPECT_EQ(other, original);
    const Few moved = std::move(copy);
    EXPECT_EQ(moved, original);
    EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): this is what is asked
    copy = std::move(other);
    EXPECT_EQ(copy, original);
    copy.push_back(-1);
    EXPECT_NE(copy, original);
    EXPECT_LT(original, Few(copy.begin(), copy.end() - 1) == original ? copy : original);
  }
}

TEST(InlineVectorTest, NeedsNoMemoryWhileItIsShort) {
  Few list = {1, 2, 3, 4};
  const auto* const own = reinterpret_cast<const char*>(&list);
  const auto inside = [&] {
    const auto* const data = reinterpret_cast<const char*>(list.data());
    return data >= own && data < own + sizeof list;
  };
  EXPECT_TRUE(inside());
  list.push_back(5);
  EXPECT_FALSE(inside());
  EXPECT_THROW(list.at(5), std::out_of_range);
}

}  // namespace
}  // namespace assay
