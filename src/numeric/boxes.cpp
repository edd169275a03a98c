#include "numeric/boxes.h"

#include <algorithm>
#include <cstdlib>

#include "numeric/transfer.h"

namespace assay {
namespace {

// A run of elements along one axis of the source and one of the target; -1: no axis (the same
// element over and over).
struct Line {
  std::int64_t extent = 1;
  int from_axis = -1, to_axis = -1;
  std::int64_t from_step = 0, to_step = 0;
};

struct Range {
  std::int64_t low = 0, high = 0;  // both inside
};

// Lines along one axis, from the one with the smallest steps on.
using Along = std::vector<const Line*>;

// A region whose lines each run along a single axis on both sides.
struct Box {
  Box() = default;
  Box(Box&&) = default;  // a copy's lines would lie elsewhere
  Box& operator=(Box&&) = default;

  std::size_t input = 0;
  std::vector<std::int64_t> from_base, to_base;
  std::vector<Line> lines;
  std::vector<Along> from, to;  // by axis
  std::vector<Range> written;   // positions of each axis of the target
};

std::vector<std::int64_t> index_of(std::int64_t flat, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = shape[d] > 0 ? flat % shape[d] : 0;
    if (shape[d] > 0) flat /= shape[d];
  }
  return index;
}

// The axis along which a step of so many elements goes, and how many steps stay on it.
struct Place {
  int axis = -1;
  std::int64_t step = 0, count = 0;
};

std::optional<Place> place_of(std::int64_t stride, std::int64_t extent, const Shape& shape,
                              const std::vector<std::int64_t>& base) {
  if (stride == 0) return Place{-1, 0, extent};
  const Shape strides = strides_of(shape);
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] < 2 || std::llabs(stride) >= strides[d] * shape[d]) continue;
    if (stride % strides[d] != 0) return std::nullopt;
    const std::int64_t step = stride / strides[d];
    const std::int64_t last = base[d] + step * (extent - 1);
    const int axis = static_cast<int>(d);
    if (last >= 0 && last < shape[d]) return Place{axis, step, extent};
    if (step < 0 || base[d] != 0 || shape[d] % step != 0) return std::nullopt;
    return Place{axis, step, shape[d] / step};
  }
  return std::nullopt;
}

bool add_lines(Box& box, std::int64_t extent, std::int64_t from, std::int64_t to,
               const Shape& source, const Shape& target) {
  while (extent > 1) {
    const auto a = place_of(from, extent, source, box.from_base);
    const auto b = place_of(to, extent, target, box.to_base);
    if (!a || !b) return false;
    const std::int64_t count = std::min(a->count, b->count);
    if (count < 2 || extent % count != 0 || a->count % count != 0 || b->count % count != 0)
      return false;
    box.lines.push_back({count, a->axis, b->axis, a->step, b->step});
    extent /= count;
    from *= count;
    to *= count;
  }
  return true;
}

// Sorts the lines by their axes, once there are all.
void arrange(Box& box) {
  box.from.resize(box.from_base.size());
  box.to.resize(box.to_base.size());
  for (const Line& line : box.lines) {
    if (line.from_axis >= 0) box.from[static_cast<std::size_t>(line.from_axis)].push_back(&line);
    if (line.to_axis >= 0) box.to[static_cast<std::size_t>(line.to_axis)].push_back(&line);
  }
  for (Along& lines : box.from)
    std::sort(lines.begin(), lines.end(), [](const Line* a, const Line* b) {
      return std::llabs(a->from_step) < std::llabs(b->from_step);
    });
  for (std::size_t d = 0; d < box.to.size(); ++d) {
    std::sort(box.to[d].begin(), box.to[d].end(), [](const Line* a, const Line* b) {
      return std::llabs(a->to_step) < std::llabs(b->to_step);
    });
    Range& range = box.written.emplace_back(Range{box.to_base[d], box.to_base[d]});
    for (const Line* line : box.to[d]) {
      const std::int64_t reach = line->to_step * (line->extent - 1);
      (reach < 0 ? range.low : range.high) += reach;
    }
  }
}

std::optional<Box> box_of(const Region& region, const Shape& source, const Shape& target) {
  Box box;
  box.input = region.input;
  if (region.extents.empty() && region.from == -1) {  // the whole input
    box.from_base.assign(source.size(), 0);
    box.to_base.assign(target.size(), 0);
    if (!add_lines(box, element_count(source), 1, 1, source, target)) return std::nullopt;
  } else {
    box.from_base = index_of(region.from, source);
    box.to_base = index_of(region.to, target);
  }
  for (std::size_t d = 0; d < region.extents.size(); ++d)
    if (!add_lines(box, region.extents[d], region.from_strides[d], region.to_strides[d], source,
                   target))
      return std::nullopt;
  arrange(box);
  return box;
}

// Whether all positions between the first and the last are written.
bool seamless(const Along& lines) {
  std::int64_t next = 1;
  for (const Line* line : lines) {
    if (std::llabs(line->to_step) != next) return false;
    next *= line->extent;
  }
  return true;
}

// Where along the outermost line of a source axis a cut lies: the first index behind it.
std::optional<std::int64_t> index_behind(const Line& line, std::int64_t base, std::int64_t cut) {
  const std::int64_t step = line.from_step;
  std::int64_t index = 0;
  if (step > 0)
    index = (cut - base + step - 1) / step;
  else
    index = (base - cut) / -step + 1;
  if (cut <= base && step > 0) return std::nullopt;
  if (index <= 0 || index >= line.extent) return std::nullopt;
  return index;
}

void add_cut(std::vector<std::int64_t>& cuts, std::int64_t at, std::int64_t extent) {
  if (at <= 0 || at >= extent) return;
  const auto place = std::lower_bound(cuts.begin(), cuts.end(), at);
  if (place == cuts.end() || *place != at) cuts.insert(place, at);
}

void add_source_cuts(const Box& box, const MoveSource& source, const Shape& target, Cuts& cuts) {
  const Cuts natural = natural_cuts(*source.value, TensorMode::partition);
  for (std::size_t d = 0; d < std::min(natural.size(), box.from.size()); ++d) {
    const Along& lines = box.from[d];
    if (lines.empty() || natural[d].empty()) continue;
    const Line& outer = *lines.back();
    if (outer.to_axis < 0) continue;
    const auto to = static_cast<std::size_t>(outer.to_axis);
    if (box.to[to].back() != &outer) continue;
    for (std::int64_t cut : natural[d]) {
      if (lines.size() > 1 && (cut - box.from_base[d]) % outer.from_step != 0) continue;
      if (const auto index = index_behind(outer, box.from_base[d], cut)) {
        const std::int64_t at = outer.to_step > 0 ? box.to_base[to] + outer.to_step * *index
                                                  : box.to_base[to] + outer.to_step * (*index - 1);
        add_cut(cuts[to], at, target[to]);
      }
    }
  }
}

// Indices along each line that may write positions in `wanted` of a target axis.
Range indices(const Box& box, const Line& line, const Range& wanted) {
  const Along& lines = box.to[static_cast<std::size_t>(line.to_axis)];
  Range all{0, line.extent - 1};
  if (lines.back() != &line) return all;  // inner lines: any of them
  std::int64_t slack_low = 0, slack_high = 0;
  for (const Line* inner : lines) {
    if (inner == &line) continue;
    const std::int64_t reach = inner->to_step * (inner->extent - 1);
    (reach < 0 ? slack_low : slack_high) += reach;
  }
  const std::int64_t base = box.to_base[static_cast<std::size_t>(line.to_axis)];
  const auto position = [&](std::int64_t i) { return base + line.to_step * i; };
  const auto below = [&](std::int64_t i) { return position(i) + slack_high < wanted.low; };
  const auto above = [&](std::int64_t i) { return position(i) + slack_low > wanted.high; };
  // Positions rise or fall with the index: both ends by bisection.
  const bool rises = line.to_step > 0;
  std::int64_t first = 0, last = line.extent;
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (rises ? below(middle) : above(middle))
      first = middle + 1;
    else
      last = middle;
  }
  all.low = first;
  last = line.extent;
  std::int64_t begin = first;
  while (begin < last) {
    const std::int64_t middle = begin + (last - begin) / 2;
    if (rises ? above(middle) : below(middle))
      last = middle;
    else
      begin = middle + 1;
  }
  all.high = begin - 1;
  return all;
}

// What one target cell gets.
struct Gathered {
  Interval range = Interval::no_number(false);
  std::uint32_t form = 0;
  int pieces = 0;
  bool covered = false;
};

class Relabelling {
 public:
  Relabelling(const std::vector<MoveSource>& sources, const MoveTarget& target, FormReader& forms)
      : sources_(sources), target_(target), forms_(forms) {}

  void collect(const Box& box, const std::vector<Range>& wanted, Gathered& out) const;

 private:
  std::uint32_t form_through(const Box& box, std::uint32_t form) const;
  struct Grid {
    Cuts cuts;
    std::vector<std::int64_t> steps;
    std::vector<Cell> cells;
  };
  const Grid& grid_of_source(std::size_t input) const;

  const std::vector<MoveSource>& sources_;
  const MoveTarget& target_;
  FormReader& forms_;
  mutable std::vector<std::optional<Grid>> grids_{};
};

const Relabelling::Grid& Relabelling::grid_of_source(std::size_t input) const {
  grids_.resize(sources_.size());
  if (!grids_[input]) {
    const Abstract& x = *sources_[input].value;
    const Cuts cuts = natural_cuts(x, TensorMode::partition);
    grids_[input] = Grid{cuts, strides_of(cells_of(cuts)), regrid(x, cuts)};
  }
  return *grids_[input];
}

// The index of the source as a function of that of the target, if it is one axis by axis. On an
// open axis nothing but the same index will do: its extent may turn out to be 1 and broadcast.
std::uint32_t Relabelling::form_through(const Box& box, std::uint32_t form) const {
  if (form == 0) return 0;
  const MoveSource& source = sources_[box.input];
  IndexMap through;
  for (std::size_t a = 0; a < source.shape.size(); ++a) {
    const Along& lines = box.from[a];
    if (lines.size() > 1) return 0;
    if (lines.empty()) {
      through.push_back({-1, 0, box.from_base[a]});
      continue;
    }
    const Line& line = *lines[0];
    if (line.to_axis < 0 || std::llabs(line.to_step) != 1 ||
        box.to[static_cast<std::size_t>(line.to_axis)].size() > 1)
      return 0;
    const std::int64_t step = line.from_step * line.to_step;
    const std::int64_t offset =
        box.from_base[a] - step * box.to_base[static_cast<std::size_t>(line.to_axis)];
    const Dims* to = target_.type.dims ? &*target_.type.dims : nullptr;
    const bool open = !to || !(*to)[static_cast<std::size_t>(line.to_axis)].known() ||
                      !(*source.value->type.dims)[a].known();
    if (open && (step != 1 || offset != 0 || line.extent != source.shape[a])) return 0;
    through.push_back({line.to_axis, step, offset});
  }
  return forms_.seen_through(form, through);
}

void Relabelling::collect(const Box& box, const std::vector<Range>& wanted, Gathered& out) const {
  bool inside = true;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    const Range& own = box.written[d];
    if (own.high < wanted[d].low || own.low > wanted[d].high) return;
    inside =
        inside && own.low <= wanted[d].low && wanted[d].high <= own.high && seamless(box.to[d]);
  }
  const MoveSource& source = sources_[box.input];
  const auto& [cuts, steps, cells] = grid_of_source(box.input);
  if (cells.empty()) return;
  std::vector<Range> spans(source.shape.size());
  for (std::size_t a = 0; a < spans.size(); ++a) {
    Range read{box.from_base[a], box.from_base[a]};
    for (const Line* line : box.from[a]) {
      Range i{0, line->extent - 1};
      if (line->to_axis >= 0)
        i = indices(box, *line, wanted[static_cast<std::size_t>(line->to_axis)]);
      if (i.low > i.high) return;
      read.low += std::min(line->from_step * i.low, line->from_step * i.high);
      read.high += std::max(line->from_step * i.low, line->from_step * i.high);
    }
    spans[a] = {std::upper_bound(cuts[a].begin(), cuts[a].end(), read.low) - cuts[a].begin(),
                std::upper_bound(cuts[a].begin(), cuts[a].end(), read.high) - cuts[a].begin()};
  }
  std::vector<std::int64_t> at(spans.size());
  for (std::size_t a = 0; a < spans.size(); ++a) at[a] = spans[a].low;
  for (bool more = true; more;) {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < spans.size(); ++a) offset += at[a] * steps[a];
    const Cell& cell = cells[static_cast<std::size_t>(offset)];
    out.range = out.pieces == 0 ? cell.range : hull(out.range, cell.range);
    out.form = ++out.pieces == 1 ? form_through(box, cell.form) : 0;
    more = false;
    for (std::size_t a = spans.size(); a-- > 0 && !more;) {
      if (++at[a] <= spans[a].high)
        more = true;
      else
        at[a] = spans[a].low;
    }
  }
  out.covered = out.covered || inside;
}

// Nothing is known of where elements go: any of them may be anywhere.
Abstract mixed(const std::vector<MoveSource>& sources, const std::optional<Interval>& fill,
               const MoveTarget& target) {
  Interval all = fill.value_or(Interval::no_number(false));
  for (const MoveSource& source : sources)
    if (source.value) all = hull(all, hull_of(*source.value));
  return uniform(target.type, all);
}

Cuts target_cuts(const std::vector<Box>& boxes, const std::vector<MoveSource>& sources,
                 const MoveTarget& target, TensorMode mode) {
  Cuts cuts(target.shape.size());
  if (mode == TensorMode::smash) return cuts;
  for (const Box& box : boxes) {
    for (std::size_t d = 0; d < cuts.size(); ++d) {
      add_cut(cuts[d], box.written[d].low, target.shape[d]);
      add_cut(cuts[d], box.written[d].high + 1, target.shape[d]);
    }
    add_source_cuts(box, sources[box.input], target.shape, cuts);
  }
  for (std::size_t d = 0; d < cuts.size(); ++d)
    if (!target.type.dims || !(*target.type.dims)[d].known()) cuts[d].clear();
  return limited(std::move(cuts), most_cells(mode));
}

}  // namespace

Abstract relabel(const Movement& movement, const std::vector<MoveSource>& sources,
                 const std::optional<Interval>& fill, const MoveTarget& target, TensorMode mode,
                 FormReader& forms) {
  constexpr std::size_t kMostRegions = 256;
  std::vector<Box> boxes;
  for (const Region& region : movement.regions) {
    auto box = box_of(region, sources[region.input].shape, target.shape);
    if (!box || movement.regions.size() > kMostRegions)
      return mixed(sources, movement.complete ? std::nullopt : fill, target);
    boxes.push_back(*std::move(box));
  }
  Abstract result = uniform(target.type, Interval::no_number(false));
  if (result.cells.empty()) return result;
  if (!target.type.dims) return mixed(sources, fill, target);
  result.cuts = target_cuts(boxes, sources, target, mode);
  const Shape grid = cells_of(result.cuts);
  result.cells.assign(static_cast<std::size_t>(element_count(grid)), {});
  const Relabelling relabelling(sources, target, forms);
  std::vector<std::size_t> index(grid.size());
  std::vector<Range> wanted(grid.size());
  for (Cell& cell : result.cells) {
    for (std::size_t d = 0; d < grid.size(); ++d) {
      const auto& cuts = result.cuts[d];
      wanted[d] = {index[d] == 0 ? 0 : cuts[index[d] - 1],
                   (index[d] == cuts.size() ? target.shape[d] : cuts[index[d]]) - 1};
    }
    Gathered got;
    for (const Box& box : boxes) relabelling.collect(box, wanted, got);
    if (got.pieces == 0 || (!got.covered && !movement.complete)) {
      if (!fill) return mixed(sources, Interval::point(0), target);
      got.range = got.pieces == 0 ? *fill : hull(got.range, *fill);
      got.form = 0;
    }
    cell = {got.range, got.covered ? got.form : 0};
    for (std::size_t d = grid.size(); d-- > 0;) {
      if (++index[d] <= result.cuts[d].size()) break;
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace assay
