#include "layers/tensorflow/functions.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "tensor/element_type.h"

namespace assay::tensorflow {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMostNodes = 4000000;

// Inside a function a value goes by the name of its output, not by its place: these are the
// operations with more than one.
struct OutputNames {
  std::string_view op;
  std::vector<std::string_view> names;
};

const std::vector<OutputNames>& output_names() {
  static const std::vector<std::string_view> normal = {
      "y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"};
  static const std::vector<std::string_view> gradient = {
      "x_backprop", "scale_backprop", "offset_backprop", "reserve_space_3", "reserve_space_4"};
  static const std::vector<std::string_view> third = {
      "x_backprop", "scale_backprop", "offset_backprop", "reserve_space_4", "reserve_space_5"};
  static const std::vector<OutputNames> all = {
      {"BroadcastGradientArgs", {"r0", "r1"}},
      {"FusedBatchNorm", normal},
      {"FusedBatchNormGrad", gradient},
      {"FusedBatchNormGradV2", gradient},
      {"FusedBatchNormGradV3", third},
      {"FusedBatchNormV2", normal},
      {"FusedBatchNormV3", normal},
      {"Merge", {"output", "value_index"}},
      {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
      {"Switch", {"output_false", "output_true"}},
      {"TensorArrayV3", {"handle", "flow"}},
      {"TensorListPopBack", {"output_handle", "tensor"}},
      {"TopKV2", {"values", "indices"}},
      {"Unique", {"y", "idx"}},
      {"UniqueWithCounts", {"y", "idx", "count"}}};
  return all;
}

std::size_t place_of(std::string_view op, std::string_view output, std::size_t index) {
  for (const OutputNames& row : output_names()) {
    if (row.op != op) continue;
    const auto found = std::find(row.names.begin(), row.names.end(), output);
    return static_cast<std::size_t>(found - row.names.begin()) + index;
  }
  return index;
}

using Inputs = std::vector<std::string>;

// The name of a value that a node makes.
std::string output_of(const std::string& node, std::size_t place) {
  return place == 0 ? node : fmt::format("{}:{}", node, place);
}

// The name of a node that nobody has written: no value of it is a result of the graph.
std::string inner(const std::string& node, std::string_view part, std::size_t i) {
  return fmt::format("{}::{}{}", node, part, i);
}

class Inliner {
 public:
  explicit Inliner(GraphDef graph) : functions_(std::move(graph.functions)) {
    result_.producer_version = std::move(graph.producer_version);
    for (const FunctionDef& function : functions_) by_name_.try_emplace(function.name, &function);
    for (NodeDef& node : graph.nodes) add(std::move(node), 0);
  }

  GraphDef take() { return std::move(result_); }

 private:
  // A function by its name, or by the name that an attribute has.
  const FunctionDef* function_of(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const FunctionDef* function_of(const NodeDef& node, std::string_view attribute) const {
    for (const Attribute& given : node.attributes) {
      const auto* text = std::get_if<std::string>(&given.value);
      if (given.name == attribute && text) return function_of(*text);
    }
    return nullptr;
  }

  // TensorFlow 1 calls a function by an operation of its name.
  void add(NodeDef node, int depth) {
    Inputs data, control;
    for (const std::string& input : node.inputs) {
      (input.starts_with('^') ? control : data).push_back(input);
    }
    if (depth >= kMaxDepth || result_.nodes.size() > kMostNodes) return keep(std::move(node));
    const FunctionDef *then = function_of(node, "then_branch"),
                      *otherwise = function_of(node, "else_branch");
    if (then && otherwise && !data.empty())
      return branch(node, *then, *otherwise, data, control, depth);
    const FunctionDef *condition = function_of(node, "cond"), *body = function_of(node, "body");
    if (condition && body && !data.empty())
      return loop(node, *condition, *body, data, control, depth);
    const FunctionDef* called = function_of(node, "f");
    if (!called || !node.op.ends_with("PartitionedCall")) called = function_of(node.op);
    if (!called) return keep(std::move(node));
    pass_on(node.name, put_in(node.name, *called, data, control, depth));
  }

  void keep(NodeDef node) { result_.nodes.push_back(std::move(node)); }

  // The nodes of a function under a name of their own, each after `control`; its results.
  Inputs put_in(const std::string& place, const FunctionDef& function, const Inputs& data,
                const Inputs& control, int depth) {
    std::unordered_map<std::string_view, std::string> arguments;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      arguments[function.inputs[i]] = i < data.size() ? data[i] : std::string();
    }
    std::unordered_map<std::string_view, std::string_view> ops;
    for (const NodeDef& inner : function.nodes) ops[inner.name] = inner.op;
    for (const NodeDef& inner : function.nodes) {
      NodeDef copy = inner;
      copy.name = place + "/" + inner.name;
      for (std::string& input : copy.inputs) input = resolve(place, input, arguments, ops);
      copy.inputs.insert(copy.inputs.end(), control.begin(), control.end());
      add(std::move(copy), depth + 1);
    }
    Inputs results;
    for (const std::string& value : function.returns)
      results.push_back(resolve(place, value, arguments, ops));
    return results;
  }

  static std::string resolve(const std::string& call, const std::string& input,
                             const std::unordered_map<std::string_view, std::string>& arguments,
                             const std::unordered_map<std::string_view, std::string_view>& ops) {
    if (input.starts_with('^')) return fmt::format("^{}/{}", call, input.substr(1));
    if (const auto found = arguments.find(input); found != arguments.end()) return found->second;
    const auto first = input.find(':'), second = input.rfind(':');
    if (first == std::string::npos || first == second) return call + "/" + input;
    const std::string_view name = std::string_view(input).substr(0, first);
    const std::string_view output = std::string_view(input).substr(first + 1, second - first - 1);
    std::size_t index = 0;
    std::from_chars(input.data() + second + 1, input.data() + input.size(), index);
    const auto op = ops.find(name);
    const std::size_t place = place_of(op == ops.end() ? "" : op->second, output, index);
    return output_of(fmt::format("{}/{}", call, name), place);
  }

  std::string make(std::string name, std::string op, Inputs inputs, const Inputs& control = {},
                   std::vector<Attribute> attributes = {}) {
    inputs.insert(inputs.end(), control.begin(), control.end());
    keep({name, std::move(op), std::move(inputs), std::move(attributes)});
    return name;
  }

  void pass_on(const std::string& name, const Inputs& results) {
    const std::vector<std::int64_t> types(results.size(),
                                          static_cast<std::int64_t>(ElementType::undefined));
    make(name, results.empty() ? "NoOp" : "IdentityN", results, {}, {attribute("T", types)});
  }

  // As TensorFlow 1 writes it: a Switch an operand, both functions, a Merge a result. The
  // functions' nodes run after the Switch of the condition, so that those without operands have a
  // side too.
  void branch(const NodeDef& node, const FunctionDef& then, const FunctionDef& otherwise,
              const Inputs& data, const Inputs& control, int depth) {
    const auto made = [&](const char* part, std::size_t i) { return inner(node.name, part, i); };
    const std::string& decides = data.front();
    Inputs sides[2];
    for (std::size_t i = 1; i < data.size(); ++i) {
      const std::string way = make(made("switch", i), "Switch", {data[i], decides}, control);
      for (std::size_t side = 0; side < 2; ++side) sides[side].push_back(output_of(way, side));
    }
    const std::string pivot = make(made("switch", 0), "Switch", {decides, decides}, control);
    Inputs results[2];
    for (std::size_t side = 0; side < 2; ++side) {
      const std::string taken = make(made("side", side), "Identity", {output_of(pivot, side)});
      results[side] = put_in(fmt::format("{}/{}", node.name, side ? "then" : "else"),
                             side ? then : otherwise, sides[side], {"^" + taken}, depth);
    }
    Inputs merged;
    for (std::size_t i = 0; i < std::min(results[0].size(), results[1].size()); ++i)
      merged.push_back(make(made("merge", i), "Merge", {results[0][i], results[1][i]}));
    pass_on(node.name, merged);
  }

  // As TensorFlow 1 writes it: the operands enter a frame, the condition's function decides on what
  // is merged from there and from the round before.
  void loop(const NodeDef& node, const FunctionDef& condition, const FunctionDef& body,
            const Inputs& data, const Inputs& control, int depth) {
    const auto made = [&](const char* part, std::size_t i) { return inner(node.name, part, i); };
    Inputs merged, taken, left;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string enter = make(made("enter", i), "Enter", {data[i]}, control,
                                     {attribute("frame_name", node.name + "::while")});
      merged.push_back(make(made("merge", i), "Merge", {enter, made("next", i)}));
    }
    const Inputs decision =
        put_in(node.name + "/cond", condition, merged, {"^" + merged.front()}, depth);
    const std::string decides = make(node.name + "::decides", "LoopCond", decision);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string way = make(made("switch", i), "Switch", {merged[i], decides});
      taken.push_back(make(made("round", i), "Identity", {output_of(way, 1)}));
      left.push_back(make(made("exit", i), "Exit", {way}));
    }
    const Inputs results = put_in(node.name + "/body", body, taken, {"^" + taken.front()}, depth);
    for (std::size_t i = 0; i < data.size(); ++i)
      make(made("next", i), "NextIteration", {i < results.size() ? results[i] : std::string()});
    pass_on(node.name, left);
  }

  std::vector<FunctionDef> functions_;
  std::unordered_map<std::string_view, const FunctionDef*> by_name_;
  GraphDef result_;
};

}  // namespace

GraphDef with_functions_inside(GraphDef graph) {
  if (graph.functions.empty()) return graph;
  return Inliner(std::move(graph)).take();
}

}  // namespace assay::tensorflow
