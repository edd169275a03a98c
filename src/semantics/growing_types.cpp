#include "semantics/growing_types.h"

#include "graph/names.h"
#include "semantics/growing_plan.h"
#include "semantics/type_walk.h"

namespace assay {

struct GrowingTypes::Parts {
  explicit Parts(const std::map<std::string, std::int64_t>& all)
      : opsets(all), plan({&opsets, nullptr, true}), walk(options), scope{plan.plan(), ""} {
    scope.growing = &values;
  }

  std::map<std::string, std::int64_t> opsets;
  TypeOptions options;
  GrowingPlan plan;
  TypeWalk walk;
  TypeScope scope;
  Chunked<NamedValueType> values;  // by slot; names are filled in at the end
  std::vector<int> numbers;        // of what is known of them; 0: not asked for yet
  std::vector<int> given;          // numbers of the inputs of the node at hand
  std::vector<int> slots;          // of the same
  KnownNumbers known_numbers;
  // Of a value that nobody has defined yet, and of one that is used all the same.
  std::shared_ptr<const Known> undefined = std::make_shared<const Known>();
  std::shared_ptr<const Known> unsaid = std::make_shared<const Known>(Known{true, {}, {}, {}});
  NumberedMemory memory;
  Log log;
  std::size_t inputs = 0, initializers = 0, nodes = 0;  // that were looked at
  bool failed = false;

  // A slot for what may have a type in the file.
  void define(const std::string& name, Known known, const ValueType* declared) {
    const int slot = plan.define(name);
    follow_plan();
    scope.declared[static_cast<std::size_t>(slot)] = declared;
    walk.define_outer(scope, slot, std::move(known), log);
    numbers[static_cast<std::size_t>(slot)] = 0;
    scope.declared[static_cast<std::size_t>(slot)] = nullptr;  // the graph moves when it grows
  }

  void add(const Node& node) {
    const std::string_view key = key_of(node);
    if (const NumberedMemory::Said* said = key.empty() ? nullptr : memory.find(key)) {
      return say_again(node, *said);
    }
    const std::size_t before = values.size(), remarks = log.remarks.size();
    const PlannedNode& planned = plan.add(node);
    follow_plan();
    for (const SlotRef& input : planned.inputs) {
      if (input.slot >= static_cast<int>(before)) {
        values[static_cast<std::size_t>(input.slot)].known = unsaid;
      }
    }
    walk.judge(planned, scope, log);
    for (const int slot : planned.outputs)
      if (slot >= 0) numbers[static_cast<std::size_t>(slot)] = 0;
    const bool alike = planned.found.entry && planned.subgraphs.empty();
    if (!alike || key.empty()) return;
    const NodeRemarks* said = log.remarks.size() > remarks ? &log.remarks.back() : nullptr;
    if (!said) {
      remember(key, planned, {});
    } else if (said->violations.empty()) {
      remember(key, planned, said->undecided);
    }
  }

  // Of a node all of whose inputs are there.
  std::string_view key_of(const Node& node) {
    given.clear();
    slots.clear();
    for (const std::string& input : node.inputs) {
      const int slot = input.empty() ? -1 : plan.slot(input);
      if (slot < 0 && !input.empty()) return {};
      given.push_back(slot < 0 ? 0 : number_of(static_cast<std::size_t>(slot)));
      slots.push_back(slot);
    }
    return memory.key_of(node, given);
  }

  int number_of(std::size_t slot) {
    if (numbers[slot] == 0) numbers[slot] = known_numbers.of(*values[slot].known);
    return numbers[slot];
  }

  void remember(std::string_view key, const PlannedNode& planned,
                std::vector<Undecided> undecided) {
    NumberedMemory::Said said{{}, {}, std::move(undecided), planned.found, !planned.filled};
    for (const int slot : planned.outputs) {
      const auto place = static_cast<std::size_t>(slot);
      said.outputs.push_back(slot < 0 ? nullptr : values[place].known);
      said.numbers.push_back(slot < 0 ? 0 : number_of(place));
    }
    memory.keep(key, std::move(said));
  }

  void say_again(const Node& node, const NumberedMemory::Said& said) {
    const PlannedNode& planned = plan.add_alike(node, said.found, said.whole, slots);
    follow_plan();
    for (std::size_t i = 0; i < planned.outputs.size(); ++i) {
      if (planned.outputs[i] < 0) continue;
      const auto slot = static_cast<std::size_t>(planned.outputs[i]);
      values[slot].known = said.outputs[i];
      numbers[slot] = said.numbers[i];
    }
    if (said.undecided.empty()) return;
    log.remarks.push_back(
        {printable(display_name(node, nodes)), node.op, node.domain, {}, said.undecided});
  }

  void follow_plan() {
    for (std::size_t slot = values.size(); slot < plan.plan().names.size(); ++slot)
      values.push_back({{}, undefined});
    scope.declared.resize(values.size());
    numbers.resize(values.size());
  }
};

GrowingTypes::GrowingTypes(const std::map<std::string, std::int64_t>& opsets)
    : parts_(std::make_unique<Parts>(opsets)) {}
GrowingTypes::~GrowingTypes() = default;

void GrowingTypes::follow(const Graph& graph) {
  Parts& parts = *parts_;
  for (; parts.initializers < graph.initializers.size(); ++parts.initializers) {
    const NamedTensor& one = graph.initializers[parts.initializers];
    parts.define(one.name, known_constant(one.tensor), nullptr);
  }
  for (; parts.inputs < graph.inputs.size(); ++parts.inputs) {
    const NamedType& input = graph.inputs[parts.inputs];
    const int slot = parts.plan.slot(input.name);
    Known known{true, {}, {}, {}};
    if (slot >= 0) known = *parts.values[static_cast<std::size_t>(slot)].known;
    parts.define(input.name, std::move(known), &input.type);
  }
  if (parts.nodes == 0) parts.plan.reserve(graph.nodes.capacity());
  try {
    while (parts.nodes < graph.nodes.size() && !parts.failed) {
      parts.add(graph.nodes[parts.nodes]);
      ++parts.nodes;
    }
  } catch (const EvaluationError& failure) {  // too deep, or too many nodes
    parts.failed = true;
    parts.log.remarks.push_back(failed_inference(failure));
  }
}

const Known* GrowingTypes::find(const std::string& name) const {
  const int slot = parts_->plan.slot(name);
  return slot < 0 ? nullptr : parts_->values[static_cast<std::size_t>(slot)].known.get();
}

std::vector<bool> GrowingTypes::read(const Graph& graph) {
  follow(graph);
  const std::vector<bool> slots = parts_->plan.read();
  std::vector<bool> result;
  result.reserve(slots.size());
  for (const PlannedNode& node : parts_->plan.plan().nodes)
    for (const int slot : node.outputs)
      result.push_back(slot < 0 || slots[static_cast<std::size_t>(slot)]);
  for (std::size_t i = parts_->plan.plan().nodes.size(); i < graph.nodes.size(); ++i)
    result.insert(result.end(), graph.nodes[i].outputs.size(), true);
  return result;
}

ModelTypes GrowingTypes::take(const Graph& graph) {
  follow(graph);
  Parts& parts = *parts_;
  ModelTypes result;
  for (const NamedType& output : graph.outputs) {
    const Known* known = find(output.name);
    result.outputs.push_back(known ? *known : Known{});
  }
  std::vector<std::string> names;
  result.plan = parts.plan.take(graph, names);
  result.planned = graph.nodes.data();
  for (std::size_t slot = 0; slot < parts.values.size(); ++slot)
    parts.values[slot].name = std::move(names[slot]);
  result.values = std::move(parts.values);
  for (NamedValueType& value : parts.log.values) result.values.push_back(std::move(value));
  result.remarks = std::move(parts.log.remarks);
  return result;
}

}  // namespace assay
