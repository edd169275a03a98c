// Pooling: a window slides over the spatial axes of N x C x D1 x D2 … and is reduced.
#include <fmt/format.h>

#include "ops/families.h"
#include "patterns/window.h"

namespace assay {
namespace {

struct AveragePool {
  bool count_padding;
  explicit AveragePool(const Call& call) : count_padding(call.site.integer("count_include_pad") != 0) {}
  template <class S>
  S operator()(const Window<S>& w) const {
    const auto inside = static_cast<std::int64_t>(w.inside.size());
    return sum(w.inside) / constant<S>(static_cast<double>(count_padding ? w.padded_size : inside));
  }
};

void require_pool(Check& c) {
  if (!c.rank("X", at_least(3))) return;
  const std::int64_t spatial = *c.rank_of("X") - 2;
  bool good = c.length("kernel_shape", spatial);
  good = c.length("strides", spatial) && good;
  good = c.length("dilations", spatial) && good;
  good = c.length("pads", 2 * spatial) && good;
  good = c.positive({"kernel_shape", "strides", "dilations"}) && good;
  good = c.not_negative({"pads"}) && good;
  good = c.one_of("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) && good;
  if (!good) return;
  const WindowAttributes a = window_attributes(c.site, static_cast<std::size_t>(spatial));
  for (std::size_t d = 0; d < static_cast<std::size_t>(spatial); ++d) {
    const Dim& extent = (*c.dims("X"))[d + 2];
    if (!extent.known()) {
      c.undecided("window-fits", fmt::format("extent {} of X", d + 2));
      continue;
    }
    const std::int64_t count = window_output(a, d, extent).value;
    c.argument(count > 0, "window-fits",
               fmt::format("a window of at most {} along axis {}", extent.value, d + 2),
               fmt::format("{}", a.kernel[d]));
  }
}

void infer_pool(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x || x->size() < 3) return n.output(0, n.element(0));
  const WindowAttributes a = window_attributes(n.site, x->size() - 2);
  Dims y = {(*x)[0], (*x)[1]};
  for (std::size_t d = 0; d + 2 < x->size(); ++d) y.push_back(window_output(a, d, (*x)[d + 2]));
  n.output(0, n.element(0), y);
}

const std::vector<AttributeRole> kPoolRoles = {
    {"auto_pad", Role::choice}, {"ceil_mode", Role::flag}, {"count_include_pad", Role::flag},
    {"dilations", Role::sizes}, {"kernel_shape", Role::sizes}, {"pads", Role::pads},
    {"strides", Role::sizes}};

void padding_is_counted(Builder& b) {
  b.output(0, b.again({attribute("count_include_pad", 1)}).front());
}

Operator average_pool() {
  return {.name = "AveragePool",
          .versions = {1, 7, 10, 11, 19, 22},
          .summary = "The mean of each window.",
          .attributes = kPoolRoles,
          .require = require_pool,
          .infer = infer_pool,
          .meaning = windowed<AveragePool>(),
          .variants = {{"padding-is-counted", Variant::Kind::defect,
                        "Keras 2.3 on Theano with padding='same'", padding_is_counted}}};
}

}  // namespace

std::vector<Operator> pool_operators() { return {average_pool()}; }

}  // namespace assay
