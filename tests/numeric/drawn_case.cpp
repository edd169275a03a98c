// Graphs around one operator, as a case of its case file calls it.
#include <algorithm>
#include <cmath>
#include <set>

#include "numeric/drawn_graph.h"
#include "patterns/array.h"
#include "semantics/models.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

constexpr std::int64_t kOldestOpset = 13;  // that has all the nodes which are put around

// The nearest number of a type.
double of_type(double x, ElementType type) {
  if (!is_real(type) || !std::isfinite(x)) return x;
  const double largest = format_of(type).largest;
  return make_scalar(type, std::clamp(x, -largest, largest)).real(0);
}

class Grafting {
 public:
  Grafting(const TextCase& text_case, std::uint64_t seed)
      : case_(&text_case), dice_(seed), model_(to_model(text_case)) {
    model_.opsets.try_emplace("", 21);
    has_graphs_ =
        std::any_of(text_case.node.attributes.begin(), text_case.node.attributes.end(),
                    [](const Attribute& one) {
                      return std::holds_alternative<std::shared_ptr<const Graph>>(one.value);
                    });
    grafts_ = model_.opsets.at("") >= kOldestOpset;
  }

  DrawnGraph draw() {
    std::vector<NamedType> declared = std::move(model_.graph.inputs);
    model_.graph.inputs.clear();
    const std::vector<Node> own = std::move(model_.graph.nodes);
    model_.graph.nodes.clear();
    for (const NamedValue& input : case_->inputs) {
      const auto found = std::find_if(declared.begin(), declared.end(),
                                      [&](const NamedType& one) { return one.name == input.name; });
      if (found != declared.end() && known_.insert(input.name).second)
        add_input(*found, input.value);
    }
    model_.graph.nodes.insert(model_.graph.nodes.end(), own.begin(), own.end());
    for (const NamedValue& output : case_->outputs) add_behind(output);
    for (NamedType& output : model_.graph.outputs) output = untyped(output.name);
    result_.model = std::make_shared<const Model>(std::move(model_));
    return std::move(result_);
  }

 private:
  void add_input(NamedType input, const Value& value) {
    if (!value.is_tensor() || !has_numbers(value.type()) || value.tensor().size() == 0) {
      result_.fixed[input.name] = value;
      model_.graph.inputs.push_back(std::move(input));
      return;
    }
    const Tensor& tensor = value.tensor();
    const std::optional<Interval> range = draw_range(tensor);
    if (!range) {
      model_.graph.initializers.push_back({input.name, tensor, {}, {}});
      return;
    }
    input.type = ValueType::tensor(tensor.type(), to_dims(tensor.shape()));
    if (!input.type.dims->empty() && dice_.chance(10)) input.type.dims->front() = Dim();
    input.name = before(input.name, tensor.type());
    result_.ranges[input.name] = *range;
    result_.shapes[input.name] = tensor.shape();
    model_.graph.inputs.push_back(std::move(input));
  }

  // Nothing: the tensor stays as it is.
  std::optional<Interval> draw_range(const Tensor& tensor) {
    if (!is_real(tensor.type()) && dice_.chance(60)) return std::nullopt;
    if (dice_.chance(15)) return std::nullopt;
    Interval range = Interval::no_number(false);
    for (double x : tensor.reals()) range = hull(range, Interval::point(x));
    // Points are drawn as doubles, which do not have every larger integer.
    const bool beyond = range.low <= -0x1p53 || range.high >= 0x1p53;
    if (!is_real(tensor.type())) return beyond ? std::nullopt : std::optional(range);
    // A loop that ends for the case's values might not for all others.
    if (has_graphs_) return range;
    const double tiny = rounding_of(tensor.type()).smallest_normal / 2;
    // Some formats of 8 bits have no infinity: a tensor of them would have NaN instead.
    const FloatFormat& format = format_of(tensor.type());
    const double most = format.has_infinity ? HUGE_VAL : format.largest;
    constexpr double kAround[] = {0, 0x1p-10, 0.5, 8, 1e4};
    const double more = kAround[dice_.pick(0, std::ssize(kAround) - 1)];
    switch (dice_.pick(0, 19)) {
      case 0:
        return Interval{-tiny, tiny, false};
      case 1:
        return Interval{of_type(-1e30, tensor.type()), of_type(1e30, tensor.type()), false};
      case 2:
        range.nan = true;
        return range;
      case 3:
        return Interval{range.low, most, dice_.chance(50)};
      case 4:
        return Interval{-most, range.high, dice_.chance(50)};
      default:
        if (!range.has_number()) return range;
        return Interval{of_type(range.low - more, tensor.type()),
                        of_type(range.high + more, tensor.type()), range.nan};
    }
  }

  // The name of an input, after which a node or two may come before `name` is there.
  std::string before(const std::string& name, ElementType type) {
    static constexpr const char* kBefore[] = {"Identity", "Neg", "Abs", "Relu", "Tanh", "Exp"};
    if (!grafts_ || has_graphs_ || type != ElementType::f32 || !dice_.chance(50)) return name;
    std::string first = "given_" + name;
    const char* op = kBefore[dice_.pick(0, std::ssize(kBefore) - 1)];
    if (dice_.chance(50)) {
      model_.graph.nodes.push_back(node(op, {first}, {name}));
    } else {
      const std::string second = "middle_" + name;
      model_.graph.nodes.push_back(node(op, {first}, {second}));
      model_.graph.nodes.push_back(node("Sub", {second, first}, {name}));
    }
    return first;
  }

  void add_behind(const NamedValue& output) {
    static constexpr const char* kBehind[] = {"Neg", "Relu",       "Abs",  "Exp",      "Sqrt",
                                              "Log", "Reciprocal", "Tanh", "Softplus", "Floor"};
    if (!grafts_ || output.name.empty() || !output.value.is_tensor() ||
        output.value.type() != ElementType::f32)
      return;
    std::string last = output.name;
    const std::int64_t count = dice_.pick(0, 2);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string next = "behind_" + std::to_string(i) + "_" + output.name;
      if (dice_.chance(30))
        model_.graph.nodes.push_back(node("Sub", {last, output.name}, {next}));
      else
        model_.graph.nodes.push_back(
            node(kBehind[dice_.pick(0, std::ssize(kBehind) - 1)], {last}, {next}));
      last = next;
    }
  }

  const TextCase* case_;
  Dice dice_;
  Model model_;
  DrawnGraph result_{};
  std::set<std::string> known_{};
  bool grafts_ = false, has_graphs_ = false;
};

}  // namespace

DrawnGraph draw_around(const TextCase& text_case, std::uint64_t seed) {
  return Grafting(text_case, seed).draw();
}

}  // namespace assay
