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

bool is_call(const NodeDef& node) {
  return node.op == "PartitionedCall" || node.op == "StatefulPartitionedCall";
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
  // A function by an operation of its name, as TensorFlow 1 calls it, or by the attribute f.
  const FunctionDef* called(const NodeDef& node) const {
    std::string_view name = node.op;
    if (is_call(node)) {
      for (const Attribute& attribute : node.attributes) {
        const auto* text = std::get_if<std::string>(&attribute.value);
        if (attribute.name == "f" && text) name = *text;
      }
    }
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  void add(NodeDef node, int depth) {
    const FunctionDef* function = called(node);
    if (!function || depth >= kMaxDepth || result_.nodes.size() > kMostNodes) {
      result_.nodes.push_back(std::move(node));
      return;
    }
    std::unordered_map<std::string_view, std::string> arguments;
    std::vector<std::string> data, control;
    for (const std::string& input : node.inputs) {
      (input.starts_with('^') ? control : data).push_back(input);
    }
    for (std::size_t i = 0; i < function->inputs.size(); ++i) {
      arguments[function->inputs[i]] = i < data.size() ? data[i] : std::string();
    }
    std::unordered_map<std::string_view, std::string_view> ops;
    for (const NodeDef& inner : function->nodes) ops[inner.name] = inner.op;
    const auto renamed = [&](const std::string& input) {
      return resolve(node.name, input, arguments, ops);
    };
    for (const NodeDef& inner : function->nodes) {
      NodeDef copy = inner;
      copy.name = node.name + "/" + inner.name;
      for (std::string& input : copy.inputs) input = renamed(input);
      copy.inputs.insert(copy.inputs.end(), control.begin(), control.end());
      add(std::move(copy), depth + 1);
    }
    pass_on(node, *function, renamed);
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
    return fmt::format("{}/{}:{}", call, name, place);
  }

  template <class Renamed>
  void pass_on(const NodeDef& call, const FunctionDef& function, const Renamed& renamed) {
    NodeDef result;
    result.name = call.name;
    result.op = "IdentityN";
    for (const std::string& value : function.returns) result.inputs.push_back(renamed(value));
    if (result.inputs.empty()) result.op = "NoOp";
    const std::vector<std::int64_t> types(result.inputs.size(),
                                          static_cast<std::int64_t>(ElementType::undefined));
    result.attributes = {attribute("T", types)};
    result_.nodes.push_back(std::move(result));
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
