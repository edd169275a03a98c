// Random small graphs on random points of the ranges: no value ever lies outside of its abstract
// value, and no operation that was proved safe ever fails.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "numeric/analysis.h"
#include "numeric/judge.h"
#include "semantics/evaluator.h"
#include "semantics/models.h"

namespace assay {
namespace {

// The cell that an element lies in.
const Cell& cell_of(const Abstract& x, std::int64_t flat, const Shape& shape) {
  std::int64_t at = 0, step = 1;
  for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) {
    const std::int64_t index = flat % shape[d];
    const auto& cuts = x.cuts[d];
    const auto cell = std::upper_bound(cuts.begin(), cuts.end(), index) - cuts.begin();
    at += cell * step;
    step *= static_cast<std::int64_t>(cuts.size()) + 1;
  }
  return x.cells[static_cast<std::size_t>(at)];
}

// Draws a graph of tensors of rank 2, node by node.
class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) {}

  Model draw() {
    for (const char* name : {"x", "y", "z"}) {
      const Shape shape = {pick(1, 4), pick(1, 4)};
      inputs_.push_back(f32(name, to_dims(shape)));
      values_.push_back({name, shape});
    }
    const std::int64_t count = pick(3, 10);
    for (std::int64_t i = 0; i < count; ++i) add_node();
    return model(nodes_, inputs_, {untyped(values_.back().name)}, initializers_);
  }

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

 private:
  struct Drawn {
    std::string name;
    Shape shape;
  };
  const Drawn& any() { return values_[static_cast<std::size_t>(pick(0, std::ssize(values_) - 1))]; }
  std::string fresh() { return "v" + std::to_string(values_.size() + nodes_.size() * 10); }

  void add(const char* op, std::vector<std::string> from, Shape shape,
           std::vector<Attribute> attributes = {}) {
    const std::string name = fresh();
    nodes_.push_back(node(op, std::move(from), {name}, std::move(attributes)));
    values_.push_back({name, std::move(shape)});
  }

  std::string axes(std::vector<std::int64_t> values) {
    const std::string name = "c" + std::to_string(initializers_.size());
    initializers_.push_back(integers(name, std::move(values)));
    return name;
  }

  void add_node() {
    const Drawn x = any(), y = any();
    const std::int64_t axis = pick(0, 1);
    const auto d = static_cast<std::size_t>(axis);
    static constexpr const char* kUnary[] = {
        "Neg",      "Relu", "Abs", "Exp",   "Tanh",       "Sigmoid",   "Sqrt", "Log",
        "Softplus", "Sign", "Erf", "Floor", "Reciprocal", "LeakyRelu", "Elu",  "HardSigmoid"};
    static constexpr const char* kBinary[] = {"Add", "Sub", "Mul", "Div", "Max", "Min"};
    static constexpr const char* kReduce[] = {"ReduceSum",      "ReduceMean", "ReduceMax",
                                              "ReduceMin",      "ReduceL2",   "ReduceProd",
                                              "ReduceLogSumExp"};
    switch (pick(0, 10)) {
      case 0:
      case 1:
        return add(kUnary[pick(0, std::ssize(kUnary) - 1)], {x.name}, x.shape);
      case 2:
      case 3:
      case 4:
        if (const auto shape = broadcast(x.shape, y.shape))
          add(kBinary[pick(0, std::ssize(kBinary) - 1)], {x.name, y.name}, *shape);
        return;
      case 5:
        if (x.shape[1 - d] == y.shape[1 - d]) {
          Shape shape = x.shape;
          shape[d] += y.shape[d];
          add("Concat", {x.name, y.name}, shape, {attribute("axis", axis)});
        }
        return;
      case 6:
        return add("Transpose", {x.name}, {x.shape[1], x.shape[0]});
      case 7: {
        Shape shape = x.shape;
        shape[d] = 1;
        return add(kReduce[pick(0, std::ssize(kReduce) - 1)], {x.name, axes({axis})}, shape);
      }
      case 8:
        if (x.shape[1] == y.shape[0]) add("MatMul", {x.name, y.name}, {x.shape[0], y.shape[1]});
        return;
      case 9: {
        const std::int64_t first = pick(0, x.shape[d] - 1), last = pick(first + 1, x.shape[d]);
        Shape shape = x.shape;
        shape[d] = last - first;
        return add("Slice", {x.name, axes({first}), axes({last}), axes({axis})}, shape);
      }
      default:
        return pick(0, 1) == 0 ? add("Softmax", {x.name}, x.shape, {attribute("axis", axis)})
                               : add("Reshape", {x.name, axes({x.shape[1], x.shape[0]})},
                                     {x.shape[1], x.shape[0]});
    }
  }

  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::vector<NamedType> inputs_;
  std::vector<NamedTensor> initializers_;
  std::vector<Drawn> values_;
};

void expect_inside(const Abstract& x, const Value& value, const std::string& name) {
  ASSERT_TRUE(x.is_tensor());
  if (x.exact.defined()) return;
  ASSERT_EQ(x.cuts.size(), value.shape().size()) << name;
  const std::vector<double> elements = value.tensor().reals();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Cell& cell = cell_of(x, static_cast<std::int64_t>(i), value.shape());
    ASSERT_TRUE(cell.range.contains(elements[i]))
        << name << '[' << i << "] = " << elements[i] << " outside of " << to_text(cell.range);
  }
}

bool finite(const Value& value) {
  const std::vector<double> elements = value.tensor().reals();
  return std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); });
}

void try_graph(std::uint64_t seed, const Setting& setting) {
  Drawer drawer(seed);
  const auto m = std::make_shared<const Model>(drawer.draw());
  Ranges given;
  std::map<std::string, Interval> ranges;
  for (const NamedType& input : m->graph.inputs) {
    const double low = static_cast<double>(drawer.pick(-12, 8)) / 4;
    const double high = low + static_cast<double>(drawer.pick(0, 16)) / 4;
    ranges[input.name] = {low, high, false};
    given.inputs.push_back({input.name, {{low, high}}});
  }
  const Roots roots = apply_ranges(*m, given);
  std::map<std::string, Abstract> abstract;
  AnalysisOptions options;
  options.setting = setting;
  options.observe = [&](const Analyzed& seen) {
    for (std::size_t i = 0; i < seen.outputs.size(); ++i)
      abstract[seen.node.node.outputs[i]] = seen.outputs[i];
  };
  Analysis analysis(*m, options);
  analysis.inputs = roots.values;
  analysis.run();
  const Assessment judgement = judge(*m, roots, setting);
  const auto evaluator = Evaluator::make(m);
  ASSERT_TRUE(evaluator.has_value());
  for (int point = 0; point < 6; ++point) {
    std::vector<Value> inputs;
    for (const NamedType& input : m->graph.inputs) {
      std::vector<double> values(
          static_cast<std::size_t>(element_count(*to_shape(*input.type.dims))));
      const Interval& range = ranges.at(input.name);
      for (double& value : values) {
        const double place = point == 0   ? 0
                             : point == 1 ? 1
                                          : static_cast<double>(drawer.pick(0, 64)) / 64;
        value = range.low + place * (range.high - range.low);
      }
      inputs.emplace_back(make_tensor(ElementType::f32, *to_shape(*input.type.dims), values));
    }
    bool failed = false;
    EvaluateOptions run;
    run.observe = [&](const Evaluated& seen) {
      if (failed) return;
      if (!finite(seen.outputs[0])) {
        failed = true;
        EXPECT_FALSE(is_safe(judgement, seen.layer()))
            << seed << ": " << seen.node.node.op << ' ' << seen.layer();
        return;
      }
      expect_inside(abstract.at(seen.node.node.outputs[0]), seen.outputs[0],
                    std::to_string(seed) + ": " + seen.node.node.op);
    };
    ASSERT_TRUE((*evaluator)->run(inputs, run).has_value());
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void try_graphs(const Setting& setting, std::uint64_t count) {
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    try_graph(seed, setting);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Soundness, PartitionsAndForms) { try_graphs({}, 3000); }
TEST(Soundness, PartitionsAndIntervals) {
  try_graphs({TensorMode::partition, NumberMode::interval}, 1000);
}
TEST(Soundness, Smashing) { try_graphs({TensorMode::smash, NumberMode::affine}, 1000); }
TEST(Soundness, Expansion) { try_graphs({TensorMode::expand, NumberMode::affine}, 1000); }

}  // namespace
}  // namespace assay
