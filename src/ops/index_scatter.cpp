#include "ops/index_scatter.h"

#include <algorithm>
#include <complex>
#include <numeric>

#include <fmt/format.h>

#include "ops/shape_numbers.h"
#include "patterns/compute.h"
#include "patterns/move.h"

namespace assay {

bool require_index_tuples(Check& c, const Dims& extents) {
  const Tensor* known = c.site.constant(1);
  const auto shape = to_shape(extents);
  if (!known || !shape) {
    c.undecided("index-range", "the elements of indices and the extents of data");
    return false;
  }
  const auto indices = known->data<std::int64_t>();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t extent = (*shape)[i % shape->size()];
    if (indices[i] < -extent || indices[i] >= extent)
      return c.argument(false, "index-range",
                        fmt::format("indices from {} to {}", -extent, extent - 1),
                        fmt::format("{}", indices[i]));
  }
  return true;
}

std::vector<std::int64_t> index_offsets(const std::vector<std::int64_t>& indices, std::size_t width,
                                        const Shape& x) {
  const Shape strides = strides_of(x);
  std::vector<std::int64_t> offsets(indices.size() / width);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    for (std::size_t d = 0; d < width; ++d) {
      const std::int64_t index = indices[i * width + d];
      offsets[i] += (index < 0 ? index + x[d] : index) * strides[d];
    }
  return offsets;
}

std::vector<std::int64_t> element_offsets(const Call& call) {
  std::vector<std::int64_t> offsets = call.exact(1).integers();
  const Shape &x = call.input(0).shape(), &q = call.input(1).shape();
  const std::size_t axis = axis_of(call.site, "axis", x.size());
  const Shape strides = strides_of(x);
  std::vector<std::int64_t> place(q.size());
  std::int64_t at = 0;  // of the place, without its part along the axis
  for (std::int64_t& offset : offsets) {
    offset = at + (offset < 0 ? offset + x[axis] : offset) * strides[axis];
    for (std::size_t d = q.size(); d-- > 0;) {
      at += d == axis ? 0 : strides[d];
      if (++place[d] < q[d]) break;
      at -= d == axis ? 0 : strides[d] * q[d];
      place[d] = 0;
    }
  }
  return offsets;
}

bool require_element_indices(Check& c) {
  if (!c.rank("data", at_least(1)) || !c.same_rank("data", "indices") || !require_axis(c, "data"))
    return false;
  const Dims &x = *c.dims("data"), &indices = *c.dims("indices");
  const std::size_t axis = axis_of(c.site, "axis", x.size());
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (d == axis || indices[d].same_as(x[d])) continue;
    if (!x[d].known() || !indices[d].known())
      c.undecided("extent", fmt::format("extent {} of data and of indices", d));
    else if (indices[d].value > x[d].value)
      return c.extent("indices", static_cast<std::int64_t>(d), x[d], "at most that of data");
  }
  return require_indices(c, "indices", x[axis]);
}

namespace {

enum class Reduction : std::uint8_t { none, add, mul, max, min };

Reduction reduction_of(const Site& site) {
  const std::string& name = site.text("reduction");
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "max") return Reduction::max;
  return name == "min" ? Reduction::min : Reduction::none;
}

bool require_reduction(Check& c) {
  const bool known = c.site.version() < 18
                         ? c.one_of("reduction", {"none", "add", "mul"})
                         : c.one_of("reduction", {"none", "add", "mul", "max", "min"});
  if (!known) return false;
  const Domain domain = domain_of(c.site.element(0));
  const Reduction reduction = reduction_of(c.site);
  const bool ordered = reduction == Reduction::max || reduction == Reduction::min;
  const bool fits = reduction == Reduction::none ||
                    (domain != Domain::text && !(domain == Domain::complex && ordered));
  return fits || c.argument(false, "reduction-type",
                            fmt::format("numbers that {} is defined for", c.site.text("reduction")),
                            std::string(short_name(c.site.element(0))));
}

// Where each block of the updates goes.
struct Targets {
  std::vector<std::int64_t> places;
  std::int64_t block = 1;
};

Targets element_targets(const Call& call) { return {element_offsets(call), 1}; }

Targets tuple_targets(const Call& call) {
  const Shape &x = call.input(0).shape(), &q = call.input(1).shape();
  const auto width = static_cast<std::size_t>(q.back());
  Targets targets{index_offsets(call.exact(1).integers(), width, x), 1};
  for (std::size_t d = width; d < x.size(); ++d) targets.block *= x[d];
  return targets;
}

// Blocks in the order of their targets, those of one target in the order of the updates.
std::vector<std::size_t> by_target(const Targets& targets) {
  std::vector<std::size_t> order(targets.places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return targets.places[a] < targets.places[b];
  });
  return order;
}

bool has_duplicates(const Targets& targets) {
  const std::vector<std::size_t> order = by_target(targets);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (targets.places[order[i]] == targets.places[order[i - 1]]) return true;
  return false;
}

using TargetsOf = Targets (*)(const Call&);

// What the element of the data and its updates become together.
template <class S>
S reduced(Reduction reduction, std::span<const S> x) {
  switch (reduction) {
    case Reduction::add:
      return sum(x);
    case Reduction::mul:
      return product(x);
    case Reduction::max:
      return maximum(x);
    default:
      return minimum(x);
  }
}

template <TargetsOf targets_of>
struct ReduceUpdates {
  Reduction reduction;
  explicit ReduceUpdates(const Call& call) : reduction(reduction_of(call.site)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    frame.exact(1);
    const Targets targets = targets_of(frame.call());
    const std::vector<std::size_t> order = by_target(targets);
    Array<S> y = frame.input(0);
    const Array<S> updates = frame.input(2);
    std::vector<S> terms;
    for (std::size_t i = 0, next = 0; i < order.size(); i = next) {
      const std::int64_t place = targets.places[order[i]];
      while (next < order.size() && targets.places[order[next]] == place) ++next;
      for (std::int64_t e = 0; e < targets.block; ++e) {
        terms.assign(1, y[place + e]);
        for (std::size_t k = i; k < next; ++k)
          terms.push_back(updates[static_cast<std::int64_t>(order[k]) * targets.block + e]);
        y[place + e] = reduced(reduction, std::span<const S>(terms));
      }
    }
    frame.output(0, y);
  }
};

// Without a reduction the last update of a place holds here; since the standard leaves the order
// open, a bound covers them all.
template <class S>
Array<S> all_updates(const Value& written, const Value& updates, const Targets& targets) {
  Array<S> y = load<S>(written);
  const Array<S> u = load<S>(updates);
  std::int64_t next = 0;
  for (std::int64_t place : targets.places)
    for (std::int64_t e = 0; e < targets.block; ++e) y[place + e] = hull(y[place + e], u[next++]);
  return y;
}

Value in_any_order(const Call& call, const Value& written, const Targets& targets) {
  if (call.reading == Reading::interval)
    return Value::ranges(written.type(), written.shape(),
                         all_updates<Interval>(written, call.input(2), targets).data);
  Buffer<double> errors;
  for (const Bounded& y : all_updates<Bounded>(written, call.input(2), targets).data)
    errors.push_back(y.error);
  return Value::bounded(written.tensor(), std::move(errors));
}

template <class T>
Value reduced_complex(const Call& call, const Targets& targets) {
  Tensor result(call.input(0).type(), call.input(0).shape());
  const auto out = result.mutate<T>();
  const auto data = call.input(0).tensor().data<T>(), updates = call.input(2).tensor().data<T>();
  std::copy(data.begin(), data.end(), out.begin());
  const bool adds = reduction_of(call.site) == Reduction::add;
  std::size_t next = 0;
  for (std::int64_t place : targets.places)
    for (std::int64_t e = 0; e < targets.block; ++e, ++next) {
      T& y = out[static_cast<std::size_t>(place + e)];
      y = adds ? y + updates[next] : y * updates[next];
    }
  return result;
}

template <TargetsOf targets_of>
void evaluate_scatter(Call& call) {
  static const Meaning kReduce =
      compute<ReduceUpdates<targets_of>, RealsAndIntegers>(Pattern::gather);
  const Domain domain = domain_of(call.input(0).type());
  const bool numbers = domain != Domain::text && domain != Domain::complex;
  if (reduction_of(call.site) != Reduction::none) {
    if (numbers) return kReduce.evaluate(call);
    const Targets targets = targets_of(call);
    call.outputs[0] = call.input(0).type() == ElementType::c64
                          ? reduced_complex<std::complex<float>>(call, targets)
                          : reduced_complex<std::complex<double>>(call, targets);
    return;
  }
  const Targets targets = targets_of(call);
  Value written = placed(call, {0, 2, targets.places, targets.block});
  const bool open = call.reading != Reading::value && numbers && has_duplicates(targets);
  call.outputs[0] = open ? in_any_order(call, written, targets) : std::move(written);
}

void require_scatter_elements(Check& c) {
  if (!c.same_shape("indices", "updates") || !require_reduction(c)) return;
  require_element_indices(c);
}

// PyTorch's scatter_reduce can leave the element of the data out of the reduction.
void data_is_left_out(Builder& b) {
  const Reduction reduction = reduction_of(b.site());
  if (reduction == Reduction::none) return b.output(0, b.again().front());
  const ElementType type = b.site().element(0);
  const double infinity = std::numeric_limits<double>::infinity();
  const double least = is_real(type) ? -infinity : static_cast<double>(smallest_integer(type));
  const double most = is_real(type) ? infinity : static_cast<double>(largest_integer(type));
  const double neutral = reduction == Reduction::add   ? 0
                         : reduction == Reduction::mul ? 1
                         : reduction == Reduction::max ? least
                                                       : most;
  const std::string blank = b("Expand", {b.like(0, neutral), b("Shape", {b.input(2)})});
  const std::string data =
      b.again_on({b.input(0), b.input(1), blank}, {attribute("reduction", "none")}).front();
  b.output(0, b.again_on({data, b.input(1), b.input(2)}).front());
}

Operator scatter_elements(std::string_view name, std::vector<int> versions) {
  return {.name = name,
          .versions = std::move(versions),
          .summary = "The data with updates at places whose index along one axis is given.",
          .attributes = {{"axis", Role::axis}, {"reduction", Role::choice}},
          .require = require_scatter_elements,
          .infer = same_as_first,
          .meaning = custom(Pattern::gather, evaluate_scatter<element_targets>)};
}

Operator scatter() {
  Operator entry = scatter_elements("Scatter", {9, 11});
  entry.attributes = {{"axis", Role::axis}};
  return entry;
}

Operator scatter_elements() {
  Operator entry = scatter_elements("ScatterElements", {11, 13, 16, 18});
  entry.variants = {{"data-is-left-out", Variant::Kind::difference,
                     "torch.scatter_reduce with include_self=False", data_is_left_out}};
  return entry;
}

bool require_update_shape(Check& c, std::size_t width) {
  const Dims &x = *c.dims("data"), &indices = *c.dims("indices");
  Dims expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), x.begin() + static_cast<std::ptrdiff_t>(width), x.end());
  if (!c.rank("updates", exactly(static_cast<std::int64_t>(expected.size())))) return false;
  bool same = true;
  for (std::size_t d = 0; d < expected.size(); ++d)
    same =
        c.extent("updates", static_cast<std::int64_t>(d), expected[d], "as indices and data say") &&
        same;
  return same;
}

void require_scatter_nd(Check& c) {
  if (!c.rank("data", at_least(1)) || !c.rank("indices", at_least(1)) || !require_reduction(c))
    return;
  const Dims& x = *c.dims("data");
  const Dim& width = c.dims("indices")->back();
  if (!width.known()) return c.undecided("index-length", "the last extent of indices");
  if (width.value < 1 || width.value > static_cast<std::int64_t>(x.size())) {
    c.argument(false, "index-length", fmt::format("indices of 1 to {} numbers", x.size()),
               fmt::format("{}", width.value));
    return;
  }
  if (require_update_shape(c, static_cast<std::size_t>(width.value)))
    require_index_tuples(c, Dims(x.begin(), x.begin() + width.value));
}

Operator scatter_nd() {
  return {.name = "ScatterND",
          .versions = {11, 13, 16, 18},
          .summary = "The data with updates, elements or slices, at index tuples.",
          .attributes = {{"reduction", Role::choice}},
          .require = require_scatter_nd,
          .infer = same_as_first,
          .meaning = custom(Pattern::gather, evaluate_scatter<tuple_targets>)};
}

bool require_cache_shapes(Check& c) {
  if (!c.rank("past_cache", at_least(2)) || !c.same_rank("past_cache", "update") ||
      !require_axis(c, "past_cache"))
    return false;
  const Dims &x = *c.dims("past_cache"), &update = *c.dims("update");
  const std::size_t axis = axis_of(c.site, "axis", x.size());
  if (axis == 0) return c.argument(false, "axis-range", "an axis other than the batch", "0");
  bool same = true;
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d != axis)
      same = c.extent("update", static_cast<std::int64_t>(d), x[d], "that of past_cache") && same;
  if (!same || !x[axis].known() || !update[axis].known()) {
    if (same) c.undecided("fits", "the lengths of past_cache and update");
    return false;
  }
  return update[axis].value <= x[axis].value ||
         c.shape(false, "fits", fmt::format("at most {} steps", x[axis].value),
                 fmt::format("{}", update[axis].value));
}

void require_tensor_scatter(Check& c) {
  if (!c.one_of("mode", {"linear", "circular"}) || !require_cache_shapes(c)) return;
  if (!c.site.has_input(2)) return;
  const Dims &x = *c.dims("past_cache"), &update = *c.dims("update");
  if (!c.rank("write_indices", exactly(1)) || !c.extent("write_indices", 0, x[0], "the batch"))
    return;
  const Numbers places = numbers(c.site, "", 2);
  if (!places.values) return c.undecided("write-range", "the elements of write_indices");
  if (c.site.text("mode") == "circular") return;
  const std::size_t axis = axis_of(c.site, "axis", x.size());
  const std::int64_t most = x[axis].value - update[axis].value;
  for (std::int64_t place : *places.values)
    if (place < 0 || place > most) {
      c.argument(false, "write-range", fmt::format("write_indices from 0 to {}", most),
                 fmt::format("{}", place));
      return;
    }
}

void evaluate_tensor_scatter(Call& call) {
  const std::vector<std::int64_t> starts = exact_numbers(call, "", 2);
  const Shape& x = call.input(0).shape();
  const std::size_t axis = axis_of(call.site, "axis", x.size());
  const auto [outer, inner] = around(x, axis);
  const std::int64_t length = x[axis], steps = call.input(1).shape()[axis];
  Placement placement{0, 1, {}, inner};
  if (call.input(1).tensor().size() > 0)
    for (std::int64_t o = 0; o < outer; ++o) {
      const auto batch = static_cast<std::size_t>(o / (outer / x[0]));
      std::int64_t start = starts.empty() ? 0 : starts[batch] % length;
      if (start < 0) start += length;
      for (std::int64_t s = 0; s < steps; ++s)
        placement.targets.push_back((o * length + (start + s) % length) * inner);
    }
  call.outputs[0] = placed(call, placement);
}

Operator tensor_scatter() {
  return {.name = "TensorScatter",
          .versions = {24},
          .summary = "A cache with an update written into each sample at its own step.",
          .attributes = {{"axis", Role::axis}, {"mode", Role::choice}},
          .require = require_tensor_scatter,
          .infer = same_as_first,
          .meaning = custom(Pattern::gather, evaluate_tensor_scatter)};
}

}  // namespace

std::vector<Operator> index_scatter_operators() {
  return {scatter(), scatter_elements(), scatter_nd(), tensor_scatter()};
}

}  // namespace assay
