// Tensors side by side, there and back, of every type that can lie so.
#include "backends/tensor_block.h"

#include <gtest/gtest.h>

#include "backends/arena.h"

namespace assay {
namespace {

NamedValues values_of(ElementType type) {
  const std::vector<double> numbers = {0, 1, 1, 0, 1};
  return {{"first", make_tensor(type, {5}, numbers)},
          {"none", Tensor(type, {0, 3})},
          {"last", make_tensor(type, {}, std::vector<double>{1})}};
}

TEST(TensorBlock, EveryTypeComesBackAsItWas) {
  Result<Arena> arena = Arena::make();
  ASSERT_TRUE(arena);
  for (int number = 1; number < kElementTypeCount; ++number) {
    const auto type = static_cast<ElementType>(number);
    if (type == ElementType::string || domain_of(type) == Domain::complex) continue;
    const std::vector<NamedValues> feeds(3, values_of(type));
    const std::optional<TensorBlock> block = TensorBlock::of(feeds.front());
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size(), 128U);  // two tensors that are not empty
    const BlockSource source(*block, feeds);
    ASSERT_TRUE(arena->write(64, source.bytes().parts()));
    BlockTarget target(*block, feeds.size());
    ASSERT_TRUE(arena->read(64, target.bytes().parts()));
    const auto back = target.take();
    ASSERT_TRUE(back && back->size() == feeds.size());
    for (const NamedValues& one : *back) {
      ASSERT_TRUE(block->fits(one));
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_TRUE(identical(one[i].second.tensor(), feeds.front()[i].second.tensor())) << number;
      }
    }
  }
}

TEST(TensorBlock, TheSameBytesInOnePiece) {
  const std::vector<NamedValues> feeds(2, values_of(ElementType::f32));
  const std::optional<TensorBlock> block = TensorBlock::of(feeds.front());
  std::string bytes;
  const BlockSource source(*block, feeds);
  source.bytes().copy_to(bytes);
  EXPECT_EQ(bytes.size(), 2 * block->size());
  BlockTarget target(*block, 2);
  EXPECT_FALSE(target.bytes().copy_from(bytes.substr(1)));
  ASSERT_TRUE(target.bytes().copy_from(bytes));
  EXPECT_TRUE(identical(target.take()->back()[2].second.tensor(), feeds[0][2].second.tensor()));
}

TEST(TensorBlock, OthersDoNotFit) {
  const std::optional<TensorBlock> block = TensorBlock::of(values_of(ElementType::f32));
  EXPECT_FALSE(block->fits(values_of(ElementType::f64)));
  NamedValues other = values_of(ElementType::f32);
  other[0].first = "second";
  EXPECT_FALSE(block->fits(other));
  other = values_of(ElementType::f32);
  other[0].second = Tensor(ElementType::f32, {6});
  EXPECT_FALSE(block->fits(other));
  other.pop_back();
  EXPECT_FALSE(block->fits(other));
  EXPECT_FALSE(TensorBlock::of({{"text", make_strings({1}, {"a"})}}));
  EXPECT_FALSE(TensorBlock::of({{"row", Value::sequence(ValueType{}, {})}}));
}

TEST(TensorBlock, AnArenaThatIsCutIsNoAnswer) {
  Result<Arena> arena = Arena::make();
  ASSERT_TRUE(arena);
  const std::optional<TensorBlock> block = TensorBlock::of(values_of(ElementType::f32));
  BlockTarget target(*block, 1);
  EXPECT_FALSE(arena->read(0, target.bytes().parts()));
}

}  // namespace
}  // namespace assay
