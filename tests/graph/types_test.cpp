// Dimensions, types and their texts.
#include "graph/types.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

const Dim kBatch = Dim::named("batch");

TEST(Dim, IsSameOnlyIfCertain) {
  EXPECT_TRUE(Dim(3).same_as(3));
  EXPECT_FALSE(Dim(3).same_as(4));
  EXPECT_TRUE(kBatch.same_as(Dim::named("batch")));
  EXPECT_FALSE(kBatch.same_as(Dim::named("time")));
  EXPECT_FALSE(Dim().same_as(Dim()));
  EXPECT_FALSE(kBatch.same_as(3));
}

TEST(Dim, DiffersOnlyIfCertain) {
  EXPECT_TRUE(Dim(3).differs_from(4));
  EXPECT_FALSE(Dim(3).differs_from(3));
  EXPECT_FALSE(kBatch.differs_from(Dim::named("time")));
  EXPECT_FALSE(Dim().differs_from(3));
}

TEST(Dim, IsWrittenOnOneLine) {
  EXPECT_EQ(to_text(Dims{kBatch, Dim(3), Dim()}), "[batch,3,?]");
  EXPECT_EQ(to_text(Dims{Dim::named("a\nb")}), "[a\\x0ab]");
}

TEST(Dim, ArithmeticKeepsWhatIsKnown) {
  EXPECT_EQ((Dim(2) + 3).value, 5);
  EXPECT_EQ((Dim(7) - 3).value, 4);
  EXPECT_EQ((Dim(7) * 3).value, 21);
  EXPECT_EQ((kBatch + 0).symbol.text(), "batch");
  EXPECT_EQ((Dim(1) * kBatch).symbol.text(), "batch");
  EXPECT_EQ((kBatch - kBatch).value, 0);
  EXPECT_EQ((Dim() * 0).value, 0);
}

TEST(Dim, ArithmeticGivesUpRatherThanGuess) {
  const auto nothing = [](const Dim& dim) { return !dim.known() && dim.symbol.empty(); };
  EXPECT_TRUE(nothing(kBatch + 1));
  EXPECT_TRUE(nothing(kBatch * Dim::named("time")));
  EXPECT_TRUE(nothing(kBatch * (std::int64_t{1} << 50)));
  EXPECT_TRUE(nothing(Dim(3) - 4));
  EXPECT_TRUE(nothing(Dim() - Dim()));
  const Dim huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(nothing(huge + 1));
  EXPECT_TRUE(nothing(huge * 2));
}

TEST(Dim, MultiplesAreTheSameHoweverTheyCameAbout) {
  const Dim pixels = kBatch * 7 * 7;
  EXPECT_EQ(to_text(Dims{pixels}), "[49*batch]");
  EXPECT_TRUE(pixels.same_as(Dim(49) * kBatch));
  EXPECT_FALSE(pixels.same_as(kBatch));
  EXPECT_FALSE(pixels.same_as(Dim::named("time") * 49));
  EXPECT_EQ(pixels.symbol.factor(), 49);
  EXPECT_TRUE(pixels.symbol.base() == kBatch.symbol);
  EXPECT_EQ((pixels - pixels).value, 0);
  // A file may have such a name, which is no multiple.
  EXPECT_FALSE(pixels.same_as(Dim::named("49*batch")));
}

TEST(Dims, ConvertToAShapeOnlyIfAllAreKnown) {
  EXPECT_EQ(to_shape(to_dims({2, 0, 3})), Shape({2, 0, 3}));
  EXPECT_EQ(to_shape({2, kBatch}), std::nullopt);
}

TEST(ValueType, PrintsAsCaseFilesAndAsTheStandardDo) {
  const ValueType image = ValueType::tensor(ElementType::f32, {kBatch, 3, Dim()});
  EXPECT_EQ(to_text(image), "f32[batch,3,?]");
  EXPECT_EQ(standard_name(image), "tensor(float)");
  EXPECT_EQ(to_text(ValueType::tensor(ElementType::i64, {})), "i64[]");
  const ValueType list = ValueType::sequence(ValueType::tensor(ElementType::i64));
  EXPECT_EQ(to_text(list), "seq(i64)");
  EXPECT_EQ(standard_name(ValueType::optional(list)), "optional(seq(tensor(int64)))");
  const ValueType map = ValueType::map(ElementType::string, ValueType::tensor(ElementType::f32));
  EXPECT_EQ(to_text(map), "map(string,f32)");
  EXPECT_EQ(standard_name(map), "map(string, float)");
  EXPECT_EQ(to_text(ValueType()), "?");
}

}  // namespace
}  // namespace assay
