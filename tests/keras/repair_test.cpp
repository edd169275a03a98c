// Repair of models of layers: what is changed is little, and the result is valid.
#include "validate/repair.h"

#include <gtest/gtest.h>

#include "keras/one_layer.h"
#include "validate/validate.h"

namespace assay {
namespace {

struct Broken {
  const char *layer, *config;
  std::vector<std::string> shapes;
  const char *weights, *change;
};

class Repairs : public testing::TestWithParam<Broken> {};

TEST_P(Repairs, AreTheSmallestThatServe) {
  const Broken& broken = GetParam();
  const Result<LayerCase> one =
      one_layer(broken.layer, broken.config, broken.shapes, broken.weights);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_FALSE(validate(one->model).valid());
  const std::optional<Repair> found = repair(one->model);
  ASSERT_TRUE(found);
  EXPECT_TRUE(validate(found->model).valid());
  ASSERT_EQ(found->changes.size(), 1U);
  EXPECT_EQ(found->changes.front().layer, "one");
  EXPECT_EQ(found->changes.front().what, broken.change);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Repairs,
    testing::Values(
        Broken{"MaxPooling1D", R"({"pool_size":5})", {"[4,3]"}, "", "pool_size: 4 in place of 5"},
        Broken{"Cropping1D",
               R"({"cropping":[2,2]})",
               {"[4,3]"},
               "",
               "cropping: [1,2] in place of [2,2]"},
        Broken{"Concatenate", R"({"axis":5})", {"[4,3]", "[4,3]"}, "", "axis: 2 in place of 5"},
        Broken{"Dot", R"({"axes":[1,2]})", {"[4,3]", "[4,3]"}, "", "axes: [1,1] in place of [1,2]"},
        Broken{
            "Reshape", R"({"target_shape":[5]})", {"[4,3]"}, "", "target_shape: -1 in place of 5"},
        Broken{"GlobalMaxPooling2D", "{}", {"[4,3]"}, "", "Reshape [4,1,3] in front"},
        Broken{"Flatten", R"({"colour":"red"})", {"[4,3]"}, "", "without colour"},
        Broken{"Subtract", "{}", {"[2,3]", "[3,3]"}, "", "ZeroPadding1D [0,1] between in0 and it"},
        Broken{
            "Dense", R"({"units":2})", {"[3]"}, "[[[1,2],[3,4]],[0,0]]", "kernel of shape [3,2]"}));

TEST(Repairs, KeepWhatAWeightHas) {
  const Result<LayerCase> one =
      one_layer("Dense", R"({"units":2})", {"[3]"}, "[[[1,2],[3,4]],[5,6]]");
  ASSERT_TRUE(one);
  const std::optional<Repair> found = repair(one->model);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model.graph.initializers.front().tensor.reals(),
            (std::vector<double>{1, 2, 3, 4, 0, 0}));
}

TEST(Repairs, AreNoneForAModelThatNobodyUnderstands) {
  const Result<LayerCase> one = one_layer("Lambda", "{}", {"[3]"});
  ASSERT_TRUE(one);
  EXPECT_FALSE(repair(one->model));
}

}  // namespace
}  // namespace assay
