// Graphs in which several nodes see the same values, so that relations between them matter.
#include "numeric/drawn_graph.h"
#include "patterns/array.h"
#include "semantics/models.h"

namespace assay {
namespace {

// Draws a graph of tensors of rank 2, node by node.
class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : dice_(seed) {}

  DrawnGraph draw() {
    DrawnGraph result;
    for (const char* name : {"x", "y", "z"}) {
      const Shape shape = {pick(1, 4), pick(1, 4)};
      inputs_.push_back(f32(name, to_dims(shape)));
      values_.push_back({name, shape});
      const double low = static_cast<double>(pick(-12, 8)) / 4;
      result.ranges[name] = {low, low + static_cast<double>(pick(0, 16)) / 4, false};
      result.shapes[name] = shape;
    }
    const std::int64_t count = pick(3, 10);
    for (std::int64_t i = 0; i < count; ++i) add_node();
    result.model = std::make_shared<const Model>(
        model(nodes_, inputs_, {untyped(values_.back().name)}, initializers_));
    return result;
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return dice_.pick(low, high); }
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
    std::string name = "c" + std::to_string(initializers_.size());
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

  Dice dice_;
  std::vector<Node> nodes_;
  std::vector<NamedType> inputs_;
  std::vector<NamedTensor> initializers_;
  std::vector<Drawn> values_;
};

}  // namespace

DrawnGraph draw_relations(std::uint64_t seed) { return Drawer(seed).draw(); }

}  // namespace assay
