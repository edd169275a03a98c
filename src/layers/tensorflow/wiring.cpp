#include "layers/tensorflow/wiring.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "graph/name_index.h"

namespace assay::tensorflow {
namespace {

// More outputs than this are nobody's.
constexpr std::size_t kMostOutputs = 100000;

struct Reference {
  std::string_view name;
  std::size_t output = 0;
};

Reference parse(std::string_view input) {
  const auto colon = input.find_last_not_of("0123456789");
  if (colon == std::string_view::npos || input[colon] != ':') return {input, 0};
  std::size_t output = 0;
  const char* end = input.data() + input.size();
  const auto [rest, failed] = std::from_chars(input.data() + colon + 1, end, output);
  if (failed != std::errc() || rest != end || output >= kMostOutputs) return {input, 0};
  return {input.substr(0, colon), output};
}

const AttributeValue* find(const NodeDef& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name == name) return &attribute.value;
  }
  return nullptr;
}

// How many outputs an attribute gives: a number, or an entry a list.
std::size_t counted(const NodeDef& node, std::string_view attribute) {
  const AttributeValue* value = attribute.empty() ? nullptr : find(node, attribute);
  if (!value) return 0;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(value)) return list->size();
  const auto* number = std::get_if<std::int64_t>(value);
  return number && *number > 0
             ? std::min<std::size_t>(static_cast<std::size_t>(*number), kMostOutputs)
             : 0;
}

// Operations that are about nothing if their value is.
bool passes_silence(const WiredNode& node) {
  return node.part() == Part::silent || node.part() == Part::control || node.is("Identity") ||
         node.is("Assign");
}

}  // namespace

bool WiredNode::is(std::string_view op) const {
  return def->op == op || (def->op.starts_with("Ref") && std::string_view(def->op).substr(3) == op);
}

Wiring::Wiring(const GraphDef& graph) {
  nodes_.reserve(graph.nodes.size());
  for (const NodeDef& def : graph.nodes) {
    nodes_.push_back({&def, find_definition(def.op), {}, {}, 0});
    nodes_.back().goes_back = nodes_.back().is("NextIteration");
  }
  connect();
  order_ = execution_order(*this, {});
  count_outputs();
  find_silent();
}

void Wiring::connect() {
  NameIndex names;
  names.reserve(nodes_.size());
  std::vector<std::size_t> first;  // node of a name, by its number
  first.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (names.add(nodes_[i].def->name).second) first.push_back(i);
  }
  for (WiredNode& node : nodes_) {
    for (const std::string& input : node.def->inputs) {
      const bool control = input.starts_with('^');
      const Reference reference =
          control ? Reference{std::string_view(input).substr(1)} : parse(input);
      const int found = names.find(reference.name);
      const std::size_t from = found < 0 ? kNowhere : first[static_cast<std::size_t>(found)];
      if (!control) {
        node.inputs.push_back({from, reference.output});
      } else if (from != kNowhere) {
        node.after.push_back(from);
      }
    }
  }
}

void Wiring::count_outputs() {
  for (WiredNode& node : nodes_) {
    const Definition* known = node.definition;
    node.outputs = known ? static_cast<std::size_t>(known->outputs) +
                               counted(*node.def, known->outputs_attribute)
                         : 1;
  }
  for (const WiredNode& node : nodes_) {
    for (const Edge& edge : node.inputs) {
      if (edge.node == kNowhere) continue;
      std::size_t& outputs = nodes_[edge.node].outputs;
      outputs = std::max(outputs, edge.output + 1);
    }
  }
}

// A silent node that another one asks for a value is not silent, and what it asks for neither.
void Wiring::find_silent() {
  for (WiredNode& node : nodes_) {
    node.silent = node.part() == Part::silent || node.part() == Part::handle;
  }
  for (const std::size_t i : order_) {
    WiredNode& node = nodes_[i];
    const bool of_silent = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Edge& e) {
      return e.node != kNowhere && nodes_[e.node].silent && nodes_[e.node].part() != Part::handle;
    });
    if (of_silent && passes_silence(node)) node.silent = true;
  }
  std::vector<std::size_t> asking;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].silent) asking.push_back(i);
  }
  while (!asking.empty()) {
    const WiredNode& node = nodes_[asking.back()];
    asking.pop_back();
    if (node.part() == Part::source) continue;  // it finds what it reads by name
    for (const Edge& edge : node.inputs) {
      if (edge.node == kNowhere) continue;
      nodes_[edge.node].used = true;
      if (!nodes_[edge.node].silent) continue;
      nodes_[edge.node].silent = false;
      asking.push_back(edge.node);
    }
  }
}

std::string Wiring::value_name(const Edge& edge) const {
  const std::string& name = nodes_[edge.node].def->name;
  return edge.output == 0 ? name : fmt::format("{}:{}", name, edge.output);
}

std::string Wiring::input_name(std::size_t node, std::size_t input) const {
  const Edge& edge = nodes_[node].inputs[input];
  if (edge.node != kNowhere) return value_name(edge);
  std::size_t seen = 0;
  for (const std::string& name : nodes_[node].def->inputs) {
    if (!name.starts_with('^') && seen++ == input) return name;
  }
  return {};
}

Edge Wiring::root_of(Edge edge) const {
  for (std::size_t steps = 0; steps < nodes_.size() && edge.node != kNowhere; ++steps) {
    const WiredNode& node = nodes_[edge.node];
    const bool passes = node.is("Identity") || node.is("Switch") || node.is("Enter");
    if (!passes || node.inputs.empty()) return edge;
    edge = node.inputs.front();
  }
  return edge;
}

namespace {

// Depth first along needs, without the stack of the machine.
class Order {
 public:
  Order(const Wiring& wiring, const Needs& more)
      : wiring_(wiring), more_(more), state_(wiring.nodes().size()) {}

  std::vector<std::size_t> all() {
    order_.reserve(state_.size());
    for (std::size_t i = 0; i < state_.size(); ++i) visit(i);
    return std::move(order_);
  }

 private:
  enum class State : std::uint8_t { fresh, open, done };
  struct Step {
    std::size_t node, next;
  };

  std::optional<std::size_t> need(std::size_t node, std::size_t place) const {
    const WiredNode& wired = wiring_[node];
    if (place < wired.inputs.size()) {
      const std::size_t from = wired.inputs[place].node;
      return from == kNowhere || wiring_[from].goes_back ? node : from;
    }
    place -= wired.inputs.size();
    if (place < wired.after.size()) return wired.after[place];
    place -= wired.after.size();
    const auto more = more_.find(node);
    if (more != more_.end() && place < more->second.size()) return more->second[place];
    return std::nullopt;
  }

  void visit(std::size_t root) {
    if (state_[root] != State::fresh) return;
    path_.push_back({root, 0});
    state_[root] = State::open;
    while (!path_.empty()) {
      Step& step = path_.back();
      const auto needed = need(step.node, step.next++);
      if (!needed) {
        state_[step.node] = State::done;
        order_.push_back(step.node);
        path_.pop_back();
      } else if (state_[*needed] == State::fresh) {
        state_[*needed] = State::open;
        path_.push_back({*needed, 0});
      }
    }
  }

  const Wiring& wiring_;
  const Needs& more_;
  std::vector<State> state_;
  std::vector<Step> path_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> execution_order(const Wiring& wiring, const Needs& more) {
  return Order(wiring, more).all();
}

}  // namespace assay::tensorflow
