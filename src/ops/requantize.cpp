#include "ops/requantize.h"

namespace assay {

std::string rounded_after_zero_point(Builder& b, const std::string& sums, std::string scale,
                                     const std::string& y_scale, const std::string& zero_point,
                                     ElementType type) {
  const auto real = [&](const std::string& x) {
    return b("Cast", {x}, {attribute("to", static_cast<std::int64_t>(ElementType::f32))});
  };
  const auto number = [&](double x) { return b.constant(make_scalar(ElementType::f32, x)); };
  scale = b("Div", {scale, real(y_scale)});
  const std::string moved = b("Add", {b("Mul", {real(sums), scale}), real(zero_point)});
  const std::string cut =
      b("Clip", {b("Round", {moved}), number(static_cast<double>(smallest_integer(type))),
                 number(static_cast<double>(largest_integer(type)))});
  return b("Cast", {cut}, {attribute("to", static_cast<std::int64_t>(type))});
}

}  // namespace assay
