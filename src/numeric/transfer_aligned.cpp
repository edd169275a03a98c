// Aligned nodes: the catalogue's own Interval reading, on tensors with one element for each cell.
#include <algorithm>
#include <memory>

#include "numeric/aligned_axes.h"
#include "numeric/transfer.h"
#include "ops/alignment.h"
#include "patterns/array.h"
#include "patterns/window.h"
#include "scalar/watch.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::int64_t kMostRow = 1 << 16;
constexpr std::int64_t kMostCompact = 1 << 22;
constexpr std::int64_t kMostWork = 1 << 20;  // terms of all sums of a contraction together

class Compaction {
 public:
  Compaction(Situation& s, Alignment alignment) : s_(&s), alignment_(std::move(alignment)) {}

  Outputs run() {
    if (!read_axes()) return std::nullopt;
    settle_groups();
    if (!settle_axes()) return std::nullopt;
    std::vector<Value> inputs;
    inputs.reserve(s_->inputs.size());
    for (std::size_t i = 0; i < s_->inputs.size(); ++i) inputs.push_back(compact(i));
    std::optional<std::vector<Value>> values;
    try {
      values = evaluate(inputs);
    } catch (const EvaluationError&) {  // an operator that is particular about extents
      return std::nullopt;
    }
    if (!values || !(*values)[0].is_tensor()) return std::nullopt;
    std::optional<Abstract> first = restored((*values)[0]);
    if (!first) return std::nullopt;
    s_->elementwise = alignment_.elementwise;
    std::vector<Abstract> outputs = {*std::move(first)};
    for (std::size_t i = 1; i < s_->output_types.size(); ++i)
      outputs.push_back(anything(s_->output_types[i]));
    return outputs;
  }

 private:
  const Dims& dims(std::size_t i) const { return *s_->inputs[i].type.dims; }
  bool broadcast(std::size_t i, std::size_t d) const { return dims(i)[d].value == 1; }

  bool read_axes();
  void settle_groups();
  bool settle_axes();
  bool settle_windows();
  bool fixed(int letter) const;
  Cuts own_cuts(std::size_t i) const;
  Cuts cuts_of(std::size_t i) const;
  Value compact(std::size_t i) const;
  std::int64_t work() const;
  std::optional<std::vector<Value>> evaluate(std::span<const Value> inputs);
  std::optional<Abstract> restored(const Value& value) const;

  Situation* s_;
  Alignment alignment_;
  AlignedAxes axes_;
  std::optional<Counts> counts_;
  std::unique_ptr<PlannedNode> single_;  // for one of the groups, if they are all alike
};

bool differ(const Tensor& tensor) {
  const Interval all = hull_of(constant_abstract(tensor));
  return all.nan || all.low != all.high;
}

// The elements of an exact operand of a contraction all count, and so do those of a small tensor.
// Where they are all the same they cut nothing but rows: a bias of zeros leaves channels alone.
Cuts Compaction::own_cuts(std::size_t i) const {
  const Abstract& x = s_->inputs[i];
  const TensorMode mode = s_->setting.tensors;
  const bool contraction = !alignment_.rows.empty() && !alignment_.countable;
  Cuts cuts = natural_cuts(x, mode);
  if (!x.exact.defined() || mode == TensorMode::smash || (!contraction && cuts == x.cuts)) {
    return cuts;
  }
  const bool all = differ(x.exact);
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    const bool row = std::ranges::count(alignment_.rows, alignment_.inputs[i][d]) > 0;
    if (all) cuts[d] = every_position(dims(i)[d].value);
    if (!all && !row && mode == TensorMode::partition) cuts[d] = x.cuts[d];
  }
  return cuts;
}

// The cuts of all tensors along a letter, united.
bool Compaction::read_axes() {
  for (std::size_t i = 0; i < s_->inputs.size(); ++i) {
    if (!s_->present(i)) continue;
    const Abstract& x = s_->inputs[i];
    if (alignment_.inputs[i].size() != x.rank()) return false;
    if (!x.exact.defined() && x.cells.empty()) return false;
    const Cuts cuts = own_cuts(i);
    for (std::size_t d = 0; d < x.rank(); ++d) {
      AlignedAxis& axis = axes_[alignment_.inputs[i][d]];
      if (broadcast(i, d)) continue;
      const Dim& extent = dims(i)[d];
      if (extent.known() && extent.value == 0) return false;
      if (extent.known()) axis.extent = std::max(axis.extent, extent.value);
      axis.open = axis.open || !extent.known();
      axis.times = std::max(axis.times, extent.symbol.factor());
      axis.cuts = united(axis.cuts, cuts[d]);
    }
  }
  for (auto& [letter, axis] : axes_) {
    if (axis.extent > 1) axis.open = false;  // the others are that, or 1
    if (axis.open) axis.cuts.clear();
  }
  return true;
}

// Groups whose elements have the same ranges are all like one of them.
void Compaction::settle_groups() {
  const std::optional<Groups>& groups = alignment_.groups;
  if (!groups) return;
  const auto alike = [&](int letter) {
    const AlignedAxis& axis = axes_.at(letter);
    return axis.cuts.empty() && !axis.open && axis.extent % groups->count == 0;
  };
  if (!std::all_of(groups->letters.begin(), groups->letters.end(), alike)) return;
  for (const Abstract& input : s_->inputs)
    if (input.exact.defined() && differ(input.exact)) return;
  for (const int letter : groups->letters) {
    axes_.at(letter).extent /= groups->count;
    axes_.at(letter).one_group = true;
  }
  single_ = std::make_unique<PlannedNode>(groups->single, s_->node.found);
  single_->position = s_->node.position;
  single_->inputs = s_->node.inputs;
  single_->outputs = s_->node.outputs;
}

// Whether elements along the axis are all looked at: they depend on each other, and none may stand
// for several.
bool Compaction::fixed(int letter) const {
  return axes_.at(letter).row && !alignment_.countable && letter != alignment_.counted;
}

bool Compaction::settle_axes() {
  for (int letter : alignment_.rows) axes_[letter].row = true;
  for (int letter : alignment_.windows) {
    axes_[letter].window = true;
    axes_[letter].cuts.clear();
  }
  for (auto& [letter, axis] : axes_) {
    if (!fixed(letter)) continue;
    if (axis.open || axis.extent > kMostRow) return false;
    axis.cuts = every_position(axis.extent);
  }
  std::int64_t row = 1;  // elements that each cell of a contraction is made of
  for (const auto& [letter, axis] : axes_)
    if (axis.row && !alignment_.countable) row = std::min(row * axis.cells(), kMostCompact);
  // Too many cells: the longest parallel axis is taken as one.
  for (;;) {
    std::int64_t cells = 1;
    AlignedAxis* longest = nullptr;
    for (int letter : alignment_.output) {
      AlignedAxis& axis = axes_[letter];
      const std::int64_t own = axis.cells();
      cells *= own;
      if (!fixed(letter) && own > 1 && (!longest || axis.cuts.size() > longest->cuts.size()))
        longest = &axis;
    }
    const bool cheap = s_->setting.tensors == TensorMode::expand || cells * row <= kMostWork;
    if ((cheap && cells <= most_cells(s_->setting.tensors)) || !longest) break;
    longest->cuts.clear();
  }
  if (alignment_.countable) counts_ = counts_of_row(alignment_.rows, axes_);
  if (alignment_.counted) counts_ = counts_of_terms(axes_[*alignment_.counted]);
  for (auto& [letter, axis] : axes_) axis.compact = axis.cells();
  return settle_windows();
}

// A window touches the border or it does not: a short axis with the same remainder has every kind
// of window that the long one has. Of an open axis, elements and zeros around them may mix anyhow.
bool Compaction::settle_windows() {
  if (alignment_.windows.empty()) return true;
  const Site site(s_->node.node, s_->node.found.schema->since_version);
  const std::size_t spatial = alignment_.windows.size();
  WindowAttributes a = window_attributes(site, spatial);
  if (a.kernel.empty() && s_->present(1)) {
    const Dims& w = dims(1);
    for (std::size_t d = 2; d < w.size(); ++d) {
      if (!w[d].known()) return false;
      a.kernel.push_back(w[d].value);
    }
  }
  if (a.kernel.size() != spatial || !in_window_limits(a)) return false;
  for (std::size_t d = 0; d < spatial; ++d) {
    AlignedAxis& axis = axes_[alignment_.windows[d]];
    const std::int64_t stride = d < a.strides.size() ? a.strides[d] : 1;
    const std::int64_t dilation = d < a.dilations.size() ? a.dilations[d] : 1;
    const std::int64_t reach = dilation * (a.kernel[d] - 1) + 1;
    std::int64_t pads = 0;
    for (std::int64_t pad : a.pads) pads = std::max(pads, pad);
    const std::int64_t enough = reach + pads + stride;
    if (axis.open) {
      axis.padded = true;
      axis.compact = 2 * (reach + pads) + stride;
    } else if (axis.extent > enough + stride) {
      axis.compact = enough + (axis.extent - enough) % stride;
    } else {
      axis.compact = axis.extent;
    }
  }
  return true;
}

Cuts Compaction::cuts_of(std::size_t i) const {
  Cuts cuts;
  cuts.reserve(dims(i).size());
  for (std::size_t d = 0; d < dims(i).size(); ++d) {
    const AlignedAxis& axis = axes_.at(alignment_.inputs[i][d]);
    cuts.push_back(broadcast(i, d) ? std::vector<std::int64_t>{} : axis.cuts);
  }
  return cuts;
}

// Elements of one shape in a wider one, along whose other axes each stands over and over.
std::vector<Interval> repeated(const std::vector<Interval>& elements, const Shape& shape,
                               const Shape& wide) {
  const Shape steps = broadcast_strides(shape, wide);
  const auto row = static_cast<std::size_t>(wide.back());
  std::vector<Interval> all;
  all.reserve(static_cast<std::size_t>(element_count(wide)));
  std::vector<std::int64_t> index(wide.size() - 1);
  for (std::int64_t rows = element_count(wide) / wide.back(); rows > 0; --rows) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * steps[d];
    const auto first = elements.begin() + at;
    if (steps.back() == 0)
      all.insert(all.end(), row, *first);
    else
      all.insert(all.end(), first, first + wide.back());
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < wide[d]) break;
      index[d] = 0;
    }
  }
  return all;
}

Value Compaction::compact(std::size_t i) const {
  if (!s_->present(i)) return {};
  const Abstract& x = s_->inputs[i];
  const bool unread = std::any_of(alignment_.inputs[i].begin(), alignment_.inputs[i].end(),
                                  [](int letter) { return letter >= kUnread; });
  if (unread && x.exact.defined()) return x.exact;
  const Cuts cuts = cuts_of(i);
  Shape shape = cells_of(cuts);
  if (x.exact.defined() && shape == x.exact.shape() &&
      std::none_of(alignment_.inputs[i].begin(), alignment_.inputs[i].end(),
                   [&](int letter) { return axes_.at(letter).window; }))
    return x.exact;
  const std::vector<Cell> cells = regrid(x, cuts);
  bool padded = false;
  Shape wide = shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const AlignedAxis& axis = axes_.at(alignment_.inputs[i][d]);
    if (axis.window) wide[d] = axis.compact;
    padded = padded || axis.padded;
  }
  std::vector<Interval> ranges;
  ranges.reserve(cells.size());
  for (const Cell& cell : cells)
    ranges.push_back(padded ? hull(cell.range, Interval::point(0)) : cell.range);
  if (wide != shape) ranges = repeated(ranges, shape, wide);
  return Value::ranges(x.type.element, wide, std::move(ranges));
}

// How many terms there are in all sums, or a bound of that.
std::int64_t Compaction::work() const {
  constexpr std::int64_t kMany = kMostCompact * 64;
  const std::int64_t groups = alignment_.groups && !single_ ? alignment_.groups->count : 1;
  std::int64_t work = 1;
  for (const auto& [letter, axis] : axes_) work = std::min(work * axis.compact, kMany * groups);
  return work / groups;
}

std::optional<std::vector<Value>> Compaction::evaluate(std::span<const Value> inputs) {
  if (work() > kMostCompact * 16) return std::nullopt;
  const PlannedNode& node = single_ ? *single_ : s_->node;
  if (!counts_) return run_watched(*s_, node, inputs);
  const CountsScope scope(*counts_);
  return run_watched(*s_, node, inputs);
}

// The output's cells; along a window, all results are one.
std::optional<Abstract> Compaction::restored(const Value& value) const {
  const ValueType& type = s_->output_types[0];
  Abstract grid;
  if (value.shape().size() != alignment_.output.size()) return std::nullopt;
  Cuts kept(value.shape().size());
  Abstract result;
  result.type = type;
  for (std::size_t d = 0; d < kept.size(); ++d) {
    const auto found = axes_.find(alignment_.output[d]);
    const std::int64_t expected = found == axes_.end() ? 1 : found->second.compact;
    const bool window = found != axes_.end() && (found->second.window || found->second.one_group);
    if (!window && value.shape()[d] != expected) return std::nullopt;
    if (!window && value.shape()[d] > 1) kept[d] = every_position(value.shape()[d]);
    const bool open = !type.dims || !(*type.dims)[d].known();
    result.cuts.push_back(window || found == axes_.end() || open ? std::vector<std::int64_t>{}
                                                                 : found->second.cuts);
    if (result.cuts.back().empty()) kept[d].clear();
  }
  const std::vector<Interval> elements = load<Interval>(value).data;
  if (elements.empty()) return std::nullopt;
  grid.cells.reserve(elements.size());
  for (const Interval& element : elements) grid.cells.push_back({element});
  grid.cuts.reserve(kept.size());
  for (const std::int64_t extent : value.shape()) grid.cuts.push_back(every_position(extent));
  result.cells = regrid(grid, kept);
  if (!type.dims) {
    result.cuts.clear();
    result.cells = {{hull_of(grid)}};
  }
  return result;
}

// A call on tensors of the right shapes whose elements do not count, to ask about axes.
Value stand_in(const Abstract& x) {
  if (!x.is_tensor()) return {};
  if (x.exact.defined()) return x.exact;
  Shape shape(x.rank(), 1);
  return Value::ranges(x.type.element, shape, {Interval::everything()});
}

class NoGraphs : public GraphEvaluator {
 public:
  std::vector<Value> run_subgraph(const Call&, const Graph&, std::span<const Value>,
                                  std::int64_t) override {
    throw InexactDecision("a graph inside of a node");
  }
  std::vector<Value> run_function(const Call&, const Graph&, std::span<const Value>) override {
    throw InexactDecision("a graph inside of a node");
  }
  Graph surroundings() const override { return {}; }
  std::uint64_t seed(std::optional<std::uint64_t> own) const override { return own.value_or(0); }
};

}  // namespace

namespace {

// Where a rank is unknown, a body on single elements still says what becomes of any element.
Outputs transfer_unranked(Situation& s) {
  if (s.node.found.entry->meaning.pattern != Pattern::elementwise || s.output_types.empty() ||
      !s.output_types[0].is_tensor())
    return std::nullopt;
  std::vector<Abstract> single;
  for (const Abstract& input : s.inputs) {
    if (!input.is_tensor()) {
      single.emplace_back();
      continue;
    }
    const Interval all = hull_of(input);
    if (!all.has_number() && !all.nan) return std::nullopt;
    single.push_back(uniform(ValueType::tensor(input.type.element, Dims{}), all));
  }
  Situation inner{s.node,    single,     {ValueType::tensor(s.output_types[0].element, Dims{})},
                  s.setting, s.forms,    s.steps,
                  s.memory,  s.transfers};
  inner.setting.numbers = NumberMode::interval;
  const Outputs found = transfer_aligned(inner);
  s.applied = std::move(inner.applied);
  if (!found) return std::nullopt;
  return std::vector<Abstract>{uniform(s.output_types[0], hull_of(found->front()))};
}

}  // namespace

Outputs transfer_aligned(Situation& s) {
  std::vector<Value> inputs;
  inputs.reserve(s.inputs.size());
  for (const Abstract& input : s.inputs) {
    if (input.is_tensor() && !input.ranked()) return transfer_unranked(s);
    inputs.push_back(stand_in(input));
  }
  if (s.output_types.empty() || !s.output_types[0].is_tensor()) return std::nullopt;
  Site site(s.node.node, s.node.found.schema->since_version);
  site.inputs.reserve(inputs.size());
  for (const Value& input : inputs)
    site.inputs.push_back(
        {input.present(), input.present() ? input.value_type() : ValueType{}, {}, {}});
  site.values = inputs;
  NoGraphs nobody;
  const Call call{site, Reading::interval, inputs, s.output_types, {}, nobody};
  std::optional<Alignment> alignment;
  try {
    alignment = align(*s.node.found.entry, call);
  } catch (const InexactDecision&) {
    return std::nullopt;
  }
  if (!alignment) return std::nullopt;
  return Compaction(s, *std::move(alignment)).run();
}

}  // namespace assay
