// Max pooling with and without the places of the maxima, and the way back.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/alignment.h"
#include "ops/pool.h"
#include "ops/window_checks.h"
#include "patterns/move.h"
#include "patterns/window.h"

namespace assay {
namespace {

struct MaxWindow {
  ElementType type;
  explicit MaxWindow(const Call& call) : type(call.output_type(0)) {}

  // An integer's maximum of nothing is the smallest number of its own type.
  template <class S>
  S operator()(const Window<S>& w) const {
    if (w.inside.empty() && !is_real(type))
      return constant<S>(static_cast<double>(smallest_integer(type)));
    return maximum(w.inside);
  }
  std::optional<Fold> fold() const { return Fold::maximum; }
  void finish(const FoldedRow&) const {}
};

// The first of the largest elements; the first NaN if there is one.
template <class S>
std::size_t index_of_largest(std::span<const S> x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double a = to_double(x[i]), b = to_double(x[best]);
    if (a > b || (std::isnan(a) && !std::isnan(b))) best = i;
  }
  return best;
}

struct Ends {
  double low, high;
  bool sure;  // a number for certain
};
Ends ends_of(const Bounded& x) {
  return {x.low(), x.high(), !x.is_anything() && !std::isnan(x.value)};
}
Ends ends_of(const Interval& x) { return {x.low, x.high, !x.nan && x.has_number()}; }

// Which elements an evaluation may find to be the largest.
template <class S>
std::vector<std::size_t> candidates(std::span<const S> x) {
  double floor = -std::numeric_limits<double>::infinity();
  bool sure = true;
  for (const S& element : x) {
    const Ends ends = ends_of(element);
    sure = sure && ends.sure;
    if (ends.sure) floor = std::max(floor, ends.low);
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!sure || ends_of(x[i]).high >= floor) result.push_back(i);
  return result;
}

// Places in a channel as Indices numbers them.
class Numbering {
 public:
  Numbering(const Shape& extents, bool column_major) : extents_(extents), turned_(column_major) {}
  std::int64_t operator()(std::int64_t place) const {
    if (!turned_) return place;
    std::int64_t number = 0;
    for (std::size_t d = extents_.size(); d-- > 0; place /= extents_[d]) {
      std::int64_t below = 1;
      for (std::size_t e = 0; e < d; ++e) below *= extents_[e];
      number += place % extents_[d] * below;
    }
    return number;
  }

 private:
  const Shape& extents_;
  bool turned_;
};

struct MaxPool {
  PoolWindows<MaxWindow> windows;
  explicit MaxPool(const Call& call) : windows(call) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    windows(frame);
    if (!frame.wants(1)) return;
    using Number = std::conditional_t<Plain<S>, std::int64_t, S>;
    const Array<S> x = frame.input(0);
    const Shape spatial(x.shape.begin() + 2, x.shape.end());
    const WindowGeometry g =
        window_geometry(window_attributes(frame.site(), spatial.size()), spatial);
    const Numbering numbering(g.extents, frame.site().integer("storage_order") != 0);
    Array<Number> places(frame.output_shape(1));
    const std::int64_t in_size = element_count(spatial), out_size = element_count(g.outputs);
    std::vector<S> inside;
    for_windows(g, [&](std::int64_t at, std::span<const std::int64_t> from, std::int64_t) {
      for (std::int64_t c = 0; c < x.shape[0] * x.shape[1]; ++c) {
        inside.clear();
        for (std::int64_t place : from) inside.push_back(x[c * in_size + place]);
        places[c * out_size + at] = number<Number, S>(inside, from, c * in_size, numbering);
      }
    });
    frame.output(1, settle(ElementType::i64, places));
  }

 private:
  // -1 if there is nothing inside of the window.
  template <class Number, class S>
  static Number number(std::span<const S> x, std::span<const std::int64_t> places,
                       std::int64_t start, const Numbering& numbering) {
    const std::int64_t place = x.empty() ? -1 : start + numbering(places[index_of_largest(x)]);
    if constexpr (Plain<S>) {
      return place;
    } else {
      auto least = static_cast<double>(place), most = least;
      for (std::size_t i : candidates(x)) {
        const auto other = static_cast<double>(start + numbering(places[i]));
        least = std::min(least, other);
        most = std::max(most, other);
      }
      if constexpr (std::is_same_v<S, Interval>) return Interval{least, most, false};
      const auto value = static_cast<double>(place);
      if constexpr (std::is_same_v<S, Bounded>)
        return Bounded{value, std::max(most - value, value - least)};
    }
  }
};

// ceil_mode also makes windows that begin behind the input, where they find the smallest float.
void windows_in_the_padding(Builder& b) {
  const Dims& x = *b.site().dims(0);
  const WindowAttributes a = window_attributes(b.site(), x.size() - 2);
  if (!a.ceil_mode || !is_real(b.site().element(0)) || a.auto_pad.starts_with("SAME"))
    return b.output(0, b.again().front());
  std::vector<std::int64_t> behind;
  for (std::size_t d = 0; d < a.kernel.size(); ++d) {
    const std::int64_t room = x[d + 2].value + a.pads[d] + a.pads[d + a.kernel.size()] -
                              (a.kernel[d] - 1) * a.dilations[d] - 1;
    behind.push_back((room + a.strides[d] - 1) / a.strides[d] * a.strides[d] - room);
  }
  const std::vector<std::int64_t> none(a.pads.size(), 0);
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  b.output(0, b.again_on({padded_input(b, kLowest, behind)},
                         {attribute("pads", none), attribute("ceil_mode", 0)})
                  .front());
}

Operator max_pool() {
  return {
      .name = "MaxPool",
      .versions = {1, 8, 10, 11, 12, 22},
      .summary = "The largest element of each window, and where it stands.",
      .attributes = pool_roles(
          {{"ceil_mode", Role::flag}, {"dilations", Role::sizes}, {"storage_order", Role::flag}}),
      .require = require_pool,
      .infer = infer_pool,
      .align = align_pool,
      .meaning = compute<MaxPool, RealsAndIntegers>(Pattern::windowed),
      .variants = {
          {"windows-in-the-padding", Variant::Kind::defect,
           "ONNX Runtime below 1.21, OpenVINO up to 2026.4, PyTorch 1.4", windows_in_the_padding},
          {"padding-ignores-dilations", Variant::Kind::defect,
           "ONNX Runtime up to 1.31 with SAME_UPPER or SAME_LOWER", padding_ignores_dilations},
          {"pads-on-the-other-side", Variant::Kind::defect, "Keras 2.3 on Theano",
           pads_on_the_other_side},
          {"valid-rounds-up", Variant::Kind::difference,
           "ONNX Runtime and the shape inference of onnx", valid_rounds_up}}};
}

// The shape that the indices are numbered in: that of MaxPool's input, as the attributes tell it.
std::optional<Dims> unpooled(const Site& site) {
  const Dims* x = site.dims(0);
  if (!x || x->size() < 3) return std::nullopt;
  const WindowAttributes a = window_attributes(site, x->size() - 2);
  if (!has_lengths(a, x->size() - 2)) return std::nullopt;
  Dims result = {(*x)[0], (*x)[1]};
  for (std::size_t d = 0; d + 2 < x->size(); ++d) {
    const Dim& extent = (*x)[d + 2];
    const bool computable = extent.known() && extent.value < kWindowLimit / a.strides[d];
    result.push_back(!computable ? Dim()
                                 : Dim((extent.value - 1) * a.strides[d] + a.kernel[d] - a.pads[d] -
                                       a.pads[d + a.kernel.size()]));
  }
  return result;
}

void require_output_shape(Check& c, const Dims& own) {
  const auto given = dims_from_input(c.site, 2);
  if (!given) return c.undecided("output-shape", "the elements of output_shape");
  if (!c.argument(given->size() == own.size(), "output-shape",
                  fmt::format("{} numbers in output_shape", own.size()),
                  fmt::format("{}", given->size())))
    return;
  if (const Tensor* values = c.site.constant(2))
    for (std::int64_t value : values->integers())
      if (!c.argument(value >= 0, "output-shape", "extents not below 0", fmt::format("{}", value)))
        return;
  for (std::size_t d = 0; d < own.size(); ++d) {
    const Dim &wanted = (*given)[d], &least = own[d];
    if (!wanted.known() || !least.known()) {
      c.undecided("output-shape", fmt::format("extent {} of the output", d));
    } else if (!c.argument(d < 2 ? wanted.value == least.value : wanted.value >= least.value,
                           "output-shape", fmt::format("room for the shape {}", to_text(own)),
                           to_text(*given))) {
      return;
    }
  }
  require_size(c, *given);
}

void require_max_unpool(Check& c) {
  if (!require_window_attributes(c, "X") || !c.same_shape("X", "I")) return;
  const WindowAttributes a = window_attributes(c.site, c.dims("X")->size() - 2);
  if (!c.argument(in_window_limits(a), "window-fits", "windows and paddings below 2^48",
                  "larger ones") ||
      !c.rank("output_shape", exactly(1)))
    return;
  const Dims own = *unpooled(c.site);
  const Dims& x = *c.dims("X");
  for (std::size_t d = 2; d < own.size(); ++d)
    if (x[d].known() &&
        !c.shape(own[d].known(), "output-shape", "extents not below 0", to_text(own)))
      return;
  if (c.site.has_input(2)) return require_output_shape(c, own);
  require_size(c, own);
}

void infer_max_unpool(Infer& n) {
  ValueType type = ValueType::tensor(n.element(0));
  if (!n.site.has_input(2)) {
    type.dims = unpooled(n.site);
  } else {
    type.dims = dims_from_input(n.site, 2);
    if (!type.dims && n.dims(0)) type.dims = Dims(n.dims(0)->size());
  }
  n.output(0, std::move(type));
}

// Indices count in MaxPool's input, which stands in the first corner of a larger output.
Sources unpool_sources(const Call& call) {
  const std::vector<std::int64_t> indices = call.exact(1).integers();
  if (call.has(2)) call.exact(2);
  const Shape own = *to_shape(*unpooled(call.site)), shape = call.output_shape(0);
  const std::int64_t size = element_count(own);
  const Shape strides = strides_of(shape);
  Sources sources;
  sources.inputs = {0};
  sources.indices.assign(static_cast<std::size_t>(element_count(shape)), -1);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t rest = indices[i], place = 0;
    if (rest < 0 || rest >= size)
      throw EvaluationError("MaxUnpool.index-range",
                            fmt::format("MaxUnpool has an index {}, but {} elements", rest, size));
    for (std::size_t d = own.size(); d-- > 0; rest /= own[d]) place += rest % own[d] * strides[d];
    sources.indices[static_cast<std::size_t>(place)] = static_cast<std::int64_t>(i);
  }
  return sources;
}

// Indices count in the output itself.
void counts_in_the_output(Builder& b) {
  const Tensor* shape = b.has(2) ? b.site().constant(2) : nullptr;
  if (!shape) return b.output(0, b.again().front());
  const Shape extents = shape->integers();
  const std::string flat = b.integers({-1});
  const std::string zeros = b.constant(Tensor(b.site().element(0), {element_count(extents)}));
  const std::string all = b("ScatterElements", {zeros, b("Reshape", {b.input(1), flat}),
                                                b("Reshape", {b.input(0), flat})});
  b.output(0, b("Reshape", {all, b.input(2)}, {attribute("allowzero", 1)}));
}

Operator max_unpool() {
  return {
      .name = "MaxUnpool",
      .versions = {9, 11, 22},
      .summary = "Elements put back where MaxPool found them, zeros elsewhere.",
      .attributes = {{"kernel_shape", Role::sizes}, {"pads", Role::pads}, {"strides", Role::sizes}},
      .require = require_max_unpool,
      .infer = infer_max_unpool,
      .meaning = gather(unpool_sources),
      .variants = {{"counts-in-the-output", Variant::Kind::difference,
                    "ONNX Runtime with output_shape", counts_in_the_output}}};
}

}  // namespace

std::vector<Operator> max_pool_operators() { return {max_pool(), max_unpool()}; }

}  // namespace assay
