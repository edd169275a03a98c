// Forms of elementwise nodes: what the steps of the body make of the forms of its inputs.
#include <optional>
#include <vector>

#include "numeric/transfer.h"
#include "patterns/array.h"
#include "scalar/rounding.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

// An input of an elementwise node, whose axes are the last ones of the output.
class InputCells {
 public:
  InputCells(Situation& s, const Abstract& input, const Abstract& output)
      : s_(&s), input_(&input), output_(&output), behind_(output.cuts.size() - input.rank()) {}

  // Its cells as the output's grid sees them, with forms that speak of the output's index.
  std::vector<Cell> cells() {
    const Cuts own = own_cuts();
    std::vector<Cell> cells = regrid(*input_, own);
    for (Cell& cell : cells) look_through(cell);
    if (cells.size() == 1) return std::vector<Cell>(output_->cells.size(), cells.front());
    return spread(cells, own);
  }
  // The same where the output has one.
  Cell cell() {
    const bool one = !input_->exact.defined() && input_->cells.size() == 1;
    Cell cell = one ? input_->cells.front() : regrid(*input_, Cuts(input_->rank())).front();
    look_through(cell);
    return cell;
  }

 private:
  bool broadcast(std::size_t d) const { return (*input_->type.dims)[d].value == 1; }

  // Of an extent that is 1 on both sides, the only index is the same.
  bool repeats(std::size_t d) const {
    return broadcast(d) && (*output_->type.dims)[behind_ + d].value != 1;
  }

  Cuts own_cuts() const {
    Cuts own(input_->rank());
    for (std::size_t d = 0; d < own.size(); ++d)
      if (!broadcast(d)) own[d] = output_->cuts[behind_ + d];
    return own;
  }

  void look_through(Cell& cell) {
    const bool fixed = cell.range.low == cell.range.high && !cell.range.nan;
    cell.form = fixed ? s_->forms.constant(cell.range.low) : seen(cell.form);
  }

  std::uint32_t seen(std::uint32_t form) {
    if (form == 0) return 0;
    if (!through_) {
      through_.emplace();
      for (std::size_t d = 0; d < input_->rank(); ++d)
        through_->push_back(repeats(d) ? AxisRead{}
                                       : AxisRead{static_cast<int>(behind_ + d), 1, 0});
    }
    return s_->forms.seen_through(form, *through_);
  }

  std::vector<Cell> spread(const std::vector<Cell>& cells, const Cuts& own) const {
    const Shape to = cells_of(output_->cuts);
    const Shape steps = broadcast_strides(cells_of(own), to);
    std::vector<Cell> all;
    all.reserve(output_->cells.size());
    std::vector<std::int64_t> index(to.size());
    for (std::size_t c = 0; c < output_->cells.size(); ++c) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < to.size(); ++d) at += index[d] * steps[d];
      all.push_back(cells[static_cast<std::size_t>(at)]);
      for (std::size_t d = to.size(); d-- > 0;) {
        if (++index[d] < to[d]) break;
        index[d] = 0;
      }
    }
    return all;
  }

  Situation* s_;
  const Abstract* input_;
  const Abstract* output_;
  std::size_t behind_;
  std::optional<IndexMap> through_{};
};

using Places = InlineVector<std::size_t, 4>;

// For each of these inputs, the first one that is the same value.
Places first_alike(const PlannedNode& node, const Places& given) {
  Places same_as;
  for (const std::size_t i : given) {
    std::size_t first = 0;
    while (node.inputs[given[first]].slot != node.inputs[i].slot ||
           node.inputs[given[first]].depth != node.inputs[i].depth)
      ++first;
    same_as.push_back(first);
  }
  return same_as;
}

void follow_cells(Situation& s, const Steps& steps, const Places& given, Abstract& output) {
  std::vector<std::vector<Cell>> operands;
  operands.reserve(given.size());
  for (const std::size_t i : given) operands.push_back(InputCells(s, s.inputs[i], output).cells());
  InlineVector<Cell, 4> point(operands.size());
  for (std::size_t c = 0; c < output.cells.size(); ++c) {
    for (std::size_t k = 0; k < operands.size(); ++k) point[k] = operands[k][c];
    output.cells[c].form = follow(steps, point, s.forms, output.cells[c].range);
  }
}

void follow_cell(Situation& s, const Steps& steps, const Places& given, Abstract& output) {
  InlineVector<Cell, 4> point;
  for (const std::size_t i : given) point.push_back(InputCells(s, s.inputs[i], output).cell());
  output.cells[0].form = follow(steps, point, s.forms, output.cells[0].range);
}

}  // namespace

void attach_forms(Situation& s, Abstract& output) {
  if (s.setting.numbers != NumberMode::affine || !output.real() || !output.ranked() ||
      output.rank() != output.cuts.size())
    return;
  Places given;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    if (!s.present(i)) continue;
    if (s.inputs[i].type.element != output.type.element) return;
    given.push_back(i);
  }
  const std::optional<Steps>& steps =
      s.steps.of(s.node, output.type.element, first_alike(s.node, given));
  if (!steps) return;
  const RoundingScope scope(rounding_of(output.type.element));
  if (output.cells.size() == 1)
    follow_cell(s, *steps, given, output);
  else
    follow_cells(s, *steps, given, output);
}

}  // namespace assay
