// The model: graphs of nodes, with attributes, subgraphs and functions, as the standard has them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/properties.h"
#include "graph/types.h"
#include "tensor/tensor.h"

namespace assay {

struct Graph;

// An attribute of a node of a function body may refer to an attribute of the function's call.
struct AttributeReference {
  std::string name;
  int kind = 0;  // AttributeProto.AttributeType
};

struct SparseTensor {
  Tensor values, indices;
  Shape shape;
};

// What is rare and large stands elsewhere: a graph of 10^5 nodes has several times as many values.
using AttributeValue =
    std::variant<std::int64_t, double, std::string, Tensor, std::shared_ptr<const Graph>, ValueType,
                 std::shared_ptr<const SparseTensor>, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string>, std::vector<Tensor>,
                 std::vector<std::shared_ptr<const Graph>>, std::vector<ValueType>,
                 AttributeReference, std::vector<SparseTensor>>;

// What a file says about an attribute beyond what it means.
struct AttributeNotes {
  std::string doc;
  std::string tensor_name;  // of a tensor value
};

struct Attribute {
  std::string name;
  AttributeValue value;
  std::shared_ptr<const AttributeNotes> notes{};  // null: none
};

// An attribute from a plain C++ value: attribute("axis", -1), attribute("mode", "linear").
template <class T>
Attribute attribute(std::string name, T value) {
  if constexpr (std::is_integral_v<T>)
    return {std::move(name), static_cast<std::int64_t>(value)};
  else if constexpr (std::is_convertible_v<T, std::string>)
    return {std::move(name), std::string(std::move(value))};
  else
    return {std::move(name), std::move(value)};
}

struct Node {
  std::string op;
  std::string domain;  // "" is the standard's own ("ai.onnx" is read as "")
  std::string overload;
  std::string name;
  std::vector<std::string> inputs;   // "" is an optional input that is not given
  std::vector<std::string> outputs;  // "" is an output that nobody wants
  std::vector<Attribute> attributes;
  std::string doc;
  SharedProperties metadata;                       // stack traces, name scopes
  std::vector<std::string> device_configurations;  // as they lie in the file

  // The operator's version, where a graph that the catalogue builds needs one of its own; 0: as the
  // opset imports say, as in every file.
  int version = 0;

  const AttributeValue* find(std::string_view attribute) const;
  void set(std::string attribute, AttributeValue value);
};

struct NamedType {
  std::string name;
  ValueType type;
  std::string doc{};
  Properties metadata{};
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
  std::string doc{};
  Properties metadata{};
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // in file order, which is the order of execution
  std::vector<NamedType> inputs, outputs, value_info;
  std::vector<NamedTensor> initializers;
  std::vector<std::pair<std::string, SparseTensor>> sparse_initializers;
  std::vector<std::pair<std::string, Properties>> quantization;  // annotations by tensor name
  std::string doc;
  Properties metadata;
};

struct Function {
  std::string domain, name, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // names without a default
  std::vector<Attribute> attribute_defaults;
  std::vector<Node> nodes;
  std::vector<NamedType> value_info;
  std::map<std::string, std::int64_t> opsets;
  std::string doc;
  Properties metadata;
};

struct Model {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  // by domain
  Graph graph;
  std::vector<Function> functions;
  std::string producer, producer_version, domain, doc;
  std::int64_t model_version = 0;
  Properties metadata;
  std::vector<std::string> training, device_configurations;  // as they lie in the file

  const Function* find_function(std::string_view domain, std::string_view name,
                                std::string_view overload) const;
};

// How a person finds a node: its name, else its first output, else its operator and position.
std::string display_name(const Node& node, std::size_t position);

}  // namespace assay
