#include "ops/control_scan.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/names.h"
#include "ops/container_pieces.h"

namespace assay {
namespace {

// A node's values: `skipped` inputs, then states, then the inputs that are scanned.
struct Layout {
  std::size_t skipped, states, scanned;
};

Layout layout(const Site& site) {
  const std::size_t skipped = site.version() < 9 ? 1 : 0;
  const auto scanned = static_cast<std::size_t>(site.integer("num_scan_inputs"));
  return {skipped, site.input_count() - skipped - scanned, scanned};
}

// A list attribute's entry, or 0 where the list is absent.
std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i) {
  return i < list.size() ? list[i] : 0;
}

// The element at `t` along `axis`, without that axis.
Value element_at(const Value& value, std::size_t axis, std::int64_t t) {
  return piece(value, axis, t, t + 1).reshaped(without_axis(value.shape(), axis));
}

void check_state(const Call& call, const Value& before, const Value& after, std::size_t k) {
  if (!before.is_tensor() || !after.is_tensor()) return;
  if (before.type() != after.type() || before.shape() != after.shape())
    throw EvaluationError(
        call.node().op + ".state-type",
        fmt::format("the body makes {} of state {}, which is {}", to_text(after.value_type()), k,
                    to_text(before.value_type())));
}

// Axes of the scanned inputs, normalised.
std::vector<std::size_t> input_axes(const Call& call, const Layout& at) {
  const std::vector<std::int64_t>& given = call.site.integers("scan_input_axes");
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < at.scanned; ++i)
    axes.push_back(static_cast<std::size_t>(
        *normalize_axis(entry(given, i), call.input(at.states + i).tensor().rank())));
  return axes;
}

// One pass over `steps` elements: the final states, then for each scan output its elements.
struct Pass {
  std::vector<Value> states;
  std::vector<std::vector<Value>> scans;
};

template <class Element>
Pass run_pass(Call& call, std::vector<Value> states, std::size_t scanned, std::int64_t steps,
              const Element& element) {
  const Graph& body = *call.site.graph("body");
  Pass pass{std::move(states), std::vector<std::vector<Value>>(body.outputs.size())};
  const std::size_t count = pass.states.size();
  pass.scans.resize(body.outputs.size() - count);
  for (std::int64_t t = 0; t < steps; ++t) {
    std::vector<Value> inputs = pass.states;
    for (std::size_t i = 0; i < scanned; ++i) inputs.push_back(element(i, t));
    std::vector<Value> results = call.evaluator.run_subgraph(call, body, inputs, t);
    for (std::size_t k = 0; k < count; ++k) {
      check_state(call, pass.states[k], results[k], k);
      pass.states[k] = std::move(results[k]);
    }
    for (std::size_t k = 0; k < pass.scans.size(); ++k)
      pass.scans[k].push_back(std::move(results[count + k]));
  }
  return pass;
}

void evaluate_scan(Call& call) {
  const Graph& body = *call.site.graph("body");
  const Layout at = layout(call.site);
  const std::vector<std::size_t> axes = input_axes(call, at);
  const std::vector<std::int64_t>& backward = call.site.integers("scan_input_directions");
  const std::int64_t steps = call.input(at.states).shape()[axes[0]];
  const auto element = [&](std::size_t i, std::int64_t t) {
    return element_at(call.input(at.states + i), axes[i],
                      entry(backward, i) != 0 ? steps - 1 - t : t);
  };
  Pass pass = run_pass(
      call, {call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(at.states)},
      at.scanned, steps, element);
  const std::vector<std::int64_t>& prepend = call.site.integers("scan_output_directions");
  const std::vector<std::int64_t>& out_axes = call.site.integers("scan_output_axes");
  for (std::size_t k = 0; k < at.states; ++k) call.outputs[k] = std::move(pass.states[k]);
  for (std::size_t k = 0; k < pass.scans.size(); ++k) {
    if (entry(prepend, k) != 0) std::reverse(pass.scans[k].begin(), pass.scans[k].end());
    call.outputs[at.states + k] =
        stacked(call, std::move(pass.scans[k]), body.outputs[at.states + k], entry(out_axes, k));
  }
  note_unknown(call);
}

std::vector<std::int64_t> sequence_lengths(const Call& call, std::int64_t batch,
                                           std::int64_t longest) {
  if (!call.has(0)) return std::vector<std::int64_t>(static_cast<std::size_t>(batch), longest);
  std::vector<std::int64_t> lengths = call.exact(0).integers();
  for (std::int64_t length : lengths)
    if (length < 0 || length > longest)
      throw EvaluationError("Scan.sequence-lens",
                            fmt::format("a length of {} where {} is the longest", length, longest));
  return lengths;
}

// Beyond the length of a sequence the standard leaves scan outputs open: zeros here.
void pad_scans(Pass& pass, std::int64_t longest) {
  for (std::vector<Value>& scan : pass.scans)
    while (!scan.empty() && scan.front().is_tensor() &&
           static_cast<std::int64_t>(scan.size()) < longest)
      scan.push_back(Tensor(scan.front().type(), scan.front().shape()));
}

void evaluate_batches(Call& call) {
  const Graph& body = *call.site.graph("body");
  const Layout at = layout(call.site);
  const std::size_t first = at.skipped + at.states;
  const std::int64_t batch = call.input(first).shape()[0], longest = call.input(first).shape()[1];
  const std::vector<std::int64_t> lengths = sequence_lengths(call, batch, longest);
  const std::vector<std::int64_t>& backward = call.site.integers("directions");
  std::vector<std::vector<Value>> results(body.outputs.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t steps = lengths[static_cast<std::size_t>(b)];
    std::vector<Value> states, sources;
    for (std::size_t k = 0; k < at.states; ++k)
      states.push_back(element_at(call.input(at.skipped + k), 0, b));
    for (std::size_t i = 0; i < at.scanned; ++i)
      sources.push_back(element_at(call.input(first + i), 0, b));
    Pass pass =
        run_pass(call, std::move(states), at.scanned, steps, [&](std::size_t i, std::int64_t t) {
          return element_at(sources[i], 0, entry(backward, i) != 0 ? steps - 1 - t : t);
        });
    pad_scans(pass, longest);
    for (std::size_t k = 0; k < at.states; ++k) results[k].push_back(std::move(pass.states[k]));
    for (std::size_t k = 0; k < pass.scans.size(); ++k)
      results[at.states + k].push_back(
          stacked(call, std::move(pass.scans[k]), body.outputs[at.states + k]));
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    call.outputs[k] = stacked(call, std::move(results[k]), body.outputs[k]);
  note_unknown(call);
}

bool require_flags(Check& c, std::string_view attribute, std::size_t count) {
  return c.length(attribute, static_cast<std::int64_t>(count)) &&
         c.in_range(attribute, between(0, 1));
}

// The scanned inputs have one extent along their axes (and, in version 8, one batch).
void require_steps(Check& c, const Layout& at, std::size_t lead) {
  const std::vector<std::int64_t>& given = c.site.integers("scan_input_axes");
  Dim steps;
  for (std::size_t i = 0; i < at.scanned; ++i) {
    const std::size_t input = at.skipped + at.states + i;
    const Dims* dims = c.site.dims(input);
    if (!dims) {
      c.undecided("axis-range", fmt::format("the rank of scan input {}", i));
      continue;
    }
    const auto rank = static_cast<std::int64_t>(dims->size());
    const std::int64_t axis = lead > 0 ? static_cast<std::int64_t>(lead) : entry(given, i);
    const bool back = c.site.version() >= 11;
    if (!c.axis("scan_input_axes", axis, between(back ? -rank : 0, rank - 1))) continue;
    const Dim& extent = (*dims)[static_cast<std::size_t>(*normalize_axis(axis, rank))];
    c.shape(!extent.differs_from(steps), "same-length",
            fmt::format("{} steps along axis {} of scan input {}", steps.value, axis, i),
            fmt::format("{}", extent.value));
    if (extent.known()) steps = extent;
  }
}

void require_scan(Check& c) {
  const std::size_t skipped = c.site.version() < 9 ? 1 : 0;
  const auto most =
      static_cast<std::int64_t>(c.site.input_count()) - static_cast<std::int64_t>(skipped);
  if (!c.in_range("num_scan_inputs", between(1, most))) return;
  const Layout at = layout(c.site);
  if (!require_body(c, "body", at.states + at.scanned, c.site.output_count())) return;
  if (!c.argument(c.site.output_count() >= at.states, "outputs",
                  fmt::format("at least {} outputs", at.states),
                  fmt::format("{}", c.site.output_count())))
    return;
  for (std::size_t i = skipped; i < c.site.input_count(); ++i)
    if (!c.argument(c.site.has_input(i), "inputs", fmt::format("input {}", i), "none")) return;
  require_flags(c, "directions", at.scanned);
  require_flags(c, "scan_input_directions", at.scanned);
  const std::size_t outputs = c.site.output_count() - at.states;
  require_flags(c, "scan_output_directions", outputs);
  c.length("scan_output_axes", static_cast<std::int64_t>(outputs));
  if (!c.length("scan_input_axes", static_cast<std::int64_t>(at.scanned))) return;
  require_steps(c, at, skipped);
}

void require_batches(Check& c) {
  require_scan(c);
  if (!c.violations.empty()) return;
  Dim batch;
  for (std::size_t i = 1; i < c.site.input_count(); ++i) {
    const Dims* dims = c.site.dims(i);
    if (!dims) continue;
    if (!c.shape(!dims->empty(), "batch", fmt::format("a batch axis of input {}", i), "rank 0"))
      return;
    c.shape(!dims->front().differs_from(batch), "batch", fmt::format("a batch of {}", batch.value),
            fmt::format("{} in input {}", dims->front().value, i));
    if (dims->front().known()) batch = dims->front();
  }
  if (c.rank("sequence_lens", exactly(1)) && c.site.has_input(0))
    c.extent("sequence_lens", 0, batch, "the batch");
}

void infer_scan(Infer& n) {
  if (!n.subgraphs) return;
  const Layout at = layout(n.site);
  const std::vector<std::int64_t>& axes = n.site.integers("scan_input_axes");
  const std::vector<std::int64_t>& out_axes = n.site.integers("scan_output_axes");
  std::vector<ValueType> inputs;
  Dim steps, batch;
  for (std::size_t i = at.skipped; i < n.site.input_count(); ++i) {
    ValueType type = n.site.type(i);
    if (type.dims && at.skipped) {
      batch = type.dims->front();
      type.dims->erase(type.dims->begin());
    }
    if (type.dims && i >= at.skipped + at.states) {
      const std::int64_t axis = entry(axes, i - at.skipped - at.states);
      const auto place = normalize_axis(axis, static_cast<std::int64_t>(type.dims->size()));
      if (!place) return;
      steps = (*type.dims)[static_cast<std::size_t>(*place)];
      type.dims->erase(type.dims->begin() + *place);
    }
    inputs.push_back(std::move(type));
  }
  std::vector<ValueType> results = n.subgraphs->infer(*n.site.graph("body"), inputs);
  for (std::size_t k = 0; k < results.size(); ++k) {
    ValueType& type = results[k];
    if (type.dims && k >= at.states) {
      const auto rank = static_cast<std::int64_t>(type.dims->size()) + 1;
      const auto place = normalize_axis(entry(out_axes, k - at.states), rank);
      if (!place) return;
      type.dims->insert(type.dims->begin() + *place, steps);
    }
    if (type.dims && at.skipped) type.dims->insert(type.dims->begin(), batch);
    n.output(k, std::move(type));
  }
}

}  // namespace

Value stacked(const Call& call, std::vector<Value> parts, const NamedType& declared,
              std::int64_t axis) {
  const std::string& op = call.node().op;
  if (parts.empty() && declared.type.element == ElementType::undefined)
    throw EvaluationError(op + ".scan-type", fmt::format("nothing was run and {} has no type",
                                                         in_quotes(declared.name)));
  if (std::any_of(parts.begin(), parts.end(), [](const Value& v) { return !v.is_tensor(); }))
    return Value::unknown();
  Shape shape = parts.empty() ? Shape() : parts[0].shape();
  if (parts.empty() && declared.type.dims)
    for (const Dim& dim : *declared.type.dims)
      shape.push_back(std::max<std::int64_t>(dim.value, 0));
  const auto place = normalize_axis(axis, static_cast<std::int64_t>(shape.size()) + 1);
  if (!place)
    throw EvaluationError(op + ".axis-range", fmt::format("axis {} of a scan output of rank {}",
                                                          axis, shape.size() + 1));
  const auto along = static_cast<std::size_t>(*place);
  if (parts.empty()) return Tensor(declared.type.element, with_axis(shape, along, 0));
  for (Value& part : parts) {
    if (part.shape() != shape || part.type() != parts[0].type())
      throw EvaluationError(
          op + ".scan-shape",
          fmt::format("{} is {} after an iteration of {}", in_quotes(declared.name),
                      to_text(part.value_type()), to_text(shape)));
    part = part.reshaped(with_axis(shape, along, 1));
  }
  return joined(parts, along);
}

void note_unknown(Call& call) {
  for (const Value& output : call.outputs)
    call.unknown = call.unknown || output.kind() == Value::Kind::unknown;
}

Operator scan() {
  return {
      .name = "Scan",
      .versions = {9, 11, 16, 19, 21, 23, 24, 25},
      .summary = "A graph run along an axis of its inputs, with states carried from step to step.",
      .attributes = {{"body", Role::body},
                     {"num_scan_inputs", Role::count},
                     {"scan_input_axes", Role::axes},
                     {"scan_input_directions", Role::flag},
                     {"scan_output_axes", Role::axes},
                     {"scan_output_directions", Role::flag}},
      .require = require_scan,
      .infer = infer_scan,
      .meaning = custom(Pattern::control, evaluate_scan)};
}

Operator scan_of_batches() {
  return {
      .name = "Scan",
      .versions = {8},
      .summary = "A graph run along axis 1 of its inputs, for each element of the batch, axis 0.",
      .attributes = {{"body", Role::body},
                     {"directions", Role::flag},
                     {"num_scan_inputs", Role::count}},
      .require = require_batches,
      .infer = infer_scan,
      .meaning = custom(Pattern::control, evaluate_batches)};
}

}  // namespace assay
