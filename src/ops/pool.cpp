// Pooling: a window slides over the spatial axes of N x C x D1 x D2 … and is reduced.
#include "ops/pool.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/alignment.h"
#include "ops/families.h"
#include "ops/window_checks.h"
#include "patterns/row_kernels.h"
#include "patterns/window.h"

namespace assay {
namespace {

struct AveragePool {
  bool count_padding;
  explicit AveragePool(const Call& call)
      : count_padding(call.site.integer("count_include_pad") != 0) {}

  template <class S>
  S operator()(const Window<S>& w) const {
    const auto inside = static_cast<std::int64_t>(w.inside.size());
    return sum(w.inside) / constant<S>(static_cast<double>(count_padding ? w.padded_size : inside));
  }

  std::optional<Fold> fold() const { return Fold::sum; }
  void finish(const FoldedRow& row) const {
    row_kernels().divide(row.values.data(), count_padding ? row.padded : row.inside,
                         count_padding ? row.paddeds : row.insides,
                         static_cast<std::int64_t>(row.values.size()));
  }
};

struct LpPool : Norm {
  using Norm::Norm;
  template <class S>
  S operator()(const Window<S>& w) const {
    return Norm::operator()(w.inside);
  }

  std::optional<Fold> fold() const {
    if (p == 1) return Fold::sum_of_absolutes;
    return p == 2 ? std::optional(Fold::sum_of_squares) : std::nullopt;
  }
  void finish(const FoldedRow& row) const {
    if (p == 2)
      for (double& value : row.values) value = std::sqrt(value);
  }
};

void require_lp_pool(Check& c) {
  require_norm(c);
  require_pool(c);
}

void padding_is_counted(Builder& b) {
  b.output(0, b.again({attribute("count_include_pad", 1)}).front());
}

// What hangs over the padded input counts as if it were there.
void divides_by_whole_kernel(Builder& b) {
  const Dims& x = *b.site().dims(0);
  const WindowAttributes a = window_attributes(b.site(), x.size() - 2);
  const std::vector<std::int64_t> none(a.pads.size(), 0);
  if (b.site().integer("count_include_pad") == 0 || !a.ceil_mode)
    return b.output(0, b.again().front());
  std::vector<std::int64_t> behind;
  for (std::size_t d = 0; d < a.kernel.size(); ++d) {
    const std::int64_t last = (window_output(a, d, x[d + 2]).value - 1) * a.strides[d];
    const std::int64_t room = x[d + 2].value + a.pads[d] + a.pads[d + a.kernel.size()];
    behind.push_back(
        std::max<std::int64_t>(0, last + (a.kernel[d] - 1) * a.dilations[d] + 1 - room));
  }
  b.output(0, b.again_on({padded_input(b, 0, behind)},
                         {attribute("pads", none), attribute("ceil_mode", 0)})
                  .front());
}

// The mean of nothing is 0.
void empty_window_is_zero(Builder& b) {
  Tensor zeros(b.site().element(0), *to_shape(*b.site().dims(0)));
  const std::string counted = b.again_on({b.constant(std::move(zeros))}).front();
  b.output(0, b("Where", {b("IsNaN", {counted}), b.like(0, 0), b.again().front()}));
}

// The norm as a multiple of the mean over what lies inside: too large at the edges.
void scaled_mean(Builder& b) {
  const auto p = static_cast<double>(b.site().integer("p", 2));
  double size = 1;
  for (std::int64_t extent : b.site().integers("kernel_shape")) size *= static_cast<double>(extent);
  std::vector<Attribute> attributes;
  for (const Attribute& given : b.site().node().attributes)
    if (given.name != "p") attributes.push_back(given);
  const std::string powers = b("Pow", {b("Abs", {b.input(0)}), b.like(0, p)});
  const std::string mean = b("AveragePool", {powers}, attributes);
  b.output(0, b("Pow", {b("Mul", {mean, b.like(0, size)}), b.like(0, 1 / p)}));
}

Operator average_pool() {
  return {
      .name = "AveragePool",
      .versions = {1, 7, 10, 11, 19, 22},
      .summary = "The mean of each window.",
      .attributes = pool_roles({{"ceil_mode", Role::flag},
                                {"count_include_pad", Role::flag},
                                {"dilations", Role::sizes}}),
      .require = require_pool,
      .infer = infer_pool,
      .align = align_pool,
      .meaning = windowed<AveragePool>(),
      .variants = {
          {"padding-is-counted", Variant::Kind::defect, "Keras 2.3 on Theano with padding='same'",
           padding_is_counted},
          {"divides-by-whole-kernel", Variant::Kind::defect,
           "ONNX Runtime below 1.29 at opset 11, onnx.reference 1.16 and 1.17",
           divides_by_whole_kernel},
          {"empty-window-is-zero", Variant::Kind::difference, "ONNX Runtime", empty_window_is_zero},
          {"padding-ignores-dilations", Variant::Kind::defect,
           "ONNX Runtime up to 1.31 with SAME_UPPER or SAME_LOWER", padding_ignores_dilations},
          {"pads-on-the-other-side", Variant::Kind::defect, "Keras 2.3 on Theano and CNTK",
           pads_on_the_other_side},
          {"valid-rounds-up", Variant::Kind::difference,
           "ONNX Runtime and the shape inference of onnx", valid_rounds_up}}};
}

Operator lp_pool() {
  return {.name = "LpPool",
          .versions = {1, 2, 11, 18, 22},
          .summary = "The p-norm of each window.",
          .attributes = pool_roles(
              {{"ceil_mode", Role::flag}, {"dilations", Role::sizes}, {"p", Role::factor}}),
          .require = require_lp_pool,
          .infer = infer_pool,
          .align = align_pool,
          .meaning = windowed<LpPool>(),
          .variants = {{"scaled-mean", Variant::Kind::difference,
                        "onnx.reference: the kernel's size times the mean inside", scaled_mean}}};
}

}  // namespace

std::vector<AttributeRole> pool_roles(std::vector<AttributeRole> more) {
  std::vector<AttributeRole> roles = {{"auto_pad", Role::choice},
                                      {"kernel_shape", Role::sizes},
                                      {"pads", Role::pads},
                                      {"strides", Role::sizes}};
  roles.insert(roles.end(), more.begin(), more.end());
  return roles;
}

void require_pool(Check& c) {
  if (!require_window_attributes(c, "X") || !c.required("kernel_shape")) return;
  const Dims& x = *c.dims("X");
  const WindowAttributes a = window_attributes(c.site, x.size() - 2);
  if (!require_windows_fit(c, "X", a)) return;
  Dims y = window_outputs(a, x);
  y.insert(y.begin(), x.begin(), x.begin() + 2);
  require_size(c, y);
}

void infer_pool(Infer& n) {
  const Dims* x = n.dims(0);
  std::optional<Dims> y;
  if (x && x->size() >= 3) {
    const WindowAttributes a = window_attributes(n.site, x->size() - 2);
    if (has_lengths(a, x->size() - 2)) {
      y = window_outputs(a, *x);
      y->insert(y->begin(), x->begin(), x->begin() + 2);
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    ValueType type = ValueType::tensor(i == 0 ? n.element(0) : ElementType::i64);
    type.dims = y;
    n.output(i, std::move(type));
  }
}

// p is a whole number from version 2 on.
double norm_exponent(const Call& call) {
  return call.site.version() == 1 ? call.site.real("p", 2)
                                  : static_cast<double>(call.site.integer("p", 2));
}

void require_norm(Check& c) {
  if (c.site.version() >= 2) {
    c.in_range("p", at_least(1));
    return;
  }
  const double p = c.site.real("p", 2);
  c.argument(p > 0 && !std::isinf(p), "range", "p above 0 and finite", fmt::format("{}", p));
}

void pads_on_the_other_side(Builder& b) {
  const std::string& given = b.site().text("auto_pad");
  std::vector<std::int64_t> pads = b.site().integers("pads");
  if (!pads.empty() && (given.empty() || given == "NOTSET")) {
    std::rotate(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2),
                pads.end());
    return b.output(0, b.again({attribute("pads", std::move(pads))}).front());
  }
  const std::string other = given == "SAME_UPPER"   ? "SAME_LOWER"
                            : given == "SAME_LOWER" ? "SAME_UPPER"
                                                    : given;
  b.output(0, other.empty() ? b.again().front() : b.again({attribute("auto_pad", other)}).front());
}

void valid_rounds_up(Builder& b) {
  if (b.site().text("auto_pad") != "VALID") return b.output(0, b.again().front());
  const std::vector<std::int64_t> none(2 * b.site().integers("kernel_shape").size(), 0);
  b.output(
      0, b.again({attribute("auto_pad", std::string("NOTSET")), attribute("pads", none)}).front());
}

void padding_ignores_dilations(Builder& b) {
  const Dims& x = *b.site().dims(0);
  WindowAttributes a = window_attributes(b.site(), x.size() - 2);
  if (!a.auto_pad.starts_with("SAME")) return b.output(0, b.again().front());
  a.dilations.assign(a.dilations.size(), 1);
  const Shape spatial = *to_shape(Dims(x.begin() + 2, x.end()));
  const WindowGeometry g = window_geometry(a, spatial);
  std::vector<std::int64_t> pads = g.pads_begin;
  pads.insert(pads.end(), g.pads_end.begin(), g.pads_end.end());
  b.output(0, b.again({attribute("auto_pad", std::string("NOTSET")), attribute("pads", pads),
                       attribute("ceil_mode", 0)})
                  .front());
}

std::string padded_input(Builder& b, double value, const std::vector<std::int64_t>& behind) {
  const std::size_t spatial = behind.size();
  const WindowAttributes a = window_attributes(b.site(), spatial);
  std::vector<std::int64_t> pads(2 * (spatial + 2), 0);
  for (std::size_t d = 0; d < spatial; ++d) {
    pads[d + 2] = a.pads[d];
    pads[spatial + 2 + d + 2] = a.pads[d + spatial] + behind[d];
  }
  return b("Pad", {b.input(0), b.integers(pads), b.like(0, value)});
}

std::vector<Operator> pool_operators() {
  std::vector<Operator> all = {average_pool(), lp_pool()};
  for (const std::vector<Operator>& more :
       {global_pool_operators(), max_pool_operators(), region_pool_operators()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace assay
