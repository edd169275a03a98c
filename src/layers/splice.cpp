#include "layers/splice.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "graph/name_index.h"
#include "graph/origin.h"

namespace assay {
namespace {

// What the values of a body are called in the model. All that it names is numbered first: its own
// names are overwritten on the way.
class Renaming {
 public:
  explicit Renaming(const Graph& body) {
    std::size_t uses = body.inputs.size() + body.outputs.size() + body.initializers.size();
    for (const Node& node : body.nodes) uses += node.inputs.size() + node.outputs.size();
    values_.reserve(uses);
    uses_.reserve(uses);
    names_.reserve(uses + 1);
    set(number(""), kNothing);
  }

  int number(std::string_view value) {
    const auto [number, fresh] = values_.add(value);
    if (fresh) names_.push_back(nullptr);
    return number;
  }
  void set(int number, const std::string& name) {
    names_[static_cast<std::size_t>(number)] = &name;
  }
  bool has_name(int number) const { return names_[static_cast<std::size_t>(number)] != nullptr; }
  const std::string& operator[](int number) const {
    return *names_[static_cast<std::size_t>(number)];
  }

  // A value that has no name by now is an inner one.
  void name_rest(const std::string& place) {
    inner_.reserve(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i]) continue;
      const std::string_view value = values_.name(i);
      std::string& name = inner_.emplace_back();
      name.reserve(place.size() + 2 + value.size());
      names_[i] = &name.append(place).append("::").append(value);
    }
  }

  void note_uses(const std::vector<std::string>& values) {
    for (const std::string& value : values) uses_.push_back(number(value));
  }
  // In the order in which they were noted.
  void rename(std::vector<std::string>& values) {
    for (std::string& value : values) value = (*this)[uses_[renamed_++]];
  }

 private:
  static const std::string kNothing;

  NameIndex values_;
  std::vector<const std::string*> names_;  // by number
  std::vector<std::string> inner_;
  std::vector<int> uses_;  // numbers
  std::size_t renamed_ = 0;
};

const std::string Renaming::kNothing;

// Most operations are one node that makes the output out of the inputs: the names of its inputs in
// the model; nothing for any other body.
std::optional<std::vector<std::string>> inputs_of_only_node(const Replaced& replaced,
                                                            const Graph& body) {
  constexpr std::size_t kMostCompared = 8;
  if (body.nodes.size() != 1 || !body.initializers.empty() || replaced.outputs.size() != 1 ||
      replaced.outputs[0].empty() || body.inputs.size() > kMostCompared)
    return std::nullopt;
  const Node& node = body.nodes[0];
  if (node.outputs.size() != 1 || node.outputs[0] != body.outputs.at(0).name) return std::nullopt;
  std::vector<std::string> inputs;
  inputs.reserve(node.inputs.size());
  for (const std::string& input : node.inputs) {
    const auto found = std::ranges::find(body.inputs, input, &NamedType::name);
    if (found == body.inputs.end() || input.empty() || input == node.outputs[0])
      return std::nullopt;
    inputs.push_back(replaced.inputs.at(static_cast<std::size_t>(found - body.inputs.begin())));
  }
  return inputs;
}

}  // namespace

const std::string& SharedConstants::name_of(const Tensor& tensor, const std::string& name) {
  constexpr std::int64_t kMostShared = 64;  // elements
  if (tensor.type() == ElementType::string || tensor.size() > kMostShared) return name;
  const auto add = [this](const void* from, std::size_t bytes) {
    key_.append(static_cast<const char*>(from), bytes);
  };
  key_.assign(1, static_cast<char>(tensor.type()));
  key_ += static_cast<char>(tensor.rank());
  add(tensor.shape().data(), tensor.shape().size() * sizeof tensor.shape().front());
  add(tensor.raw(), tensor.byte_size());
  const auto [number, fresh] = keys_.add(key_);
  return fresh ? names_.emplace_back(name) : names_[static_cast<std::size_t>(number)];
}

Node constant_node(std::string name, Tensor tensor) {
  Node node;
  node.op = "Constant";
  node.outputs = {name};
  node.name = std::move(name);
  node.attributes = {attribute("value", std::move(tensor))};
  return node;
}

void splice(const Replaced& replaced, Graph&& body, Graph& into, SharedConstants* shared) {
  if (auto inputs = inputs_of_only_node(replaced, body)) {
    Node& node = into.nodes.emplace_back(std::move(body.nodes[0]));
    node.inputs = *std::move(inputs);
    node.outputs[0] = replaced.outputs[0];
    node.name = replaced.place;
    node.metadata = origin_of(replaced.name, replaced.op);
    return;
  }
  Renaming names(body);
  for (std::size_t i = 0; i < body.inputs.size(); ++i)
    names.set(names.number(body.inputs[i].name), replaced.inputs.at(i));
  // What passes an input on, or gives a value twice, needs a node that makes the output.
  std::vector<std::pair<int, std::size_t>> copies;
  for (std::size_t i = 0; i < replaced.outputs.size(); ++i) {
    const std::string& value = body.outputs.at(i).name;
    ASSAY_CHECK(!value.empty() || replaced.outputs[i].empty());
    if (value.empty() || replaced.outputs[i].empty()) continue;
    const int number = names.number(value);
    if (names.has_name(number))
      copies.emplace_back(number, i);
    else
      names.set(number, replaced.outputs[i]);
  }
  std::vector<int> constants;
  std::vector<bool> inner;
  for (const NamedTensor& constant : body.initializers) {
    constants.push_back(names.number(constant.name));
    inner.push_back(!names.has_name(constants.back()));
  }
  for (const Node& node : body.nodes) {
    names.note_uses(node.inputs);
    names.note_uses(node.outputs);
  }
  names.name_rest(replaced.place);

  const SharedProperties origin = origin_of(replaced.name, replaced.op);
  const auto add = [&](Node&& node) {
    node.metadata = origin;
    const std::string& output = node.outputs.front();
    const bool named = !replaced.outputs.empty() && output == replaced.outputs.front();
    node.name = named ? replaced.place : output;
    into.nodes.push_back(std::move(node));
  };
  for (std::size_t i = 0; i < constants.size(); ++i) {
    Tensor& tensor = body.initializers[i].tensor;
    const std::string& name = names[constants[i]];
    if (shared && inner[i]) {
      const std::string& known = shared->name_of(tensor, name);
      names.set(constants[i], known);
      if (known != name) continue;
    }
    add(constant_node(name, std::move(tensor)));
  }
  for (Node& node : body.nodes) {
    names.rename(node.inputs);
    names.rename(node.outputs);
    add(std::move(node));
  }
  for (const auto& [from, output] : copies) {
    Node node;
    node.op = "Identity";
    node.inputs = {names[from]};
    node.outputs = {replaced.outputs[output]};
    add(std::move(node));
  }
}

}  // namespace assay
