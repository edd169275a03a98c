// Operators that pick elements by index, and OneHot, which draws them.
#include <algorithm>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/index_scatter.h"
#include "ops/shape_numbers.h"
#include "patterns/compute.h"
#include "patterns/move.h"
#include "patterns/move_recorder.h"

namespace assay {
namespace {

Dims gather_dims(const Site& site, const Dims& x, const Dims& indices) {
  const auto axis = static_cast<std::ptrdiff_t>(axis_of(site, "axis", x.size()));
  Dims y(x.begin(), x.begin() + axis);
  y.insert(y.end(), indices.begin(), indices.end());
  y.insert(y.end(), x.begin() + axis + 1, x.end());
  return y;
}

void require_gather(Check& c) {
  if (!c.rank("data", at_least(1)) || !require_axis(c, "data")) return;
  const Dims &x = *c.dims("data"), *indices = c.dims("indices");
  if (indices) sensible_size(c, gather_dims(c.site, x, *indices));
  require_indices(c, "indices", x[axis_of(c.site, "axis", x.size())]);
}

void infer_gather(Infer& n) {
  const Dims *x = n.dims(0), *indices = n.dims(1);
  if (!x || !indices || !find_axis(n.site, "axis", x->size())) return n.output(0, n.element(0));
  n.output(0, n.element(0), gather_dims(n.site, *x, *indices));
}

void evaluate_gather(Call& call) {
  if (call.reading == Reading::interval && !call.input(1).exact()) {
    call.outputs[0] = any_of(call, {0}, call.output_type(0), call.output_shape(0));
    return;
  }
  std::vector<std::int64_t> indices = call.exact(1).integers();
  const Shape& x = call.input(0).shape();
  const std::size_t axis = axis_of(call.site, "axis", x.size());
  const auto [outer, inner] = around(x, axis);
  const std::int64_t extent = x[axis];
  const auto count = static_cast<std::int64_t>(indices.size());
  for (std::int64_t& index : indices) index = (index < 0 ? index + extent : index) * inner;
  constexpr std::int64_t kFew = 8;
  if (count <= kFew) {
    Movement movement;
    movement.complete = true;
    for (std::int64_t i = 0; i < count; ++i)
      movement.regions.push_back({0,
                                  {outer, inner},
                                  indices[static_cast<std::size_t>(i)],
                                  i * inner,
                                  {extent * inner, 1},
                                  {count * inner, 1}});
    call.outputs[0] = moved(call, movement, call.output_type(0), call.output_shape(0));
    return;
  }
  Sources sources{{0}, {}, {}, std::max<std::int64_t>(inner, 1)};
  sources.indices.reserve(static_cast<std::size_t>(inner == 0 ? 0 : outer * count));
  for (std::int64_t o = 0; inner > 0 && o < outer; ++o)
    for (std::int64_t index : indices) sources.indices.push_back(o * extent * inner + index);
  call.outputs[0] = gathered(call, sources, call.output_type(0), call.output_shape(0));
}

void negative_index_is_clamped(Builder& b) {
  const std::string indices = b("Max", {b.input(1), b.like(1, 0)});
  b.output(0, b.again_on({b.input(0), indices}).front());
}

Operator gather_operator() {
  return {
      .name = "Gather",
      .versions = {1, 11, 13},
      .summary = "Slices of the data at the given indices along an axis.",
      .attributes = {{"axis", Role::axis}},
      .require = require_gather,
      .infer = infer_gather,
      .meaning = custom(Pattern::gather, evaluate_gather),
      .variants = {{"negative-index-is-clamped", Variant::Kind::difference,
                    "Embedding of Keras 2.3 on CNTK, XLA's gather", negative_index_is_clamped}}};
}

Operator gather_elements() {
  return {.name = "GatherElements",
          .versions = {11, 13},
          .summary = "For each place its element of the data, with the index along one axis given.",
          .attributes = {{"axis", Role::axis}},
          .require = [](Check& c) { require_element_indices(c); },
          .infer =
              [](Infer& n) {
                ValueType type = ValueType::tensor(n.element(0));
                if (const Dims* indices = n.dims(1)) type.dims = *indices;
                n.output(0, std::move(type));
              },
          .meaning = gather([](const Call& call) -> Sources {
            return {{0}, element_offsets(call), {}, 1};
          })};
}

bool require_batches(Check& c, std::int64_t batches) {
  const Dims &x = *c.dims("data"), &indices = *c.dims("indices");
  const auto least = static_cast<std::int64_t>(std::min(x.size(), indices.size()));
  if (batches < 0 || batches >= least)
    return c.argument(false, "batch-dims", fmt::format("batch_dims from 0 to {}", least - 1),
                      fmt::format("{}", batches));
  bool same = true;
  for (std::size_t d = 0; d < static_cast<std::size_t>(batches); ++d)
    same = c.extent("indices", static_cast<std::int64_t>(d), x[d], "that of data") && same;
  return same;
}

void require_gather_nd(Check& c) {
  if (!c.rank("data", at_least(1)) || !c.rank("indices", at_least(1))) return;
  const std::int64_t batches = c.site.integer("batch_dims");
  if (!require_batches(c, batches)) return;
  const Dims &x = *c.dims("data"), &indices = *c.dims("indices");
  const Dim& width = indices.back();
  const std::int64_t most = static_cast<std::int64_t>(x.size()) - batches;
  if (!width.known()) return c.undecided("index-length", "the last extent of indices");
  if (width.value < 1 || width.value > most) {
    c.argument(false, "index-length", fmt::format("indices of 1 to {} numbers", most),
               fmt::format("{}", width.value));
    return;
  }
  require_index_tuples(c, Dims(x.begin() + batches, x.begin() + batches + width.value));
}

void infer_gather_nd(Infer& n) {
  const Dims *x = n.dims(0), *indices = n.dims(1);
  const std::int64_t batches = n.site.integer("batch_dims");
  if (!x || !indices || indices->empty() || !indices->back().known() || batches < 0)
    return n.output(0, n.element(0));
  const auto rank = static_cast<std::int64_t>(x->size());
  if (batches >= rank || indices->back().value > rank - batches) return n.output(0, n.element(0));
  Dims y(indices->begin(), indices->end() - 1);
  y.insert(y.end(), x->begin() + batches + indices->back().value, x->end());
  n.output(0, n.element(0), std::move(y));
}

Sources gather_nd_sources(const Call& call) {
  const std::vector<std::int64_t> indices = call.exact(1).integers();
  const Shape &x = call.input(0).shape(), &q = call.input(1).shape();
  const auto batches = static_cast<std::ptrdiff_t>(call.site.integer("batch_dims"));
  const auto width = static_cast<std::size_t>(q.back());
  const Shape inner(x.begin() + batches, x.end());
  std::int64_t batch_count = 1;
  for (std::ptrdiff_t d = 0; d < batches; ++d) batch_count *= q[static_cast<std::size_t>(d)];
  Sources sources{{0}, index_offsets(indices, width, inner), {}, 1};
  for (std::size_t d = width; d < inner.size(); ++d) sources.block *= inner[d];
  const auto count = static_cast<std::int64_t>(sources.indices.size());
  const std::int64_t per_batch =
      batch_count == 0 ? 1 : std::max<std::int64_t>(count / batch_count, 1);
  const std::int64_t batch_size = element_count(inner);
  for (std::int64_t i = 0; i < count; ++i)
    sources.indices[static_cast<std::size_t>(i)] += i / per_batch * batch_size;
  return sources;
}

Operator gather_nd() {
  return {.name = "GatherND",
          .versions = {11, 12, 13},
          .summary = "Slices of the data at index tuples.",
          .attributes = {{"batch_dims", Role::count}},
          .require = require_gather_nd,
          .infer = infer_gather_nd,
          .meaning = gather(gather_nd_sources)};
}

void require_compress(Check& c) {
  if (!c.rank("condition", exactly(1)) || !c.rank("input", at_least(1))) return;
  if (c.site.has("axis") && !require_axis(c, "input")) return;
  const Dims& x = *c.dims("input");
  const Dim extent =
      c.site.has("axis") ? x[axis_of(c.site, "axis", x.size())] : product(x, 0, x.size());
  const Dim& length = (*c.dims("condition"))[0];
  if (!extent.known() || !length.known()) return c.undecided("length", "the extents");
  if (length.value > extent.value)
    c.shape(false, "length", fmt::format("at most {} conditions", extent.value),
            fmt::format("{}", length.value));
}

std::vector<std::int64_t> chosen(const Tensor& condition) {
  std::vector<std::int64_t> places;
  const auto values = condition.data<bool>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) places.push_back(static_cast<std::int64_t>(i));
  return places;
}

void infer_compress(Infer& n) {
  const Dims* x = n.dims(0);
  Dim count;
  if (const Tensor* condition = n.site.constant(1))
    count = static_cast<std::int64_t>(chosen(*condition).size());
  if (!n.site.has("axis")) return n.output(0, n.element(0), {count});
  const auto axis = x ? find_axis(n.site, "axis", x->size()) : std::nullopt;
  if (!axis) return n.output(0, n.element(0));
  Dims y = *x;
  y[*axis] = count;
  n.output(0, n.element(0), std::move(y));
}

Sources compress_sources(const Call& call) {
  const std::vector<std::int64_t> places = chosen(call.exact(1));
  const Shape& x = call.input(0).shape();
  if (!call.site.has("axis")) return {{0}, places, {}, 1};
  const std::size_t axis = axis_of(call.site, "axis", x.size());
  const auto [outer, inner] = around(x, axis);
  Sources sources{{0}, {}, {}, std::max<std::int64_t>(inner, 1)};
  for (std::int64_t o = 0; inner > 0 && !places.empty() && o < outer; ++o)
    for (std::int64_t place : places) sources.indices.push_back((o * x[axis] + place) * inner);
  return sources;
}

Operator compress() {
  return {.name = "Compress",
          .versions = {9, 11, 28},
          .summary = "The slices along an axis, or the elements, at which the condition is true.",
          .attributes = {{"axis", Role::axis}},
          .require = require_compress,
          .infer = infer_compress,
          .meaning = gather(compress_sources)};
}

// The place of the new axis among `rank` of the indices.
std::optional<std::size_t> one_hot_axis(const Site& site, std::size_t rank) {
  return find_axis(site, "axis", rank + 1);
}

Dims one_hot_dims(const Site& site, const Dims& indices, std::size_t axis) {
  const Numbers depth = numbers(site, "", 1);
  const auto extents = site.extents(1);
  Dim classes;
  if (depth.values && depth.values->size() == 1)
    classes = (*depth.values)[0];
  else if (extents && extents->size() == 1)
    classes = extents->front();
  Dims y = indices;
  y.insert(y.begin() + static_cast<std::ptrdiff_t>(axis), classes);
  return y;
}

void require_one_hot(Check& c) {
  if (!c.element_count_is("depth", 1)) return;
  if (!c.rank("values", exactly(1)) || !c.extent("values", 0, 2, "off and on")) return;
  const Dims* indices = c.dims("indices");
  if (!indices) return c.undecided("axis-range", "the rank of indices");
  const auto rank = static_cast<std::int64_t>(indices->size());
  if (!c.axis("axis", c.site.integer("axis"), between(-rank - 1, rank))) return;
  const Numbers depth = numbers(c.site, "", 1);
  if (!depth.values) return c.undecided("depth-range", "the depth");
  if ((*depth.values)[0] < 0) {
    c.argument(false, "depth-range", "a depth of 0 or more", fmt::format("{}", (*depth.values)[0]));
    return;
  }
  sensible_size(c, one_hot_dims(c.site, *indices, *one_hot_axis(c.site, indices->size())));
}

void infer_one_hot(Infer& n) {
  const Dims* indices = n.dims(0);
  const auto axis = indices ? one_hot_axis(n.site, indices->size()) : std::nullopt;
  if (!axis) return n.output(0, n.element(2));
  n.output(0, n.element(2), one_hot_dims(n.site, *indices, *axis));
}

// Off everywhere, and on at one place for each index.
Movement one_hot_movement(const Call& call) {
  const std::int64_t depth = exact_numbers(call, "", 1)[0];
  const std::vector<std::int64_t> indices = exact_numbers(call, "", 0);
  const Shape y = call.output_shape(0);
  const std::int64_t inner = around(y, *one_hot_axis(call.site, y.size() - 1)).inner;
  Movement movement{{}, 2, false};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t index = indices[i];
    if (index < 0 && call.site.version() >= 11) index += depth;
    if (index < 0 || index >= depth) continue;
    const auto at = static_cast<std::int64_t>(i);
    movement.regions.push_back(
        {2, {}, 1, (at / inner * depth + index) * inner + at % inner, {}, {}});
  }
  return movement;
}

// Indices that are not exact: each place is on, off or either.
struct OneHotRanges {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const std::int64_t depth = whole_numbers(frame.exact(1))[0];
    const Array<S> indices = frame.input(0), values = frame.input(2);
    Array<S> y(frame.output_shape(0));
    const auto [outer, inner] = around(y.shape, *one_hot_axis(frame.site(), y.shape.size() - 1));
    for (std::int64_t i = 0; i < indices.size(); ++i) {
      S index = truncate(indices[i]);
      if (frame.site().version() >= 11)
        index = select(less(index, zero<S>()), index + constant<S>(depth), index);
      for (std::int64_t k = 0; k < depth; ++k)
        y[(i / inner * depth + k) * inner + i % inner] =
            select(equal(index, constant<S>(k)), values[1], values[0]);
    }
    frame.output(0, y);
  }
};

void evaluate_one_hot(Call& call) {
  static const Meaning kRanges = compute<OneHotRanges>(Pattern::gather, 2);
  if (!call.input(0).exact() && domain_of(call.input(2).type()) < Domain::complex)
    return kRanges.evaluate(call);
  const Movement movement = one_hot_movement(call);
  call.outputs[0] = moved(call, movement, call.output_type(0), call.output_shape(0));
}

void negative_is_off(Builder& b) {
  const std::string depth = b("CastLike", {b.input(1), b.input(0)});
  const std::string negative = b("Less", {b.input(0), b.like(0, 0)});
  const std::string indices = b("Where", {negative, depth, b.input(0)});
  b.output(0, b.again_on({indices, b.input(1), b.input(2)}).front());
}

Operator one_hot() {
  return {.name = "OneHot",
          .versions = {9, 11, 28},
          .summary = "For each index a row of off values with one on value.",
          .attributes = {{"axis", Role::axis}},
          .require = require_one_hot,
          .infer = infer_one_hot,
          .meaning = custom(Pattern::gather, evaluate_one_hot),
          .variants = {{"negative-is-off", Variant::Kind::difference,
                        "tf.one_hot, jax.nn.one_hot, and the standard itself below version 11",
                        negative_is_off}}};
}

}  // namespace

std::vector<Operator> index_operators() {
  std::vector<Operator> all = {compress(), gather_operator(), gather_elements(), gather_nd(),
                               one_hot()};
  for (Operator& entry : index_scatter_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay
