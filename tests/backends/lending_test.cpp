// Tensors that are read where another process has written them.
#include "backends/lending.h"

#include <cstdlib>
#include <numeric>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr std::int64_t kMany = 1 << 16;  // elements, far more than are copied

std::vector<float> numbers_from(float first, std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// What a worker does with an answer; returns where it ends.
std::uint64_t write_at(const Lending& lending, std::uint64_t start, float first,
                       std::int64_t count) {
  const std::vector<float> numbers = numbers_from(first, count);
  const std::size_t bytes = numbers.size() * sizeof(float);
  EXPECT_EQ(pwrite(lending.arena().descriptor(), numbers.data(), bytes, static_cast<off_t>(start)),
            static_cast<ssize_t>(bytes));
  return start + bytes;
}

Tensor answer_of(Lending& lending, float first, std::int64_t count) {
  const std::uint64_t start = lending.next_start();
  lending.answered(write_at(lending, start, first, count));
  const std::optional<Tensor> lent = lending.lend(ElementType::f32, {count}, start);
  EXPECT_TRUE(lent);
  return lent.value_or(Tensor());
}

bool holds(const Tensor& tensor, float first) {
  const std::vector<float> expected = numbers_from(first, tensor.size());
  return std::ranges::equal(tensor.data<float>(), expected);
}

TEST(Lending, WhatIsHeldStaysAsItIs) {
  Result<Lending> lending = Lending::make();
  ASSERT_TRUE(lending);
  const Tensor first = answer_of(*lending, 0, kMany);
  const Tensor second = answer_of(*lending, 7, kMany);
  const Tensor third = answer_of(*lending, 9, 2 * kMany);
  EXPECT_TRUE(holds(first, 0));
  EXPECT_TRUE(holds(second, 7));
  EXPECT_TRUE(holds(third, 9));
}

TEST(Lending, TheFirstPlaceIsTakenAgainOnceAllIsLetGo) {
  Result<Lending> lending = Lending::make();
  ASSERT_TRUE(lending);
  {
    const Tensor first = answer_of(*lending, 0, kMany);
    EXPECT_GT(lending->next_start(), 0U);
  }
  EXPECT_EQ(lending->next_start(), 0U);
  EXPECT_TRUE(holds(answer_of(*lending, 5, kMany), 5));
}

TEST(Lending, FewNumbersAreCopied) {
  Result<Lending> lending = Lending::make();
  ASSERT_TRUE(lending);
  const Tensor few = answer_of(*lending, 1, 16);
  EXPECT_EQ(lending->next_start(), 0U);
  write_at(*lending, 0, 100, 16);
  EXPECT_TRUE(holds(few, 1));
}

TEST(Lending, TensorsOutliveTheLender) {
  Tensor kept;
  {
    Result<Lending> lending = Lending::make();
    ASSERT_TRUE(lending);
    kept = answer_of(*lending, 3, kMany);
  }
  EXPECT_TRUE(holds(kept, 3));
}

TEST(Lending, NobodyCanCutIt) {
  Result<Lending> lending = Lending::make();
  ASSERT_TRUE(lending);
  const Tensor lent = answer_of(*lending, 0, kMany);
  ASSERT_TRUE(lending->arena().lasting());
  EXPECT_NE(ftruncate(lending->arena().descriptor(), 0), 0);
  EXPECT_TRUE(holds(lent, 0));
}

TEST(Lending, WhatLiesOutsideOfTheAnswerIsNone) {
  Result<Lending> lending = Lending::make();
  ASSERT_TRUE(lending);
  const Tensor held = answer_of(*lending, 0, kMany);
  const std::uint64_t start = lending->next_start(), end = write_at(*lending, start, 0, kMany);
  lending->answered(end);
  EXPECT_FALSE(lending->lend(ElementType::f32, {kMany}, 0));  // somebody else's
  EXPECT_FALSE(lending->lend(ElementType::f32, {kMany + 1}, start));
  EXPECT_FALSE(lending->lend(ElementType::f32, {kMany}, ~std::uint64_t{0} - 63));
  lending->answered(~std::uint64_t{0});  // a worker may say anything
  EXPECT_FALSE(lending->lend(ElementType::f32, {kMany + 1}, start));
  EXPECT_TRUE(lending->lend(ElementType::f32, {kMany}, start));
}

TEST(Lending, AFolderThatWasAskedForIsUsedAndCopiedFrom) {
  setenv("ASSAY_SHARED_MEMORY", testing::TempDir().c_str(), 1);
  Result<Lending> lending = Lending::make();
  unsetenv("ASSAY_SHARED_MEMORY");
  if (!lending) {  // a file system without nameless files
    EXPECT_EQ(lending.error().kind, "environment");
    return;
  }
  EXPECT_FALSE(lending->arena().lasting());
  const Tensor copied = answer_of(*lending, 2, kMany);
  EXPECT_EQ(lending->next_start(), 0U);
  EXPECT_TRUE(holds(copied, 2));
}

}  // namespace
}  // namespace assay
