// The transfers that hold for every node: exactly known inputs, and element by element.
#include "numeric/transfer.h"

#include <algorithm>

#include "patterns/array.h"
#include "scalar/watch.h"
#include "semantics/run.h"

namespace assay {
namespace {

constexpr std::int64_t kMostDense = 1 << 14;     // elements of an input or output
constexpr std::int64_t kMostFolded = 1 << 16;    // elements that are computed exactly
constexpr std::int64_t kMostRepeated = 1 << 10;  // of these, if they are a few over and over

class Listener : public Watch {
 public:
  explicit Listener(Situation& situation) : situation_(&situation) {}
  void applied(Operation function, const Interval& a, const Interval& b,
               const Interval& result) override {
    const Rounding& format = rounding();
    situation_->applied.push_back({function, a, b, result, format.largest, format.smallest_normal});
  }
  void added(const Interval&, const Interval&, const Interval&) override {}
  void multiplied(const Interval&, const Interval&, const Interval&) override {}
  void chose_larger(const Interval&, const Interval&, const Interval&) override {}
  void named_constant(const Interval&) override {}
  void left_type(const Interval& range) override {
    std::optional<Interval>& left = situation_->left_type;
    left = left ? Interval{std::min(left->low, range.low), std::max(left->high, range.high),
                           left->nan || range.nan}
                : range;
  }
  void compared() override {}

 private:
  Situation* situation_;
};

bool numeric(const ValueType& type) { return type.is_tensor() && has_numbers(type.element); }

bool small(const ValueType& type, std::int64_t most) {
  const auto shape = type.dims ? to_shape(*type.dims) : std::nullopt;
  const auto count = shape ? checked_element_count(*shape) : std::nullopt;
  return count && *count <= most;
}

Value expanded(const Abstract& x) {
  if (x.exact.defined()) return x.exact;
  Cuts cuts;
  const Shape shape = *to_shape(*x.type.dims);
  for (std::int64_t extent : shape) cuts.push_back(every_position(extent));
  std::vector<Interval> ranges;
  if (element_count(shape) > 0)
    for (const Cell& cell : regrid(x, cuts)) ranges.push_back(cell.range);
  return Value::ranges(x.type.element, shape, std::move(ranges));
}

Abstract collected(const Value& value, const ValueType& type, TensorMode mode) {
  if (value.exact()) return constant_abstract(value.tensor());
  Abstract result = uniform(type, Interval::no_number(false));
  result.type.dims = to_dims(value.shape());
  result.cuts.assign(value.shape().size(), {});
  Abstract full = result;
  for (std::size_t d = 0; d < full.cuts.size(); ++d)
    full.cuts[d] = every_position(value.shape()[d]);
  full.cells.clear();
  for (const Interval& range : *value.intervals()) full.cells.push_back({range});
  if (mode != TensorMode::smash) result.cuts = limited(full.cuts, most_cells(mode));
  result.cells = regrid(full, result.cuts);
  return result;
}

}  // namespace

Shape concrete(const Dims& dims) {
  Shape shape;
  for (const Dim& dim : dims)
    shape.push_back(dim.known() ? dim.value : kOpenExtent * dim.symbol.factor());
  return shape;
}

bool is_open(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return !dim.known(); });
}

std::int64_t most_cells(TensorMode mode) {
  return mode == TensorMode::smash ? 1 : mode == TensorMode::expand ? 1 << 18 : 2048;
}

std::optional<std::vector<Value>> run_watched(Situation& s, std::span<const Value> inputs) {
  return run_watched(s, s.node, inputs);
}

std::optional<std::vector<Value>> run_watched(Situation& s, const PlannedNode& node,
                                              std::span<const Value> inputs) {
  std::string key = RangeMemory::key_of(node, inputs, counts());
  if (const RangeMemory::Said* said = key.empty() ? nullptr : s.memory.find(key)) {
    s.applied = said->applied;
    s.left_type = said->left_type;
    return said->outputs;
  }
  Listener listener(s);
  const WatchScope scope(&listener);
  EvaluateOptions options;
  options.reading = Reading::interval;
  RunMemory memory;
  bool unknown = false;
  std::vector<Value> outputs = Run(options, memory).run_single(node, inputs, &unknown);
  const bool blind = std::any_of(outputs.begin(), outputs.end(), [](const Value& value) {
    return value.kind() == Value::Kind::unknown;
  });
  if (unknown || blind) return std::nullopt;
  if (!key.empty()) s.memory.keep(std::move(key), {outputs, s.applied, s.left_type});
  return outputs;
}

Outputs transfer_exact(Situation& s) {
  const Pattern pattern = s.node.found.entry->meaning.pattern;
  if (pattern == Pattern::random || !s.node.subgraphs.empty()) return std::nullopt;
  std::vector<Value> inputs;
  inputs.reserve(s.inputs.size());
  std::int64_t given = 0;
  for (const Abstract& input : s.inputs) {
    if (!input.is_tensor()) {
      inputs.emplace_back();
    } else if (!input.exact.defined() || input.exact.size() > kMostFolded) {
      return std::nullopt;
    } else {
      inputs.emplace_back(input.exact);
      given += input.exact.size();
    }
  }
  const bool copies = pattern == Pattern::move || pattern == Pattern::gather;
  const std::int64_t most = std::min(kMostFolded, std::max(kMostRepeated, 4 * given));
  const bool small_outputs =
      std::all_of(s.output_types.begin(), s.output_types.end(), [&](const ValueType& type) {
        const bool exact =
            !type.is_tensor() || !is_real(type.element) || copies || pattern == Pattern::generate;
        return exact && (!type.is_tensor() || small(type, most));
      });
  if (!small_outputs) return std::nullopt;
  EvaluateOptions options;
  RunMemory memory;
  bool unknown = false;
  const std::vector<Value> values = Run(options, memory).run_single(s.node, inputs, &unknown);
  std::vector<Abstract> outputs;
  for (const Value& value : values) {
    if (value.present() && (unknown || !value.is_tensor() || !value.exact())) return std::nullopt;
    outputs.push_back(value.present() ? constant_abstract(value.tensor()) : Abstract{});
  }
  return outputs;
}

Outputs transfer_dense(Situation& s) {
  if (!s.node.subgraphs.empty()) return std::nullopt;
  std::vector<Value> inputs;
  for (const Abstract& input : s.inputs) {
    if (!input.is_tensor()) {
      inputs.emplace_back();
      continue;
    }
    const bool usable = input.exact.defined() || numeric(input.type);
    if (!usable || !small(input.type, kMostDense)) return std::nullopt;
    inputs.push_back(expanded(input));
  }
  for (const ValueType& type : s.output_types)
    if (type.is_tensor() && type.dims && !small(type, kMostDense)) return std::nullopt;
  const auto values = run_watched(s, inputs);
  if (!values) return std::nullopt;
  std::vector<Abstract> outputs;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Value& value = (*values)[i];
    if (!value.present()) {
      outputs.emplace_back();
      continue;
    }
    if (!value.is_tensor()) return std::nullopt;
    outputs.push_back(collected(value, s.output_types[i], s.setting.tensors));
  }
  return outputs;
}

namespace {

Outputs first_that_applies(Situation& s) {
  if (Outputs found = transfer_exact(s)) return found;
  const bool copies = s.node.found.entry->meaning.pattern == Pattern::gather;
  const auto second = copies ? transfer_dense : transfer_moved;
  const auto third = copies ? transfer_moved : transfer_dense;
  for (const auto& attempt : {transfer_aligned, second, third}) {
    s.forget();
    if (Outputs found = attempt(s)) return found;
  }
  return std::nullopt;
}

// As for another node that was the same but for the forms of its inputs.
Outputs remembered(Situation& s, NumberedForms& forms) {
  std::string key = TransferMemory::key_of(s, forms);
  const TransferMemory::Said* said = key.empty() ? nullptr : s.transfers.find(key);
  if (said) {
    s.applied = said->applied;
    s.left_type = said->left_type;
    s.elementwise = said->elementwise;
    Outputs outputs = said->outputs;
    if (outputs) forms.resolve(said->views, *outputs, s.forms);
    return outputs;
  }
  s.numbered = &forms;
  Outputs outputs = first_that_applies(s);
  s.numbered = nullptr;
  if (!key.empty())
    s.transfers.keep(std::move(key),
                     {outputs, forms.views(), s.elementwise, s.applied, s.left_type});
  if (outputs) forms.resolve(forms.views(), *outputs, s.forms);
  return outputs;
}

}  // namespace

Outputs transfer(Situation& s) {
  Outputs outputs = transfer_points(s);
  if (!outputs && TransferMemory::are_short(s.inputs)) {
    NumberedForms forms(s.inputs);
    outputs = remembered(s, forms);
  } else if (!outputs) {
    outputs = first_that_applies(s);
  }
  if (outputs && s.elementwise) attach_forms(s, outputs->front());
  return outputs;
}

}  // namespace assay
