// A TensorFlow graph as it lies in a file, without the wire format: what the importer starts from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace assay::tensorflow {

// Attributes in file order. A graph has few lists of them, over and over: nodes with the same hold
// one.
class SharedAttributes {
 public:
  SharedAttributes() = default;
  SharedAttributes(std::vector<Attribute> list)  // NOLINT(google-explicit-constructor)
      : list_(std::make_shared<const std::vector<Attribute>>(std::move(list))) {}

  const std::vector<Attribute>& list() const {
    static const std::vector<Attribute> kNone;
    return list_ ? *list_ : kNone;
  }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }

 private:
  std::shared_ptr<const std::vector<Attribute>> list_;
};

// Attributes are kept as the model's own kinds: a type is the number of its ElementType (0 for
// handles), a shape a ValueType without an element type, a truth value 0 or 1, a function its name.
struct NodeDef {
  std::string name, op;
  std::vector<std::string> inputs;  // "x", "x:1", "^x" (runs after x, takes nothing from it)
  SharedAttributes attributes;
};

struct FunctionDef {
  std::string name;
  std::vector<std::string> inputs, outputs;  // names of the signature
  std::vector<NodeDef> nodes;                // their inputs: "argument" or "node:output:0"
  std::vector<std::string> returns;          // a value for each output
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::vector<FunctionDef> functions;
  std::string producer_version;  // TensorFlow's, where the file says it
};

}  // namespace assay::tensorflow
