// Nodes that run graphs of their own: conditionals, loops, maps.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ops/container_pieces.h"
#include "ops/control_scan.h"
#include "ops/families.h"
#include "scalar/truth.h"

namespace assay {
namespace {

// A condition of one element, as far as the reading knows it.
Truth truth_of(const Value& value, const std::string& op) {
  if (!value.is_tensor()) throw InexactDecision("the condition is unknown");
  if (value.type() != ElementType::boolean || value.tensor().size() != 1)
    throw EvaluationError(op + ".condition", "the condition is not a single boolean");
  if (const std::vector<Interval>* range = value.intervals())
    return {range->front().high >= 1, range->front().low <= 0, range->front().high >= 1};
  const bool chosen = value.tensor().data<bool>()[0];
  const bool certain = !value.errors() || value.errors()->front() < 1;
  return certain ? Truth::known(chosen) : Truth::unknown(chosen);
}

bool decided(const Value& value, const std::string& op) {
  const Truth truth = truth_of(value, op);
  if (!truth.is_known()) throw InexactDecision("the condition is not decided");
  return truth.value;
}

// Where the condition is not decided: all that either branch may give.
void evaluate_if(Call& call) {
  const Truth truth = truth_of(call.input(0), "If");
  const auto run = [&](bool branch) {
    const Graph& graph = *call.site.graph(branch ? "then_branch" : "else_branch");
    return call.evaluator.run_subgraph(call, graph, {}, -1);
  };
  call.outputs = run(truth.value);
  if (!truth.is_known()) {
    const std::vector<Value> others = run(!truth.value);
    for (std::size_t i = 0; i < call.outputs.size(); ++i)
      call.outputs[i] = hull_of(call.outputs[i], others[i], call.reading);
  }
  note_unknown(call);
}

void require_if(Check& c) {
  c.element_count_is("cond", 1);
  require_body(c, "then_branch", 0, c.site.output_count());
  require_body(c, "else_branch", 0, c.site.output_count());
}

void infer_if(Infer& n) {
  if (!n.subgraphs) return;
  if (const Tensor* known = n.site.constant(0); known && known->size() == 1) {
    const bool chosen = known->data<bool>()[0];
    const auto types =
        n.subgraphs->infer(*n.site.graph(chosen ? "then_branch" : "else_branch"), {});
    for (std::size_t i = 0; i < types.size(); ++i) n.output(i, types[i]);
    return;
  }
  const auto yes = n.subgraphs->infer(*n.site.graph("then_branch"), {});
  const auto no = n.subgraphs->infer(*n.site.graph("else_branch"), {});
  for (std::size_t i = 0; i < yes.size() && i < no.size(); ++i)
    n.output(i, common_type(yes[i], no[i]));
}

Operator conditional() {
  return {.name = "If",
          .versions = {1, 11, 13, 16, 19, 21, 23, 24, 25},
          .summary = "One of two graphs, chosen by a condition.",
          .attributes = {{"else_branch", Role::body}, {"then_branch", Role::body}},
          .require = require_if,
          .infer = infer_if,
          .meaning = custom(Pattern::control, evaluate_if)};
}

// A scalar, or of shape [1] where the body says so, as some exporters do.
Value as_declared(const Tensor& scalar, const NamedType& formal) {
  const auto& dims = formal.type.dims;
  return dims && dims->size() == 1 ? scalar.reshaped({1}) : scalar;
}

// A body that declares an optional may have given what it holds: the standard's own test does.
Value as_optional(Value value, const NamedType& formal) {
  const bool wraps = formal.type.kind == ValueType::Kind::optional &&
                     (value.is_tensor() || value.kind() == Value::Kind::sequence);
  return wraps ? Value::optional(std::move(value)) : value;
}

void check_state(const Value& before, const Value& after, std::size_t k) {
  if (before.is_tensor() && after.is_tensor() && before.type() != after.type())
    throw EvaluationError(
        "Loop.state-type",
        fmt::format("the body makes {} of loop-carried value {}, which is {}",
                    to_text(after.value_type()), k, to_text(before.value_type())));
}

// Without a condition as input, what the body says about it is ignored.
void evaluate_loop(Call& call) {
  const Graph& body = *call.site.graph("body");
  const std::size_t carried = call.inputs.size() - 2;
  const std::int64_t trips =
      call.has(0) ? call.exact(0).integer(0) : std::numeric_limits<std::int64_t>::max();
  std::vector<Value> state(body.inputs.size());
  bool keep = !call.has(1) || decided(call.input(1), "Loop");
  state[1] = call.has(1) ? call.input(1)
                         : as_declared(make_scalar(ElementType::boolean, 1), body.inputs[1]);
  for (std::size_t k = 0; k < carried; ++k) state[2 + k] = call.input(2 + k);
  std::vector<std::vector<Value>> scans(body.outputs.size() - 1 - carried);
  for (std::int64_t i = 0; i < trips && keep; ++i) {
    state[0] = as_declared(make_integers(ElementType::i64, {}, std::span(&i, 1)), body.inputs[0]);
    std::vector<Value> inputs = state;
    for (std::size_t k = 2; k < inputs.size(); ++k)
      inputs[k] = as_optional(std::move(inputs[k]), body.inputs[k]);
    std::vector<Value> results = call.evaluator.run_subgraph(call, body, inputs, i);
    for (std::size_t k = 0; k < carried; ++k) {
      check_state(state[2 + k], results[1 + k], k);
      state[2 + k] = std::move(results[1 + k]);
    }
    for (std::size_t k = 0; k < scans.size(); ++k)
      scans[k].push_back(std::move(results[1 + carried + k]));
    if (call.has(1)) keep = decided(results[0], "Loop");
    state[1] = std::move(results[0]);
  }
  for (std::size_t k = 0; k < carried; ++k) call.outputs[k] = std::move(state[2 + k]);
  for (std::size_t k = 0; k < scans.size(); ++k)
    call.outputs[carried + k] = stacked(call, std::move(scans[k]), body.outputs[1 + carried + k]);
  note_unknown(call);
}

void require_loop(Check& c) {
  c.element_count_is("M", 1);
  c.element_count_is("cond", 1);
  const std::size_t inputs = std::max<std::size_t>(c.site.input_count(), 2);
  require_body(c, "body", inputs, c.site.output_count() + 1);
  c.argument(c.site.output_count() + 2 >= inputs, "outputs",
             fmt::format("at least {} outputs", inputs - 2),
             fmt::format("{}", c.site.output_count()));
  for (std::size_t i = 2; i < inputs; ++i)
    c.argument(c.site.has_input(i), "inputs", fmt::format("input {}", i), "none");
  c.argument(c.site.has_input(0) || c.site.has_input(1), "endless",
             "a trip count or a condition: without both the loop never ends", "none");
}

// The shape of a loop-carried value may change from one iteration to the next.
void infer_loop(Infer& n) {
  if (!n.subgraphs) return;
  std::vector<ValueType> inputs = {ValueType::tensor(ElementType::i64, {}),
                                   ValueType::tensor(ElementType::boolean, {})};
  for (std::size_t i = 2; i < n.site.input_count(); ++i) {
    inputs.push_back(n.site.type(i));
    inputs.back().dims.reset();
  }
  const std::size_t carried = inputs.size() - 2;
  const std::vector<ValueType> results = n.subgraphs->infer(*n.site.graph("body"), inputs);
  const Tensor* trips = n.site.has_input(1) ? nullptr : n.site.constant(0);
  for (std::size_t i = 0; i + 1 < results.size(); ++i) {
    ValueType type = results[i + 1];
    if (i < carried) {
      type = common_type(type, n.site.type(i + 2));
    } else if (type.dims) {
      const std::int64_t count = trips ? std::max<std::int64_t>(trips->integer(0), 0) : -1;
      type.dims->insert(type.dims->begin(), count < 0 ? Dim() : Dim(count));
    }
    n.output(i, std::move(type));
  }
}

// onnx.reference joins what each iteration gives along the first axis it has.
void scan_outputs_joined(Builder& b) {
  const Graph& body = *b.site().graph("body");
  const std::size_t carried = b.site().input_count() - 2;
  const Builder::Values outputs = b.again();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& dims = body.outputs[i + 1].type.dims;
    std::string value = outputs[i];
    if (i >= carried && dims && dims->empty()) {
      value = b("Unsqueeze", {value, b.integers({1})});
    } else if (i >= carried && dims && dims->size() > 1) {
      const std::string rest = b("Shape", {value}, {attribute("start", 2)});
      const std::string shape = b("Concat", {b.integers({-1}), rest}, {attribute("axis", 0)});
      value = b("Reshape", {value, shape});
    }
    b.output(i, value);
  }
}

// The loop with a condition where the node has none.
void with_condition(Builder& b, bool condition) {
  Builder::Values inputs;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) inputs.push_back(b.input(i));
  if (inputs[1].empty()) inputs[1] = b.constant(make_scalar(ElementType::boolean, condition));
  const Builder::Values outputs = b.again_on(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) b.output(i, outputs[i]);
}

// onnxruntime stops when the body says so, also where the node has no condition.
void condition_always_counts(Builder& b) { with_condition(b, true); }
// onnx.reference takes a missing condition for false.
void no_condition_is_false(Builder& b) { with_condition(b, false); }

Operator loop() {
  return {.name = "Loop",
          .versions = {1, 11, 13, 16, 19, 21, 23, 24, 25},
          .summary = "A graph run again and again, as often as a count or a condition says.",
          .attributes = {{"body", Role::body}},
          .require = require_loop,
          .infer = infer_loop,
          .meaning = custom(Pattern::control, evaluate_loop),
          .variants = {{"scan-outputs-joined", Variant::Kind::defect, "onnx.reference 1.16 to 1.23",
                        scan_outputs_joined},
                       {"condition-always-counts", Variant::Kind::difference, "onnxruntime 1.31",
                        condition_always_counts},
                       {"no-condition-is-false", Variant::Kind::defect, "onnx.reference 1.23",
                        no_condition_is_false}}};
}

void evaluate_map(Call& call) {
  const Graph& body = *call.site.graph("body");
  const std::size_t length = call.input(0).elements().size();
  for (const Value& input : call.inputs)
    if (input.kind() == Value::Kind::sequence && input.elements().size() != length)
      throw EvaluationError("SequenceMap.length", fmt::format("sequences of {} and {} elements",
                                                              length, input.elements().size()));
  std::vector<std::vector<Value>> results(call.outputs.size());
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<Value> inputs;
    for (const Value& input : call.inputs)
      inputs.push_back(input.kind() == Value::Kind::sequence ? input.elements()[i] : input);
    std::vector<Value> outputs =
        call.evaluator.run_subgraph(call, body, inputs, static_cast<std::int64_t>(i));
    for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(std::move(outputs[k]));
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const ValueType type = length == 0 ? body.outputs[k].type : common_type(results[k]);
    const bool known = std::all_of(results[k].begin(), results[k].end(),
                                   [](const Value& value) { return value.is_tensor(); });
    call.outputs[k] = known ? Value::sequence(type, std::move(results[k])) : Value::unknown();
  }
  note_unknown(call);
}

void require_map(Check& c) {
  require_body(c, "body", c.site.input_count(), c.site.output_count());
  for (std::size_t i = 0; i < c.site.input_count(); ++i)
    c.argument(c.site.has_input(i), "inputs", fmt::format("input {}", i), "none");
}

void infer_map(Infer& n) {
  if (!n.subgraphs) return;
  std::vector<ValueType> inputs;
  for (std::size_t i = 0; i < n.site.input_count(); ++i) {
    const ValueType& type = n.site.type(i);
    inputs.push_back(type.kind == ValueType::Kind::sequence && type.inner ? *type.inner : type);
  }
  const std::vector<ValueType> results = n.subgraphs->infer(*n.site.graph("body"), inputs);
  for (std::size_t i = 0; i < results.size(); ++i) n.output(i, ValueType::sequence(results[i]));
}

Operator sequence_map() {
  return {.name = "SequenceMap",
          .versions = {17},
          .summary = "A graph run for each element of a sequence, or of several side by side.",
          .attributes = {{"body", Role::body}},
          .require = require_map,
          .infer = infer_map,
          .meaning = custom(Pattern::control, evaluate_map)};
}

}  // namespace

bool require_body(Check& c, std::string_view attribute, std::size_t inputs, std::size_t outputs) {
  const Graph* body = c.site.graph(attribute);
  if (!c.argument(body != nullptr, "body", fmt::format("{} to be a graph", attribute), "none"))
    return false;
  const bool takes = c.argument(body->inputs.size() == inputs, "body-inputs",
                                fmt::format("{} inputs of {}", inputs, attribute),
                                fmt::format("{}", body->inputs.size()));
  const bool gives = c.argument(body->outputs.size() == outputs, "body-outputs",
                                fmt::format("{} outputs of {}", outputs, attribute),
                                fmt::format("{}", body->outputs.size()));
  return takes && gives;
}

std::vector<Operator> control_operators() {
  return {conditional(), loop(), scan(), scan_of_batches(), sequence_map()};
}

}  // namespace assay
