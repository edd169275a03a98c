#include "ops/window_checks.h"

#include <fmt/format.h>

namespace assay {

bool require_window_attributes(Check& c, std::string_view input) {
  if (!c.rank(input, at_least(3))) return false;
  const std::int64_t spatial = *c.rank_of(input) - 2;
  bool good = c.length("kernel_shape", spatial);
  good = c.length("strides", spatial) && good;
  good = c.length("dilations", spatial) && good;
  good = c.length("pads", 2 * spatial) && good;
  good = c.positive({"kernel_shape", "strides", "dilations"}) && good;
  good = c.not_negative({"pads"}) && good;
  return c.one_of("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) && good;
}

bool require_windows_fit(Check& c, std::string_view input, const WindowAttributes& a) {
  if (!c.argument(in_window_limits(a), "window-fits", "windows and paddings below 2^48",
                  "larger ones"))
    return false;
  const Dims& x = *c.dims(input);
  bool good = true;
  for (std::size_t d = 0; d + 2 < x.size(); ++d) {
    if (!x[d + 2].known()) {
      c.undecided("window-fits", fmt::format("extent {} of {}", d + 2, input));
      good = false;
      continue;
    }
    if (window_output(a, d, x[d + 2]).value > 0) continue;
    good =
        c.argument(false, "window-fits",
                   fmt::format("a window that fits into {} along axis {}", x[d + 2].value, d + 2),
                   fmt::format("{}", (a.kernel[d] - 1) * a.dilations[d] + 1));
  }
  return good;
}

bool has_lengths(const WindowAttributes& a, std::size_t spatial) {
  return a.kernel.size() == spatial && a.strides.size() == spatial &&
         a.dilations.size() == spatial && a.pads.size() == 2 * spatial && in_window_limits(a);
}

Dims window_outputs(const WindowAttributes& a, const Dims& x) {
  Dims result;
  for (std::size_t d = 0; d + 2 < x.size(); ++d) result.push_back(window_output(a, d, x[d + 2]));
  return result;
}

bool require_size(Check& c, const Dims& result) {
  std::int64_t size = 1;
  for (const Dim& dim : result) {
    if (dim.known() && dim.value == 0) return true;
    if (!dim.known()) continue;
    if (__builtin_mul_overflow(size, dim.value, &size) || size >= std::int64_t{1} << 31)
      return c.shape(false, "size", "a result of fewer than 2^31 elements", to_text(result));
  }
  return true;
}

}  // namespace assay
