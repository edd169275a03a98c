#include "localize/segments.h"

#include <numeric>

#include "localize/minimise.h"

namespace assay {
namespace {

using Positions = std::vector<std::size_t>;

Positions stretch(std::size_t begin, std::size_t end) {
  Positions nodes(end - begin);
  std::iota(nodes.begin(), nodes.end(), begin);
  return nodes;
}

}  // namespace

std::optional<Segment> find_segment(const Model& model, const ValuesByName& values,
                                    const SegmentTrial& wrong) {
  const auto shows = [&](const Positions& nodes) {
    const std::optional<Model> part = slice(model, nodes, values);
    return part && wrong(*part);
  };
  std::size_t begin = 0, end = model.graph.nodes.size();
  if (end == 0 || !shows(stretch(begin, end))) return std::nullopt;
  // Whatever is wrong in a stretch is wrong in a longer one, or nearly so: where that fails, the
  // result is longer than it might be, and wrong all the same.
  for (std::size_t low = 0; end - low > 1;) {
    const std::size_t middle = low + (end - low) / 2;
    (shows(stretch(0, middle)) ? end : low) = middle;
  }
  for (std::size_t high = end; high - begin > 1;) {
    const std::size_t middle = begin + (high - begin) / 2;
    (shows(stretch(middle, end)) ? begin : high) = middle;
  }
  Positions nodes = stretch(begin, end);
  if (!shows(nodes)) nodes = stretch(0, end);
  nodes = minimise(std::move(nodes), shows);
  std::optional<Model> part = slice(model, nodes, values);
  if (!part) return std::nullopt;
  return Segment{std::move(nodes), *std::move(part)};
}

}  // namespace assay
