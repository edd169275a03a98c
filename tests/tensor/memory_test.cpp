// The count of live bytes, its limit, and the cost of an allocation.
#include "tensor/memory.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/buffer.h"
#include "tensor/large_blocks.h"
#include "tensor/tensor.h"

namespace assay {
namespace {

class MemoryLimit : public ::testing::Test {
 protected:
  ~MemoryLimit() override { set_memory_limit(std::numeric_limits<std::size_t>::max()); }
};

TEST_F(MemoryLimit, LiveBytesFollowTensors) {
  const std::size_t before = live_tensor_bytes();
  {
    const Tensor a(ElementType::f64, {100});
    EXPECT_EQ(live_tensor_bytes(), before + 800);
    const Tensor b = a.reshaped({10, 10});
    EXPECT_EQ(live_tensor_bytes(), before + 800);
    const Tensor texts(ElementType::string, {2});
    EXPECT_EQ(live_tensor_bytes(), before + 800 + 2 * sizeof(std::string));
    const Tensor large = Tensor::uninitialized(ElementType::u8, {5 << 20});
    EXPECT_EQ(live_tensor_bytes(), before + 800 + 2 * sizeof(std::string) + (5 << 20));
  }
  EXPECT_EQ(live_tensor_bytes(), before);
}

TEST_F(MemoryLimit, IsExactAndLeavesNoTrace) {
  const std::size_t before = live_tensor_bytes();
  set_memory_limit(before + 1000);
  EXPECT_EQ(memory_limit(), before + 1000);
  const Tensor fits(ElementType::u8, {1000});
  EXPECT_THROW(Tensor(ElementType::u8, {1}), MemoryLimitError);
  EXPECT_THROW(Tensor::uninitialized(ElementType::u8, {1}), MemoryLimitError);
  EXPECT_THROW(Tensor(ElementType::string, {1}), MemoryLimitError);
  EXPECT_NO_THROW(Tensor(ElementType::u8, {0}));
  EXPECT_EQ(live_tensor_bytes(), before + 1000);
}

TEST_F(MemoryLimit, MessageNamesWhatWasAskedAndTheLimit) {
  set_memory_limit(4321);
  try {
    const Tensor tensor(ElementType::f32, {12345});
    FAIL() << "no limit held";
  } catch (const MemoryLimitError& error) {
    EXPECT_NE(std::string(error.what()).find("49380"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("4321"), std::string::npos) << error.what();
  }
}

TEST_F(MemoryLimit, AbsurdShapesAreALimitNotADefect) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  const std::size_t before = live_tensor_bytes();
  EXPECT_THROW(Tensor(ElementType::f32, {kHuge, kHuge}), MemoryLimitError);
  EXPECT_THROW(Tensor(ElementType::c128, {kHuge, 1 << 22}), MemoryLimitError);
  EXPECT_THROW(Tensor(ElementType::u8, {std::numeric_limits<std::int64_t>::max()}),
               MemoryLimitError);
  EXPECT_THROW(Tensor(ElementType::string, {std::numeric_limits<std::int64_t>::max()}),
               MemoryLimitError);
  EXPECT_EQ(live_tensor_bytes(), before);
}

TEST_F(MemoryLimit, ReusedMemoryIsZeroedWhenZerosAreAsked) {
  for (const std::int64_t size : {100, 3 << 20}) {
    for (int round = 0; round < 3; ++round) {
      Tensor dirty = Tensor::uninitialized(ElementType::u8, {size});
      std::ranges::fill(dirty.mutate<std::uint8_t>(), std::uint8_t{0xAB});
      dirty = Tensor();
      const Tensor clean(ElementType::u8, {size});
      for (const std::uint8_t byte : clean.data<std::uint8_t>()) ASSERT_EQ(byte, 0);
    }
  }
}

TEST(LargeBlocks, AreReusedForSizesAlike) {
  drop_kept_blocks();
  constexpr std::size_t kSize = (std::size_t{5} << 20) - 100;
  void* first = take_large_block(kSize, true);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(static_cast<char*>(first)[kSize - 1], 0);
  static_cast<char*>(first)[kSize - 1] = 1;
  give_back_large_block(first, kSize);
  EXPECT_GE(kept_bytes(), kSize);
  void* other = take_large_block(3 * kSize, false);
  EXPECT_NE(other, first);
  void* again = take_large_block(kSize - 1000, false);
  EXPECT_EQ(again, first);
  EXPECT_EQ(kept_bytes(), 0u);
  give_back_large_block(again, kSize - 1000);
  give_back_large_block(other, 3 * kSize);
  drop_kept_blocks();
  EXPECT_EQ(kept_bytes(), 0u);
}

TEST(LargeBlocks, ServeUpToHalfOfTheirSizeAndStayWhole) {
  drop_kept_blocks();
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  void* large = take_large_block(8 * kMiB, false);
  void* small = take_large_block(5 * kMiB, false);
  give_back_large_block(small, 5 * kMiB);
  give_back_large_block(large, 8 * kMiB);
  EXPECT_EQ(take_large_block(3 * kMiB, false), small) << "the smallest that is large enough";
  void* half = take_large_block(4 * kMiB, false);
  EXPECT_EQ(half, large);
  static_cast<char*>(half)[4 * kMiB - 1] = 1;
  give_back_large_block(half, 4 * kMiB);
  EXPECT_EQ(kept_bytes(), 8 * kMiB);
  void* other = take_large_block(3 * kMiB, false);
  EXPECT_NE(other, large) << "more than twice as large";
  EXPECT_EQ(take_large_block(8 * kMiB, false), large) << "the whole of it is there again";
  give_back_large_block(other, 3 * kMiB);
  give_back_large_block(large, 8 * kMiB);
  give_back_large_block(small, 3 * kMiB);
  drop_kept_blocks();
  EXPECT_EQ(kept_bytes(), 0u);
}

TEST(LargeBlocks, KeepABoundedAmount) {
  drop_kept_blocks();
  std::vector<void*> blocks;
  constexpr std::size_t kSize = std::size_t{1} << 18, kMost = 256;
  blocks.reserve(2 * kMost);
  for (std::size_t i = 0; i < 2 * kMost; ++i) blocks.push_back(take_large_block(kSize, false));
  for (void* block : blocks) give_back_large_block(block, kSize);
  EXPECT_EQ(kept_bytes(), kMost * kSize);
  give_back_large_block(take_large_block(std::size_t{1} << 30, false), std::size_t{1} << 30);
  EXPECT_EQ(kept_bytes(), kMost * kSize);
  give_back_large_block(take_large_block(std::size_t{240} << 20, false), std::size_t{240} << 20);
  EXPECT_LE(kept_bytes(), std::size_t{256} << 20);
  EXPECT_GE(kept_bytes(), std::size_t{240} << 20);
  drop_kept_blocks();
}

TEST(Buffer, TakesWhatALargeOneGaveBackAndWritesOnlyWhatIsAsked) {
  drop_kept_blocks();
  const std::size_t before = live_tensor_bytes();
  const double* first = nullptr;
  {
    Buffer<double> own(1 << 20, 7.0);
    first = own.data();
    EXPECT_EQ(own.back(), 7.0);
    EXPECT_EQ(live_tensor_bytes(), before) << "it does not count";
  }
  const bool kept = kept_bytes() > 0;  // not where a sanitizer watches
  Buffer<double> other;
  other.resize((1 << 20) - 10);
  if (kept) {
    EXPECT_EQ(other.data(), first);
  }
  other.assign({1, 2});
  EXPECT_EQ(Buffer<double>(other), (Buffer<double>{1, 2}));
}

TEST(Block, ElementsShareTheAllocationOfTheirOwner) {
  // One allocation: the elements begin right behind the control block.
  const Block block = allocate_block(4, Fill::zeros);
  const auto distance = static_cast<const char*>(block.data) -
                        static_cast<const char*>(static_cast<const void*>(block.owner.get()));
  EXPECT_GE(distance, 0);
  EXPECT_LT(distance, 64);
}

}  // namespace
}  // namespace assay
