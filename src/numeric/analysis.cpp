#include "numeric/analysis.h"

#include <algorithm>
#include <cmath>

#include "numeric/analysis_scope.h"
#include "numeric/inferred.h"
#include "ops/check.h"
#include "patterns/array.h"
#include "patterns/function.h"

namespace assay {

namespace {

std::shared_ptr<const KnownNames> known_values(const Model& model, const TypeOptions& options) {
  return std::make_shared<const KnownNames>(
      std::make_shared<const ModelTypes>(infer_types(model, options)));
}

// Whether the types came with a plan of this very graph.
bool is_planned(const Model& model, const ModelTypes* types) {
  return types && types->plan && model.functions.empty() &&
         types->planned == model.graph.nodes.data() &&
         types->plan->nodes.size() == model.graph.nodes.size();
}

bool empty(const Abstract& x) { return x.is_tensor() && !x.exact.defined() && x.cells.empty(); }

// No value ever gets here: an operation before cannot give one.
bool impossible(const Abstract& x) {
  return x.is_tensor() && !x.exact.defined() && !x.cells.empty() &&
         std::all_of(x.cells.begin(), x.cells.end(),
                     [](const Cell& cell) { return !cell.range.has_number() && !cell.range.nan; });
}

bool finite(const Interval& x) { return !x.nan && std::isfinite(x.low) && std::isfinite(x.high); }

bool same_extents(const ValueType& a, const ValueType& b) {
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) return !a.dims && !b.dims;
  for (std::size_t d = 0; d < a.dims->size(); ++d)
    if ((*a.dims)[d].known() != (*b.dims)[d].known() || (*a.dims)[d].value != (*b.dims)[d].value)
      return false;
  return true;
}

// In array expansion, every element is a cell of its own from the beginning.
Abstract spread(Abstract x, TensorMode mode) {
  const auto shape = x.ranked() ? to_shape(*x.type.dims) : std::nullopt;
  if (mode != TensorMode::expand || !shape || x.exact.defined() || x.cells.empty()) return x;
  Cuts cuts;
  for (std::int64_t extent : *shape) cuts.push_back(every_position(extent));
  cuts = limited(std::move(cuts), most_cells(mode));
  x.cells = regrid(x, cuts);
  x.cuts = std::move(cuts);
  return x;
}

// Whether the node has open extents even where those of its inputs are known: elements that it
// chooses by their values.
bool data_decide_extents(const PlannedNode& node, std::span<const Abstract> inputs) {
  const Operator* entry = node.found.entry;
  if (!entry || !entry->infer || node.outputs.empty()) return false;
  const Pattern pattern = entry->meaning.pattern;
  if (pattern != Pattern::opaque && pattern != Pattern::gather) return false;
  Site site(node.node, node.found.schema->since_version);
  for (const Abstract& input : inputs) {
    Known known{input.is_tensor(), input.type, input.exact, {}};
    if (input.ranked()) known.type.dims = to_dims(concrete(*input.type.dims));
    site.inputs.push_back(std::move(known));
  }
  Infer infer(site);
  entry->infer(infer);
  const ValueType& type = infer.outputs[0];
  return type.is_tensor() && type.dims && is_open(*type.dims);
}

bool holds(const PlannedNode& node, const std::string& path, const Analysis::Wanted& wanted) {
  bool found = wanted(path, node);
  const auto look_into = [&](const Plan& plan, const std::string& inside) {
    for (const PlannedNode& inner : plan.nodes) found = found || holds(inner, inside, wanted);
  };
  if (node.function) look_into(*node.function, path + node.path_into_function());
  for (const PlannedSubgraph& graph : node.subgraphs)
    look_into(*graph.plan, path + node.path_into(graph));
  return found;
}

// Marks what the node reads, itself or in its graphs, of the graph `depth` levels out.
void mark_read(const PlannedNode& node, int depth, std::vector<bool>& values) {
  const auto mark = [&](const SlotRef& ref, int level) {
    if (ref.slot >= 0 && ref.depth == level) values[static_cast<std::size_t>(ref.slot)] = true;
  };
  for (const SlotRef& input : node.inputs) mark(input, depth);
  for (const PlannedSubgraph& graph : node.subgraphs) {
    for (const PlannedNode& inner : graph.plan->nodes) mark_read(inner, depth + 1, values);
    for (const SlotRef& output : graph.plan->outputs) mark(output, depth + 1);
  }
}

}  // namespace

Abstract join(const Abstract& a, const Abstract& b, TensorMode mode) {
  if (!a.is_tensor() || empty(a)) return b;
  if (!b.is_tensor() || empty(b)) return a;
  Abstract result = a;
  result.exact = Tensor();
  result.extents.reset();
  result.assumed = a.assumed || b.assumed;
  result.roots.add(b.roots);
  result.mixed.add(b.mixed);
  if (!a.ranked() || !b.ranked() || a.rank() != b.rank()) {
    result = uniform(ValueType::tensor(a.type.element), hull(hull_of(a), hull_of(b)));
    return result;
  }
  for (std::size_t d = 0; d < a.rank(); ++d)
    if (!(*a.type.dims)[d].same_as((*b.type.dims)[d])) (*result.type.dims)[d] = Dim();
  const Cuts x = natural_cuts(a, mode), y = natural_cuts(b, mode);
  for (std::size_t d = 0; d < a.rank(); ++d)
    result.cuts[d] =
        (*result.type.dims)[d].known() ? united(x[d], y[d]) : std::vector<std::int64_t>{};
  result.cuts = limited(std::move(result.cuts), most_cells(mode));
  result.cells = regrid(a, result.cuts);
  const std::vector<Cell> others = regrid(b, result.cuts);
  for (std::size_t c = 0; c < result.cells.size(); ++c) {
    Cell& cell = result.cells[c];
    cell = {hull(cell.range, others[c].range), cell.form == others[c].form ? cell.form : 0};
  }
  return result;
}

void KnownNames::number_all() const {
  names_.reserve(types_->values.size());
  last_.reserve(types_->values.size());
  std::uint32_t place = 0;
  for (const NamedValueType& value : types_->values) {
    const auto [number, fresh] = names_.add(value.name);
    if (fresh) last_.emplace_back();
    last_[static_cast<std::size_t>(number)] = place++;
  }
}

std::optional<std::size_t> KnownNames::place_of(std::string_view name) const {
  std::call_once(numbered_, [&] { number_all(); });
  const int number = names_.find(name);
  if (number < 0) return std::nullopt;
  return last_[static_cast<std::size_t>(number)];
}

const Known* KnownNames::find(std::string_view name) const {
  const std::optional<std::size_t> place = place_of(name);
  return place ? types_->values[*place].known.get() : nullptr;
}

const Known* KnownNames::find(std::string_view name, std::size_t& next) const {
  constexpr std::size_t kBack = 4, kAhead = 8;  // a node asks for its outputs more than once
  const std::size_t from = next - std::min(next, kBack);
  const std::size_t to = std::min(next + kAhead, types_->values.size());
  std::optional<std::size_t> place;
  for (std::size_t i = from; i < to && !place; ++i)
    if (types_->values[i].name == name) place = i;
  if (!place) place = place_of(name);
  if (!place) return nullptr;
  next = *place + 1;
  return types_->values[*place].known.get();
}

Analysis::Analysis(const Model& model, AnalysisOptions options)
    : model_(&model),
      options_(std::move(options)),
      plan_(is_planned(model, options_.types.get())
                ? options_.types->plan
                : std::shared_ptr<const Plan>(make_plan(model.graph, {&model.opsets, &model}))) {}
Analysis::~Analysis() = default;

void Analysis::run(const std::vector<bool>* only) {
  if (!known_ && options_.types) {
    known_ = std::make_shared<const KnownNames>(options_.types);
  } else if (!known_) {
    TypeOptions types;
    for (const auto& [name, value] : inputs) types.inputs[name] = value.type;
    known_ = known_values(*model_, types);
  }
  forms_ = Forms();
  Scope scope{*plan_, "", nullptr, known_};
  scope.known_by_slot = options_.types && plan_ == options_.types->plan;
  scope.enter();
  const auto give = [&](int slot) {
    if (slot < 0) return;
    const auto given = inputs.find(plan_->names[static_cast<std::size_t>(slot)]);
    if (given == inputs.end()) return;
    Abstract value = spread(given->second, options_.setting.tensors);
    give_forms(value);
    scope.put(slot, std::move(value));
  };
  for (const auto& [slot, tensor] : plan_->constants) give(slot);
  for (const int slot : plan_->inputs) give(slot);
  run_in(*plan_, scope, only);
}

ValueType Analysis::type_of(const std::string& name) const {
  const Known* found = known_->find(name);
  return found ? found->type : ValueType{};
}

std::vector<bool> Analysis::needed_for(const Wanted& wanted) const {
  std::vector<bool> values(plan_->names.size()), nodes(plan_->nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const PlannedNode& node = plan_->nodes[i];
    nodes[i] = holds(node, "", wanted) ||
               std::any_of(node.outputs.begin(), node.outputs.end(), [&](int slot) {
                 return slot >= 0 && values[static_cast<std::size_t>(slot)];
               });
    if (nodes[i]) mark_read(node, 0, values);
  }
  return nodes;
}

void Analysis::run_in(const Plan& plan, Scope& scope, const std::vector<bool>* only) {
  for (std::size_t i = 0; i < plan.nodes.size(); ++i)
    if (!only || (*only)[i]) run_node(plan.nodes[i], scope);
}

// As the whole model's inference says; where that leaves the rank open (in loops it does), as the
// node's own inference says for what its inputs are now.
std::vector<ValueType> Analysis::types_of(const PlannedNode& node, const Scope& scope,
                                          std::span<const Abstract> inputs) const {
  std::vector<ValueType> types;
  bool ranked = true;
  types.reserve(node.outputs.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Known* known = scope.find(node, i);
    types.push_back(known ? known->type : ValueType{});
    ranked = ranked && (node.outputs[i] < 0 || types.back().dims);
  }
  if (ranked || !node.found.entry || !node.found.entry->infer || !node.subgraphs.empty())
    return types;
  Site site(node.node, node.found.schema->since_version);
  for (const Abstract& input : inputs)
    site.inputs.push_back(
        {input.type.kind != ValueType::Kind::unknown, input.type, input.exact, {}});
  // A rule may rely on what the node is required to be.
  Check check(site, *node.found.schema);
  check_node(check, *node.found.entry, *node.found.schema);
  if (!check.violations.empty()) return types;
  Infer infer(site);
  try {
    node.found.entry->infer(infer);
  } catch (const EvaluationError&) {
    return types;
  }
  for (std::size_t i = 0; i < types.size() && i < infer.outputs.size(); ++i)
    if (!types[i].dims && infer.outputs[i].is_tensor()) types[i] = infer.outputs[i];
  return types;
}

void Analysis::run_node(const PlannedNode& node, Scope& scope) {
  std::vector<Abstract> inputs;
  inputs.reserve(node.inputs.size());
  for (const SlotRef& input : node.inputs) inputs.push_back(scope.take(input));
  Situation s{node,    inputs,    types_of(node, scope, inputs), options_.setting, forms_, steps_,
              ranges_, transfers_};
  Analyzed seen{node, scope.path, inputs, {}, {}};
  seen.unreachable = !scope.reachable || std::any_of(inputs.begin(), inputs.end(), impossible);
  std::vector<Abstract> outputs;
  if (seen.unreachable) {
    for (const ValueType& type : s.output_types)
      outputs.push_back(uniform(type, Interval::no_number(false)));
  } else {
    outputs = transfer(s, scope, seen);
  }
  outputs.resize(node.outputs.size());
  settle(s, outputs, seen);
  seen.outputs = outputs;
  seen.applied = s.applied;
  seen.left_type = s.left_type;
  if (collecting_) {
    Situation& outer = collecting_->situation;
    outer.applied.insert(outer.applied.end(), s.applied.begin(), s.applied.end());
    if (s.left_type) outer.left_type = s.left_type;
    if (seen.overflows && !collecting_->overflow) collecting_->overflow = seen.before_overflow;
  } else {
    emit(seen);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    scope.put(node.outputs[i], std::move(outputs[i]));
}

void Analysis::emit(const Analyzed& seen) {
  if (options_.observe && !quiet_) options_.observe(seen);
}

// Results are narrowed to what can go on: a finite operand that gives an infinity or NaN, or an
// infinite one that gives NaN, is reported here, and everything behind is judged as if it had not
// happened.
void Analysis::narrow(Abstract& output, bool operands_finite, Analyzed& seen) {
  for (Cell& cell : output.cells) {
    if (finite(cell.range) || (!cell.range.has_number() && !cell.range.nan)) continue;
    if (!operands_finite && !cell.range.nan) continue;
    if (!seen.overflows) seen.before_overflow = cell.range;
    seen.overflows = true;
    seen.from_infinity = !operands_finite;
    output.assumed = true;  // what is behind overflows for this reason, which has been told
    const Interval inside =
        operands_finite ? meet(cell.range, finite_range(output.type.element)) : cell.range;
    cell = {inside.has_number() ? Interval{inside.low, inside.high, false}
                                : Interval::no_number(false)};
  }
}

// Numbers come from operands of their own kind where there are any: an index or a shape that nobody
// knows does not make the elements that it chooses unknown.
void Analysis::inherit(const Situation& s, bool unknown, Abstract& output) {
  bool own = false, of_own = false, of_any = false, empty = false;
  for (const Abstract& input : s.inputs) {
    if (!input.is_tensor()) continue;
    const bool same = input.real() == output.real();
    own = own || same;
    of_own = of_own || (same && input.assumed);
    of_any = of_any || input.assumed;
    empty = empty || input.may_be_empty;
  }
  output.assumed = output.assumed || unknown || (own ? of_own : of_any);
  output.may_be_empty = output.ranked() && is_open(*output.type.dims) &&
                        (empty || data_decide_extents(s.node, s.inputs));
}

const Interval* Analysis::override_of(const Analyzed& seen, std::size_t output) const {
  if (options_.overrides.empty()) return nullptr;
  for (const std::string& name : {seen.path + seen.node.node.outputs[output], seen.name()}) {
    const auto given = options_.overrides.find(name);
    if (given != options_.overrides.end()) return &given->second;
  }
  return nullptr;
}

void Analysis::settle(Situation& s, std::vector<Abstract>& outputs, Analyzed& seen) {
  RootSet roots, mixed;
  const bool elementwise = s.node.found.entry && s.node.subgraphs.empty() &&
                           s.node.found.entry->meaning.pattern == Pattern::elementwise;
  bool operands_finite = true, operands_numbers = true;
  for (const Abstract& input : s.inputs) {
    roots.add(input.roots);
    mixed.add(input.mixed);
    if (!input.real()) continue;
    const ElementKinds kinds = kinds_of(input);
    operands_finite = operands_finite && kinds.finite;
    operands_numbers = operands_numbers && !kinds.nan;
  }
  if (!elementwise) mixed = roots;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Abstract& output = outputs[i];
    if (!output.is_tensor()) continue;
    output.roots = roots;
    output.mixed = mixed;
    inherit(s, seen.unknown, output);
    if (output.real() && operands_numbers && !output.exact.defined())
      narrow(output, operands_finite, seen);
    output.assumed = output.assumed || seen.overflows;
    if (const Interval* given = override_of(seen, i)) {
      output = uniform(output.type, *given);
      output.roots = roots;
      output.mixed = mixed;
    }
    give_forms(output);
  }
}

// In the affine domain, a cell that is nothing else is a variable of its own.
void Analysis::give_forms(Abstract& value) {
  if (options_.setting.numbers != NumberMode::affine || !value.real() || !value.ranked() ||
      value.exact.defined())
    return;
  int tensor = -1;
  for (std::size_t c = 0; c < value.cells.size(); ++c) {
    Cell& cell = value.cells[c];
    if (cell.form != 0 || !finite(cell.range)) continue;
    if (tensor < 0) tensor = forms_.new_tensor();
    cell.form = forms_.cell(tensor, static_cast<std::int64_t>(c), value.rank(), cell.range);
  }
}

std::vector<Abstract> Analysis::unknown(const Situation& s, Analyzed& seen, std::string reason) {
  seen.unknown = true;
  seen.reason = std::move(reason);
  std::vector<Abstract> outputs;
  for (const ValueType& type : s.output_types) outputs.push_back(anything(type));
  return outputs;
}

std::vector<Abstract> Analysis::transfer(Situation& s, Scope& scope, Analyzed& seen) {
  const PlannedNode& node = s.node;
  if (node.function) {
    Scope inner{*node.function, scope.path + node.path_into_function(), nullptr, scope.known};
    inner.reachable = scope.reachable;
    inner.enter();
    for (std::size_t i = 0; i < node.function->inputs.size() && i < s.inputs.size(); ++i)
      inner.put(node.function->inputs[i], s.inputs[i]);
    run_in(*node.function, inner);
    return inner.outputs();
  }
  if (!node.found.entry) return unknown(s, seen, "the operator is not in the catalogue");
  if (node.outputs.size() == 1)
    if (auto known = inferred_value(node, scope.find(node, 0), s.inputs))
      return {*std::move(known)};
  for (const Abstract& input : s.inputs)
    if (input.type.kind != ValueType::Kind::unknown && !input.is_tensor())
      return unknown(s, seen, "an input is no tensor");
  for (std::size_t i = 0; i < node.node.inputs.size(); ++i)
    if (!node.node.inputs[i].empty() &&
        (!s.inputs[i].is_tensor() || s.inputs[i].type.element == ElementType::undefined))
      return unknown(s, seen, "nothing is known of an input");
  try {
    if (!node.subgraphs.empty()) return control(s, scope, seen);
    if (node.found.entry->meaning.composition) return composed(s, seen);
    std::vector<Abstract> outputs = derived(s, seen);
    if (outputs.size() == 1) keep_extents(node, scope.find(node, 0), s.inputs, outputs[0]);
    return outputs;
  } catch (const EvaluationError& failure) {
    // Of open extents, only one choice was tried.
    const bool open = std::any_of(s.inputs.begin(), s.inputs.end(), [](const Abstract& input) {
      return input.ranked() && is_open(*input.type.dims);
    });
    if (!open) seen.failure = failure.what();
    return unknown(s, seen, failure.what());
  } catch (const MemoryLimitError& failure) {
    return unknown(s, seen, failure.what());
  }
}

std::vector<Abstract> Analysis::derived(Situation& s, Analyzed& seen) {
  if (Outputs found = assay::transfer(s)) return *std::move(found);
  s.forget();
  return unknown(s, seen, "no rule for ranges of this size");
}

std::vector<Abstract> Analysis::composed(Situation& s, Analyzed& seen) {
  Site site(s.node.node, s.node.found.schema->since_version);
  TypeOptions types;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const Abstract& input = s.inputs[i];
    Known known{input.is_tensor(), input.type, input.exact, {}};
    if (known.type.is_tensor() && known.type.dims)
      known.type.dims = to_dims(concrete(*known.type.dims));
    site.inputs.push_back(std::move(known));
  }
  Model model;
  model.opsets = newest_opsets();
  model.graph = compose(s.node.found.entry->meaning.composition, site);
  for (std::size_t i = 0; i < model.graph.inputs.size() && i < s.inputs.size(); ++i)
    types.inputs[model.graph.inputs[i].name] = s.inputs[i].type;
  const std::unique_ptr<Plan> plan = make_plan(model.graph, {&model.opsets});
  Scope inner{*plan, "", nullptr, known_values(model, types)};
  inner.enter();
  for (std::size_t i = 0; i < plan->inputs.size() && i < s.inputs.size(); ++i)
    inner.put(plan->inputs[i], s.inputs[i]);
  Collected collected{s, {}};
  Collected* const before = std::exchange(collecting_, &collected);
  run_in(*plan, inner);
  collecting_ = before;
  if (collected.overflow) {
    seen.overflows = true;
    seen.before_overflow = *collected.overflow;
  }
  // The graph was made for one choice of open extents: shapes are only what inference says.
  const bool open = std::any_of(s.inputs.begin(), s.inputs.end(), [](const Abstract& input) {
    return input.ranked() && is_open(*input.type.dims);
  });
  std::vector<Abstract> outputs = inner.outputs();
  for (std::size_t i = 0; open && i < outputs.size() && i < s.output_types.size(); ++i) {
    Abstract& output = outputs[i];
    if (output.is_tensor() && !same_extents(output.type, s.output_types[i]))
      output = uniform(s.output_types[i], hull_of(output));
  }
  return outputs;
}

}  // namespace assay
