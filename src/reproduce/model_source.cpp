#include "reproduce/model_source.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "reproduce/python_source.h"

namespace assay {
namespace {

constexpr std::size_t kMostNodes = 6;
constexpr std::int64_t kMostElements = 16;

using Names = std::map<std::string, std::string>;

std::string name_source(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return python_text(found == names.end() ? name : found->second);
}

std::string list_source(const Names& names, const std::vector<std::string>& list) {
  std::vector<std::string> texts;
  for (const std::string& one : list) texts.push_back(name_source(names, one));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

// An attribute's value; none for what is not a number, a text, a list of them or a small tensor.
struct AttributeSource {
  std::optional<std::string> operator()(std::int64_t value) const { return std::to_string(value); }
  std::optional<std::string> operator()(double value) const { return real(value); }
  std::optional<std::string> operator()(const std::string& value) const {
    if (!is_utf8(value)) return std::nullopt;
    return python_text(value);
  }
  std::optional<std::string> operator()(const Tensor& value) const {
    if (written_elements(value) > kMostElements || !numpy_has(value.type())) return std::nullopt;
    if (value.type() == ElementType::string) return std::nullopt;
    return fmt::format("arrays.from_array({})", array_source(value));
  }
  template <class T>
  std::optional<std::string> operator()(const std::vector<T>& values) const {
    std::vector<std::string> texts;
    for (const T& value : values) {
      std::optional<std::string> text;
      if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                    std::is_same_v<T, std::string>) {
        text = (*this)(value);
      }
      if (!text) return std::nullopt;
      texts.push_back(*text);
    }
    if (texts.empty()) return std::nullopt;  // the package cannot know the type
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  template <class T>
  std::optional<std::string> operator()(const T&) const {
    return std::nullopt;
  }

  static std::string real(double value) {
    const std::string text = python_real(value, ElementType::f32);
    return text.find("np.") == std::string::npos ? text : fmt::format("float({})", text);
  }
};

bool is_keyword(const std::string& name) { return is_variable(name) || name == "axis"; }

std::optional<std::string> node_source(const Node& node, const Names& names) {
  std::string source =
      fmt::format("make.make_node({}, {}, {}", python_text(node.op),
                  list_source(names, node.inputs), list_source(names, node.outputs));
  if (!node.domain.empty()) source += fmt::format(", domain={}", python_text(node.domain));
  for (const Attribute& attribute : node.attributes) {
    const std::optional<std::string> value = std::visit(AttributeSource{}, attribute.value);
    if (!value || !is_keyword(attribute.name)) return std::nullopt;
    source += fmt::format(", {}={}", attribute.name, *value);
  }
  return source + ")";
}

std::optional<std::string> outputs_source(const Graph& graph, const Names& names) {
  std::vector<std::string> texts;
  for (const NamedType& value : graph.outputs) {
    if (!value.type.is_tensor()) return std::nullopt;
    std::string type(standard_name(value.type.element));
    std::transform(type.begin(), type.end(), type.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    texts.push_back(
        fmt::format("info({}, TensorProto.{}, None)", name_source(names, value.name), type));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

bool all_tensors(const std::vector<NamedType>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const NamedType& value) { return value.type.is_tensor(); });
}

}  // namespace

std::optional<std::vector<std::string>> model_source(const Model& model, const Names& names,
                                                     const Names& weights) {
  const Graph& graph = model.graph;
  const std::optional<std::string> outputs = outputs_source(graph, names);
  if (!model.functions.empty() || !graph.sparse_initializers.empty() || graph.nodes.empty() ||
      graph.nodes.size() > kMostNodes || !all_tensors(graph.inputs) || !outputs) {
    return std::nullopt;
  }
  std::vector<std::string> lines = {
      "info, kind = make.make_tensor_value_info, make.np_dtype_to_tensor_dtype"};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::optional<std::string> node = node_source(graph.nodes[i], names);
    if (!node) return std::nullopt;
    lines.push_back(i == 0 ? fmt::format("nodes = [{}]", *node)
                           : fmt::format("nodes.append({})", *node));
  }
  lines.emplace_back("inputs = [info(n, kind(one.dtype), one.shape) for n, one in feed.items()]");
  std::vector<std::string> held, opsets;
  for (const NamedTensor& one : graph.initializers) {
    held.push_back(fmt::format("arrays.from_array({}, {})", weights.at(one.name),
                               name_source(names, one.name)));
  }
  if (!held.empty()) lines.push_back(fmt::format("weights = [{}]", fmt::join(held, ", ")));
  lines.push_back(fmt::format("graph = make.make_graph(nodes, \"g\", inputs, {}{})", *outputs,
                              held.empty() ? "" : ", weights"));
  for (const auto& [domain, version] : model.opsets) {
    opsets.push_back(fmt::format("make.make_opsetid({}, {})", python_text(domain), version));
  }
  lines.push_back(fmt::format("opsets = [{}]", fmt::join(opsets, ", ")));
  lines.push_back(
      fmt::format("model = make.make_model(graph, ir_version={}, opset_imports=opsets)"
                  ".SerializeToString()",
                  model.ir_version));
  return lines;
}

}  // namespace assay
