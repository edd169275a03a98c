// Shapes that a graph computes for itself: what is inferred behind Shape, Gather, Slice, Concat and
// Reshape while extents have only names.
#include <gtest/gtest.h>

#include "semantics/infer_types.h"

namespace assay {
namespace {

// A model of one input x of shape [batch,3,height,8] and nodes to be added.
class Chain {
 public:
  Chain() {
    model_.opsets[""] = 21;
    model_.graph.inputs.push_back(
        {"x",
         ValueType::tensor(ElementType::f32, {Dim::named("batch"), 3, Dim::named("height"), 8}),
         {},
         {}});
  }
  Chain& add(std::string op, std::vector<std::string> inputs, std::string output,
             std::vector<Attribute> attributes = {}) {
    Node node;
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    node.attributes = std::move(attributes);
    model_.graph.nodes.push_back(std::move(node));
    return *this;
  }
  Chain& constant(std::string name, std::vector<std::int64_t> values) {
    model_.graph.initializers.push_back({std::move(name), make_vector(values), {}, {}});
    return *this;
  }
  // "f32[batch,?]" of a value, or the first rule that is broken.
  std::string type_of(const std::string& name) const {
    const ModelTypes types = infer_types(model_);
    for (const NodeRemarks& remark : types.remarks)
      if (!remark.violations.empty()) return remark.violations.front().rule;
    for (const NamedValueType& value : types.values)
      if (value.name == name) return to_text(value.known->type);
    return "nothing";
  }

 private:
  Model model_;
};

TEST(ShapeChains, GatheredExtentBesideAnInferredOne) {
  Chain c;
  c.constant("0", {0}).constant("-1", {-1});
  c.add("Shape", {"x"}, "shape");
  c.add("Gather", {"shape", "0"}, "batch");
  c.add("Concat", {"batch", "-1"}, "target", {attribute("axis", 0)});
  c.add("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(c.type_of("y"), "f32[batch,24*height]");
}

// As a product of a matrix with a tensor of more axes is made: the leading ones as one, and back.
TEST(ShapeChains, AProductOfExtents) {
  Chain c;
  c.constant("02", {0, 1, 3}).constant("height", {2}).constant("-1", {-1});
  c.add("Shape", {"x"}, "shape");
  c.add("Gather", {"shape", "02"}, "some");
  c.add("Gather", {"shape", "height"}, "other");
  c.add("ReduceProd", {"some"}, "product", {attribute("keepdims", 1)});
  c.add("Concat", {"product", "other"}, "target", {attribute("axis", 0)});
  c.add("Transpose", {"x"}, "moved", {attribute("perm", std::vector<std::int64_t>{0, 1, 3, 2})});
  c.add("Reshape", {"moved", "target"}, "flat");
  c.add("Shape", {"moved"}, "back");
  c.add("Reshape", {"flat", "back"}, "y");
  EXPECT_EQ(c.type_of("flat"), "f32[24*batch,height]");
  EXPECT_EQ(c.type_of("y"), "f32[batch,3,8,height]");
}

TEST(ShapeChains, TheRestIsInferredWhereNamesCancel) {
  Chain c;
  c.constant("0", {0}).constant("2", {2}).constant("-1", {-1});
  c.add("Shape", {"x"}, "shape");
  c.add("Gather", {"shape", "0"}, "batch");
  c.add("Gather", {"shape", "2"}, "height");
  c.add("Concat", {"batch", "height", "-1"}, "target", {attribute("axis", 0)});
  c.add("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(c.type_of("y"), "f32[batch,height,24]");
}

TEST(ShapeChains, SlicedShape) {
  Chain c;
  c.constant("0", {0}).constant("1", {1}).constant("2", {2}).constant("24", {24});
  c.add("Shape", {"x"}, "shape");
  c.add("Slice", {"shape", "0", "1"}, "batch");
  c.add("Slice", {"shape", "2", "-1"}, "height").constant("-1", {-1});
  c.add("Concat", {"height", "batch", "24"}, "target", {attribute("axis", 0)});
  c.add("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(c.type_of("y"), "f32[height,batch,24]");
}

TEST(ShapeChains, ScalarsThroughUnsqueezeAndSqueeze) {
  Chain c;
  c.constant("0", {0});
  c.add("Shape", {"x"}, "shape", {attribute("start", 2), attribute("end", 3)});
  c.add("Squeeze", {"shape", "0"}, "scalar");
  c.add("Unsqueeze", {"scalar", "0"}, "again");
  c.add("ConstantOfShape", {"again"}, "y");
  c.add("Expand", {"y", "again"}, "z");
  EXPECT_EQ(c.type_of("y"), "f32[height]");
  EXPECT_EQ(c.type_of("z"), "f32[height]");
}

TEST(ShapeChains, ZeroKeepsAnExtent) {
  Chain c;
  c.constant("target", {0, 0, -1});
  c.add("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(c.type_of("y"), "f32[batch,3,8*height]");
  Chain d;
  d.constant("target", {0, -1, 0, 2});
  d.add("Reshape", {"x", "target"}, "y");
  EXPECT_EQ(d.type_of("y"), "f32[batch,12,height,2]");
}

TEST(ShapeChains, CountingUpToAnExtent) {
  Chain c;
  c.constant("2", {2}).constant("0", {0}).constant("one", {1}).constant("none", {});
  c.add("Shape", {"x"}, "shape");
  c.add("Gather", {"shape", "2"}, "height");
  c.add("Reshape", {"height", "none"}, "limit").add("Reshape", {"0", "none"}, "start");
  c.add("Reshape", {"one", "none"}, "delta");
  c.add("Range", {"start", "limit", "delta"}, "y");
  EXPECT_EQ(c.type_of("y"), "i64[height]");
}

TEST(ShapeChains, RanksSurviveUnknownPlaces) {
  Chain c;
  c.constant("0", {0}).constant("axes", {1, 3});
  c.add("Shape", {"x"}, "shape");
  c.add("Gather", {"shape", "0"}, "end");
  c.add("Slice", {"x", "0", "end"}, "y");
  c.add("Squeeze", {"x"}, "z");
  EXPECT_EQ(c.type_of("y"), "f32[?,3,height,8]");
  EXPECT_EQ(c.type_of("z"), "f32");
}

TEST(ShapeChains, AbsurdNumbersAreRefused) {
  for (const std::vector<std::int64_t>& target :
       {std::vector<std::int64_t>{0, -5}, {-1, -1}, {0, 0, 0, 0, 0}}) {
    Chain c;
    c.constant("target", target);
    c.add("Reshape", {"x", "target"}, "y");
    EXPECT_TRUE(c.type_of("y").starts_with("Reshape.")) << c.type_of("y");
  }
  Chain c;
  c.constant("target", {std::int64_t{1} << 62, 16});
  c.add("ConstantOfShape", {"target"}, "y");
  EXPECT_EQ(c.type_of("y"), "ConstantOfShape.size");
  Chain d;
  d.constant("target", {std::int64_t{1} << 62, 3, 1, 8});
  d.add("Expand", {"x", "target"}, "y");
  EXPECT_NE(d.type_of("y"), "nothing");
}

}  // namespace
}  // namespace assay
