// Each check on a model that fails and on one that does not.
#include "numeric/linted.h"

namespace assay {
namespace {

const LintNode* found(const LintResult& result, const std::string& value) {
  for (const LintNode& one : result.nodes)
    if (one.name == "make_" + value && one.verdict != LintVerdict::safe) return &one;
  return nullptr;
}

std::string check_of(const LintResult& result, const std::string& value) {
  const LintNode* node = found(result, value);
  return node ? node->check : "";
}

NamedType typed(std::string name, ElementType type, Dims dims) {
  return {std::move(name), ValueType::tensor(type, std::move(dims)), {}, {}};
}

Model cast(ElementType from, ElementType to) {
  return model({node("Cast", {"x"}, {"y"}, {attribute("to", static_cast<int>(to))})},
               {typed("x", from, {4})}, {untyped("y")});
}

TEST(Checks, CastsThatOverflow) {
  const Model narrow = cast(ElementType::f32, ElementType::i8);
  EXPECT_EQ(check_of(run(narrow, inputs({{"x", {0, 128}}})), "y"), "lint.cast");
  EXPECT_EQ(run(narrow, inputs({{"x", {-128.5, 127.5}}})).warnings, 0);
  EXPECT_EQ(run(narrow).warnings, 0) << "nothing is known but the type";
  const Model half = cast(ElementType::f32, ElementType::f16);
  EXPECT_EQ(check_of(run(half, inputs({{"x", {0, 70000}}})), "y"), "lint.cast");
  EXPECT_EQ(run(half, inputs({{"x", {0, 65000}}})).warnings, 0);
  const Model integers = cast(ElementType::i64, ElementType::i32);
  EXPECT_EQ(check_of(run(integers, inputs({{"x", {0, 3e9}}})), "y"), "lint.cast");
}

TEST(Checks, IntegersThatWrap) {
  const auto combined = [](const char* op) {
    return model({node(op, {"a", "b"}, {"y"})},
                 {typed("a", ElementType::i32, {4}), typed("b", ElementType::i32, {4})},
                 {untyped("y")});
  };
  const Ranges large = inputs({{"a", {0, 65536}}, {"b", {0, 65536}}});
  EXPECT_EQ(check_of(run(combined("Mul"), large), "y"), "lint.integers");
  EXPECT_EQ(run(combined("Add"), large).warnings, 0);
  const Ranges lowest = inputs({{"a", {-2147483648.0, 0}}, {"b", {-1, -1}}});
  EXPECT_EQ(check_of(run(combined("Div"), lowest), "y"), "lint.integers");
  const Ranges through_zero = inputs({{"a", {0, 5}}, {"b", {-1, 1}}});
  EXPECT_EQ(check_of(run(combined("Div"), through_zero), "y"), "lint.divide");
}

// Extents that the model leaves open are counted, but nobody gave them.
TEST(Checks, CountsOfOpenExtentsDoNotWrap) {
  const Model counted =
      model({node("Shape", {"x"}, {"s"}),
             node("Cast", {"s"}, {"t"}, {attribute("to", static_cast<int>(ElementType::i32))}),
             node("ReduceProd", {"t"}, {"y"})},
            {f32("x", {Dim::named("a"), Dim::named("b"), Dim::named("c")})}, {untyped("y")});
  EXPECT_EQ(run(counted).warnings, 0);
}

TEST(Checks, IndicesOutOfRange) {
  const Model gather = model({node("Gather", {"table", "i"}, {"y"})}, {i64("i", {Dim(), 3})},
                             {untyped("y")}, {reals("table", {1, 2, 3, 4})});
  EXPECT_EQ(check_of(run(gather, inputs({{"i", {0, 4}}})), "y"), "lint.index");
  EXPECT_EQ(run(gather, inputs({{"i", {-4, 3}}})).warnings, 0);
  EXPECT_EQ(run(gather).warnings, 0) << "nothing is known but the type";
}

TEST(Checks, ReductionsOfNothing) {
  const auto of_chosen = [](const char* op) {
    return model({node("NonZero", {"m"}, {"places"}), node("Transpose", {"places"}, {"rows"}),
                  node("GatherND", {"x", "rows"}, {"chosen"}), node(op, {"chosen"}, {"y"})},
                 {f32("x", {6}), f32("m", {6})}, {untyped("y")});
  };
  const Ranges given = inputs({{"x", {0, 1}}});
  EXPECT_EQ(check_of(run(of_chosen("ReduceMean"), given), "y"), "lint.empty");
  EXPECT_EQ(run(of_chosen("ReduceSum"), given).warnings, 0);
  const Model mean =
      model({node("ReduceMean", {"x"}, {"y"})}, {f32("x", {Dim::named("n")})}, {untyped("y")});
  EXPECT_EQ(run(mean, given).warnings, 0) << "a batch is taken to have elements";
}

TEST(Checks, OverflowIsToldOnce) {
  const Model chain = model({node("Mul", {"x", "x"}, {"a"}), node("Mul", {"a", "a"}, {"b"}),
                             node("ReduceSum", {"b"}, {"y"})},
                            {f32("x", {4})}, {untyped("y")});
  const LintResult result = run(chain, inputs({{"x", {0, 1e30}}}));
  EXPECT_EQ(result.warnings, 1);
  EXPECT_EQ(check_of(result, "a"), "lint.overflow");
}

TEST(Checks, SumsInHalfPrecision) {
  const Model sum = model({node("ReduceSum", {"x"}, {"y"})},
                          {typed("x", ElementType::f16, {Dim(1000)})}, {untyped("y")});
  EXPECT_EQ(check_of(run(sum, inputs({{"x", {0, 100}}})), "y"), "lint.overflow");
  EXPECT_EQ(run(sum, inputs({{"x", {0, 20}}})).warnings, 0);
}

TEST(Checks, DomainsOfInverseFunctions) {
  for (const char* op : {"Acos", "Asin", "Atanh"}) {
    const Model m = model({node(op, {"x"}, {"y"})}, {f32("x", {4})}, {untyped("y")});
    EXPECT_NE(found(run(m, inputs({{"x", {-1.5, 0.5}}})), "y"), nullptr) << op;
    EXPECT_EQ(run(m, inputs({{"x", {-0.9, 0.9}}})).warnings, 0) << op;
  }
}

TEST(Checks, RandomNumbersDoNotOverflow) {
  const Model m =
      model({node("RandomNormal", {}, {"y"},
                  {attribute("shape", std::vector<std::int64_t>{4}), attribute("scale", 2.0)})},
            {}, {untyped("y")});
  EXPECT_EQ(run(m).warnings, 0);
}

}  // namespace
}  // namespace assay
