// Window functions, and the filter bank of the mel scale.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "ops/output_type.h"
#include "ops/shape_numbers.h"
#include "ops/signal_parts.h"
#include "patterns/compute.h"

namespace assay {
namespace {

// The format in which such tables are computed: f32, as the standard's functions do, or the
// output's own where that is narrower.
const Rounding& table_format(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 ? rounding_of(type)
                                                               : Rounding::f32();
}

// A number of a table as the output's type holds it: integers are cut toward zero.
template <class S>
S as_output(ElementType type, const S& x) {
  return is_real(type) ? x : truncate(x);
}

// a - b cos(2 pi i / n) + c cos(4 pi i / n)
struct Coefficients {
  double a, b, c;
};

struct CosineWindow {
  Coefficients coefficients;
  bool periodic;
  ElementType type;
  explicit CosineWindow(const Call& call)
      : coefficients(of(call.node().op)),
        periodic(call.site.integer("periodic") != 0),
        type(call.output_type(0)) {}

  static Coefficients of(std::string_view op) {
    if (op == "HannWindow") return {0.5, 0.5, 0};
    if (op == "HammingWindow") return {25.0 / 46, 21.0 / 46, 0};
    return {0.42, 0.5, 0.08};
  }

  template <class S>
  void operator()(Frame<S>& f) const {
    const RoundingScope scope(table_format(type));
    const std::int64_t size = f.exact(0).integer(0);
    require_room(f.call());
    const S tau = constant<S>(2 * std::numbers::pi), two = constant<S>(2.0);
    const S length = constant<S>(static_cast<double>(periodic ? size : size - 1));
    const S a = constant<S>(coefficients.a), b = constant<S>(coefficients.b);
    Array<S> y(f.output_shape(0));
    for (std::int64_t i = 0; i < size; ++i) {
      const S at = constant<S>(static_cast<double>(i));
      const S angle = hull(at * tau / length, at * (tau / length));
      S wave = -b * cos(angle);
      if (coefficients.c != 0) wave = wave + constant<S>(coefficients.c) * cos(angle * two);
      const S value = a + wave;
      y[i] = as_output(type, value);
    }
    f.output(0, y);
  }
};

void require_window(Check& c) {
  c.in_range("periodic", between(0, 1));
  require_named_type(c, "T2", named_type(c.site, "output_datatype", ElementType::f32));
  if (!c.element_count_is("size", 1)) return;
  const Tensor* size = c.site.constant(0);
  if (!size) return c.undecided("size", "the value of size");
  const std::int64_t value = size->integer(0);
  if (c.argument(value >= 0, "size", "a size of at least 0", fmt::format("{}", value)))
    sensible_size(c, {Dim(value)});
}

void infer_window(Infer& n) {
  const auto size = dims_from_input(n.site, 0);
  n.output(0, named_type(n.site, "output_datatype", ElementType::f32),
           {size && size->size() == 1 ? size->front() : Dim()});
}

void symmetric(Builder& b) { b.output(0, b.again({attribute("periodic", 0)}).front()); }

// 0.54 - 0.46 cos, as 0.08 + 0.92 of the Hann window.
void rounded_coefficients(Builder& b) {
  const std::string hann =
      b("HannWindow", {b.input(0)}, {attribute("periodic", b.site().integer("periodic"))});
  const auto number = [&](double x) { return b.constant(make_scalar(ElementType::f32, x)); };
  const std::string y = b("Add", {b("Mul", {hann, number(0.92)}), number(0.08)});
  b.output(0, b("Cast", {y}, {attribute("to", b.site().integer("output_datatype"))}));
}

const std::vector<AttributeRole> kWindowRoles = {{"output_datatype", Role::type},
                                                 {"periodic", Role::flag}};

Operator window(std::string_view name, std::string_view summary,
                std::string_view symmetric_source) {
  return {.name = name,
          .versions = {17},
          .summary = summary,
          .attributes = kWindowRoles,
          .require = require_window,
          .infer = infer_window,
          .meaning = compute<CosineWindow>(Pattern::generate),
          .variants = {{"symmetric", Variant::Kind::difference, symmetric_source, symmetric}}};
}

Operator hamming() {
  Operator entry = window("HammingWindow", "25/46 - 21/46 cos(2 pi i / n).", "numpy.hamming");
  entry.variants.push_back({"rounded-coefficients", Variant::Kind::difference,
                            "PyTorch and numpy: 0.54 - 0.46 cos", rounded_coefficients});
  return entry;
}

// Where the triangles of the mel filters begin, peak and end.
template <class S>
std::vector<S> mel_edges(std::int64_t filters, double length, double rate, const S& low,
                         const S& high) {
  const auto number = [](double x) { return constant<S>(x); };
  const S ten = number(std::log(10.0)), scale = number(2595), base = number(700);
  const auto mel = [&](const S& hertz) { return scale * log1p(hertz / base) / ten; };
  const S first = mel(low), count = number(static_cast<double>(filters + 2));
  const S step = (mel(high) - first) / count;
  std::vector<S> edges;
  for (std::int64_t i = 0; i < filters + 2; ++i) {
    const S at = i == 0 ? first : number(static_cast<double>(i)) * step + first;
    const S hertz = base * expm1(at / scale * ten);
    edges.push_back(floor(number(length + 1) * hertz / number(rate)));
  }
  return edges;
}

// One triangle as a column: up from low to center, then down to high.
template <class S>
std::vector<S> triangle(std::int64_t low, std::int64_t center, std::int64_t high,
                        std::int64_t bins) {
  std::vector<S> column(static_cast<std::size_t>(bins));
  const auto put = [&](std::int64_t i, double above, double below) {
    if (i >= 0 && i < bins)
      column[static_cast<std::size_t>(i)] = constant<S>(above) / constant<S>(below);
  };
  if (center == low) put(center, 1, 1);
  for (std::int64_t i = std::max<std::int64_t>(low, 0);
       i <= std::min(center, bins - 1) && center > low; ++i)
    put(i, static_cast<double>(i - low), static_cast<double>(center - low));
  for (std::int64_t i = std::max<std::int64_t>(center, 0); i < std::min(high, bins); ++i)
    put(i, static_cast<double>(high - i), static_cast<double>(high - center));
  return column;
}

constexpr std::int64_t kFar = std::int64_t{1} << 40;  // beyond all bins

struct MelWeightMatrix {
  ElementType type;
  explicit MelWeightMatrix(const Call& call) : type(call.output_type(0)) {}

  template <class S>
  void operator()(Frame<S>& f) const {
    const RoundingScope scope(table_format(type));
    for (std::size_t i = 0; i < 3; ++i) f.exact(i);
    require_room(f.call());
    const std::int64_t filters = f.exact(0).integer(0), length = f.exact(1).integer(0);
    const auto rate = static_cast<double>(f.exact(2).integer(0));
    const std::vector<S> edges =
        mel_edges<S>(filters, static_cast<double>(length), rate, f.input(3)[0], f.input(4)[0]);
    Array<S> y(f.output_shape(0));
    for (std::int64_t i = 0; i < filters; ++i) {
      const std::vector<S> column = filter(edges.data() + i, y.shape[0]);
      for (std::int64_t k = 0; k < y.shape[0]; ++k)
        y[k * filters + i] = as_output(type, column[static_cast<std::size_t>(k)]);
    }
    f.output(0, y);
  }

  // What every triangle keeps: weights from 0 to 1.
  template <class S>
  static std::vector<S> any_triangle(std::vector<S> column) {
    for (S& weight : column) {
      if constexpr (std::same_as<S, Interval>) weight = {0, 1, false};
      if constexpr (std::same_as<S, Bounded>) weight.error = std::max(weight.error, 1.0);
    }
    return column;
  }

  // All triangles that the edges may give, the value's own first.
  template <class S>
  static std::vector<S> filter(const S* edges, std::int64_t bins) {
    std::int64_t own[3];
    std::pair<std::int64_t, std::int64_t> range[3];
    for (int k = 0; k < 3; ++k) {
      own[k] = static_cast<std::int64_t>(
          std::clamp(to_double(edges[k]), 0.0, static_cast<double>(kFar)));
      // No edge lies below 0 Hz, and one beyond all bins may lie anywhere there.
      const auto [first, last] = index_candidates(edges[k]);
      range[k] = {std::clamp<std::int64_t>(first, 0, kFar), std::min(last, kFar)};
    }
    std::vector<S> column = triangle<S>(own[0], own[1], own[2], bins);
    for (const auto& [first, last] : range)
      if (last - first > 8 || last < 0) return any_triangle(column);
    for (std::int64_t a = range[0].first; a <= range[0].second; ++a)
      for (std::int64_t b = std::max(a, range[1].first); b <= range[1].second; ++b)
        for (std::int64_t c = std::max(b, range[2].first); c <= range[2].second; ++c) {
          if (a == own[0] && b == own[1] && c == own[2]) continue;
          const std::vector<S> other = triangle<S>(a, b, c, bins);
          for (std::size_t k = 0; k < column.size(); ++k) column[k] = hull(column[k], other[k]);
        }
    return column;
  }
};

void require_mel(Check& c) {
  require_named_type(c, "T3", named_type(c.site, "output_datatype", ElementType::f32));
  constexpr std::string_view kNames[5] = {"num_mel_bins", "dft_length", "sample_rate",
                                          "lower_edge_hertz", "upper_edge_hertz"};
  double values[5] = {};
  for (std::size_t i = 0; i < 5; ++i) {
    if (!c.element_count_is(kNames[i], 1)) return;
    const Tensor* known = c.site.constant(i);
    if (!known) return c.undecided("frequency-range", fmt::format("the value of {}", kNames[i]));
    values[i] = known->real(0);
  }
  constexpr double kMost = 0x1p31;
  for (std::size_t i = 0; i < 3; ++i)
    if (!c.argument(values[i] >= 1 && values[i] <= kMost, "positive",
                    fmt::format("{} from 1 to 2^31", kNames[i]), fmt::format("{}", values[i])))
      return;
  const bool ordered = values[3] >= 0 && values[3] <= values[4] && values[4] <= values[2] / 2;
  if (c.argument(ordered, "frequency-range", "0 <= lower edge <= upper edge <= sample_rate / 2",
                 fmt::format("{} and {}", values[3], values[4])))
    sensible_size(c, {Dim(static_cast<std::int64_t>(values[1]) / 2 + 1),
                      Dim(static_cast<std::int64_t>(values[0]))});
}

void infer_mel(Infer& n) {
  const auto number = [&](std::size_t i) {
    const auto known = dims_from_input(n.site, i);
    return known && known->size() == 1 ? known->front() : Dim();
  };
  const Dim length = number(1);
  n.output(0, named_type(n.site, "output_datatype", ElementType::f32),
           {length.known() ? Dim(length.value / 2 + 1) : Dim(), number(0)});
}

Operator mel_weight_matrix() {
  return {
      .name = "MelWeightMatrix",
      .versions = {17},
      .summary = "Triangular filters, evenly spaced on the mel scale, over the bins of a spectrum.",
      .attributes = {{"output_datatype", Role::type}},
      .require = require_mel,
      .infer = infer_mel,
      .meaning = compute<MelWeightMatrix>(Pattern::generate)};
}

}  // namespace

std::vector<Operator> window_operators() {
  return {window("BlackmanWindow", "0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n).",
                 "numpy.blackman"),
          hamming(), window("HannWindow", "0.5 - 0.5 cos(2 pi i / n).", "numpy.hanning"),
          mel_weight_matrix()};
}

}  // namespace assay
