// Points of drawn graphs.
#include "numeric/drawn_graph.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numeric/abstract.h"
#include "patterns/array.h"

namespace assay {

double Dice::element(const Interval& range, ElementType type) {
  if (range.nan && (!range.has_number() || chance(15))) return std::nan("");
  const double tiny = is_real(type) ? rounding_of(type).smallest_normal / 4 : 1;
  const double special[] = {range.low, range.high, 0, tiny, -tiny, 1, -1};
  if (chance(30)) {
    const double x = special[pick(0, std::ssize(special) - 1)];
    if (x >= range.low && x <= range.high) return x;
  }
  if (!(range.low < range.high)) return range.low;
  const double low = std::max(range.low, -1e300), high = std::min(range.high, 1e300);
  const double place = static_cast<double>(pick(0, 1 << 20)) / (1 << 20);
  const double x = low + place * (high / 2 - low / 2) * 2;
  return std::clamp(is_real(type) ? x : std::round(x), range.low, range.high);
}

bool DrawnGraph::finite() const {
  return std::all_of(ranges.begin(), ranges.end(), [](const auto& entry) {
    const Interval& range = entry.second;
    return !range.nan && std::isfinite(range.low) && std::isfinite(range.high);
  });
}

std::string DrawnGraph::describe() const {
  std::string text;
  for (const auto& [name, range] : ranges)
    text += fmt::format("\n  {} [{}] in {}", name, fmt::join(shapes.at(name), ","), to_text(range));
  for (const NamedTensor& one : model->graph.initializers)
    if (has_numbers(one.tensor.type()))
      text += fmt::format("\n  {} [{}] = {}", one.name, fmt::join(one.tensor.shape(), ","),
                          fmt::join(one.tensor.reals(), " "));
  for (const Node& node : model->graph.nodes)
    text += fmt::format("\n  {} = {}({})", fmt::join(node.outputs, ", "), node.op,
                        fmt::join(node.inputs, ", "));
  return text;
}

std::vector<Value> DrawnGraph::point(Dice& dice) const {
  std::vector<Value> inputs;
  for (const NamedType& input : model->graph.inputs) {
    const auto given = fixed.find(input.name);
    if (given != fixed.end()) {
      inputs.push_back(given->second);
      continue;
    }
    const Interval& range = ranges.at(input.name);
    const Shape& shape = shapes.at(input.name);
    std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
    const std::int64_t style = dice.pick(0, 5);  // all low, all high, or each by itself
    for (double& value : values)
      value = style == 0 && range.has_number()   ? range.low
              : style == 1 && range.has_number() ? range.high
                                                 : dice.element(range, input.type.element);
    inputs.emplace_back(make_tensor(input.type.element, shape, values));
  }
  return inputs;
}

}  // namespace assay
