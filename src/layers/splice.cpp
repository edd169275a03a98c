#include "layers/splice.h"

#include <string_view>

#include "base/check.h"
#include "graph/name_index.h"
#include "graph/origin.h"

namespace assay {
namespace {

// What the values of a body are called in the model.
class Renaming {
 public:
  explicit Renaming(const std::string& place) : prefix_(place + "::") { set("", ""); }

  // False if the value has a name already.
  bool set(std::string_view value, std::string name) {
    if (!values_.add(value).second) return false;
    names_.push_back(std::move(name));
    return true;
  }
  bool contains(std::string_view value) const { return values_.contains(value); }
  // A value that has no name yet is an inner one.
  std::string& operator[](std::string_view value) {
    const auto [number, fresh] = values_.add(value);
    if (fresh) names_.emplace_back().append(prefix_).append(value);
    return names_[static_cast<std::size_t>(number)];
  }

 private:
  std::string prefix_;
  NameIndex values_{NameIndex::Names::copied};
  std::vector<std::string> names_;
};

}  // namespace

const std::string& SharedConstants::name_of(const Tensor& tensor, const std::string& name) {
  constexpr std::int64_t kMostShared = 64;  // elements
  if (tensor.type() == ElementType::string || tensor.size() > kMostShared) return name;
  std::string key(short_name(tensor.type()));
  key += to_text(tensor.shape()) + to_file_bytes(tensor);
  return names_.try_emplace(std::move(key), name).first->second;
}

Node constant_node(std::string name, Tensor tensor) {
  Node node;
  node.op = "Constant";
  node.outputs = {name};
  node.name = std::move(name);
  node.attributes = {attribute("value", std::move(tensor))};
  return node;
}

void splice(const Replaced& replaced, Graph body, Graph& into, SharedConstants* shared) {
  Renaming names(replaced.place);
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    names[body.inputs[i].name] = replaced.inputs.at(i);
  }
  // What passes an input on, or gives a value twice, needs a node that makes the output.
  std::vector<std::pair<std::string, std::string>> copies;
  for (std::size_t i = 0; i < replaced.outputs.size(); ++i) {
    const std::string& value = body.outputs.at(i).name;
    ASSAY_CHECK(!value.empty() || replaced.outputs[i].empty());
    if (value.empty() || replaced.outputs[i].empty()) continue;
    if (!names.set(value, replaced.outputs[i])) {
      copies.emplace_back(names[value], replaced.outputs[i]);
    }
  }
  const SharedProperties origin = origin_of(replaced.name, replaced.op);
  const auto add = [&](Node node, const std::string& fallback) {
    node.metadata = origin;
    const bool named = !replaced.outputs.empty() && !node.outputs.empty() &&
                       node.outputs.front() == replaced.outputs.front();
    node.name = named ? replaced.place : fallback;
    into.nodes.push_back(std::move(node));
  };
  for (NamedTensor& constant : body.initializers) {
    const bool is_output = names.contains(constant.name);
    std::string& name = names[constant.name];
    if (shared && !is_output) {
      const std::string& known = shared->name_of(constant.tensor, name);
      if (known != name) {
        name = known;
        continue;
      }
    }
    add(constant_node(name, std::move(constant.tensor)), name);
  }
  for (Node& node : body.nodes) {
    for (std::string& input : node.inputs) input = names[input];
    for (std::string& output : node.outputs) output = names[output];
    const std::string name = node.outputs.front();
    add(std::move(node), name);
  }
  for (auto& [from, to] : copies) {
    Node node;
    node.op = "Identity";
    node.inputs = {from};
    node.outputs = {to};
    add(std::move(node), to);
  }
}

}  // namespace assay
