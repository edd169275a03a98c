// Fourier transforms along an axis, and of a sliding window.
#include <fmt/format.h>

#include "base/parallel.h"
#include "ops/output_type.h"
#include "ops/shape_numbers.h"
#include "ops/signal_fourier.h"
#include "ops/signal_parts.h"
#include "patterns/compute.h"

namespace assay {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 31;

bool flag(const Site& site, std::string_view name) { return site.integer(name) != 0; }

// The axis as the node gives it: an attribute up to version 17, later an input. Absent: not known.
std::optional<std::int64_t> given_axis(const Site& site) {
  if (site.version() < 20) return site.integer("axis", 1);
  if (!site.has_input(2)) return -2;
  const Tensor* axis = site.constant(2);
  return axis && axis->size() == 1 ? std::optional(axis->integer(0)) : std::nullopt;
}

// The number in a scalar input; unknown if it is not known, `fallback` if it is not given.
Dim scalar_input(const Site& site, std::size_t i, const Dim& fallback) {
  if (!site.has_input(i)) return fallback;
  const auto known = site.extents(i);
  return known && known->size() == 1 ? known->front() : Dim();
}

// The length of the transform along an axis of extent `bins`.
Dim transform_length(const Site& site, const Dim& bins) {
  if (site.has_input(1)) return scalar_input(site, 1, Dim());
  if (!flag(site, "inverse") || !flag(site, "onesided")) return bins;
  return bins.known() ? Dim(2 * (bins.value - 1)) : Dim();
}

Dim half(const Dim& length) { return length.known() ? Dim(length.value / 2 + 1) : Dim(); }

// A line of `length` numbers, zeros behind the end of the signal.
template <class S>
ComplexLine<S> read_line(const S* x, std::int64_t stride, std::int64_t count, bool complex,
                         std::int64_t length) {
  ComplexLine<S> line(length);
  for (std::int64_t k = 0; k < std::min(count, length); ++k) {
    line.real[static_cast<std::size_t>(k)] = x[k * stride];
    if (complex) line.imaginary[static_cast<std::size_t>(k)] = x[k * stride + 1];
  }
  return line;
}

// The whole spectrum of a real signal from its first half; what a real signal cannot have is
// left out.
template <class S>
void mirror(ComplexLine<S>& line) {
  const std::size_t n = line.real.size();
  line.imaginary[0] = zero<S>();
  if (n % 2 == 0) line.imaginary[n / 2] = zero<S>();
  for (std::size_t k = n / 2 + 1; k < n; ++k) {
    line.real[k] = line.real[n - k];
    line.imaginary[k] = -line.imaginary[n - k];
  }
}

struct Transform {
  template <class S>
  void operator()(Frame<S>& f) const {
    for (std::size_t i = 1; i < 3; ++i)
      if (f.has(i)) f.exact(i);
    require_room(f.call());
    const Array<S> x = f.input(0);
    const Shape out = f.output_shape(0);
    const auto rank = static_cast<std::int64_t>(out.size());
    const auto axis = static_cast<std::size_t>(*normalize_axis(*given_axis(f.site()), rank));
    const bool inverse = flag(f.site(), "inverse"), folded = inverse && flag(f.site(), "onesided");
    const std::int64_t count = x.shape[axis], length = transform_length(f.site(), count).value;
    const std::int64_t parts = x.shape.back(), out_parts = out.back();
    const std::int64_t inner = element_count(std::span(out).subspan(axis + 1)) / out_parts;
    const std::int64_t lines = element_count(std::span(out).first(axis)) * inner;
    Array<S> y(out);
    const Rounding& rules = rounding();
    parallel_for(lines, 1 + 4096 / length, [&](std::int64_t begin, std::int64_t end) {
      const RoundingScope scope(rules);
      for (std::int64_t l = begin; l < end; ++l) {
        const std::int64_t o = l / inner, i = l % inner;
        const S* from = x.data.data() + (o * count * inner + i) * parts;
        ComplexLine<S> line =
            read_line(from, inner * parts, folded ? std::min(count, length / 2 + 1) : count,
                      parts == 2, length);
        if (folded) mirror(line);
        const ComplexLine<S> result = fourier(line, out[axis], inverse);
        for (std::int64_t k = 0; k < out[axis]; ++k) {
          const std::int64_t at = ((o * out[axis] + k) * inner + i) * out_parts;
          y[at] = result.real[static_cast<std::size_t>(k)];
          if (out_parts == 2) y[at + 1] = result.imaginary[static_cast<std::size_t>(k)];
        }
      }
    });
    f.output(0, y);
  }
};

bool require_scalar(Check& c, std::string_view input) { return c.element_count_is(input, 1); }

bool require_parts(Check& c, std::string_view input, const Dims& x) {
  const Dim& parts = x.back();
  if (!parts.known()) {
    c.undecided("parts", fmt::format("the last extent of {}", input));
    return false;
  }
  return c.shape(parts.value == 1 || parts.value == 2, "parts",
                 "a last extent of 1 (real) or 2 (complex)", to_text(x));
}

bool require_length(Check& c, const Dim& length) {
  if (!length.known() && length.value == -1 && length.symbol.empty()) {
    c.undecided("length-range", "the length of the transform");
    return false;
  }
  return c.argument(length.value >= 1 && length.value <= kLongest, "length-range",
                    "a length from 1 to 2^31", fmt::format("{}", length.value));
}

// A scalar whose value is known: also negative ones, which an extent cannot hold.
bool require_positive_scalar(Check& c, std::string_view input, std::size_t i) {
  if (!c.site.has_input(i)) return true;
  const Tensor* known = c.site.constant(i);
  if (!known) {
    c.undecided("length-range", fmt::format("the value of {}", input));
    return false;
  }
  const std::int64_t value = known->integer(0);
  return c.argument(value >= 1 && value <= kLongest, "length-range",
                    fmt::format("{} from 1 to 2^31", input), fmt::format("{}", value));
}

void require_dft(Check& c) {
  bool good = c.in_range("inverse", between(0, 1));
  good = c.in_range("onesided", between(0, 1)) && good;
  good = require_scalar(c, "dft_length") && good;
  if (c.site.version() >= 20) good = require_scalar(c, "axis") && good;
  if (!good || !c.rank("input", at_least(2))) return;
  const Dims& x = *c.dims("input");
  const auto rank = static_cast<std::int64_t>(x.size());
  const auto axis = given_axis(c.site);
  if (!axis) return c.undecided("axis-range", "the value of axis");
  const auto at = normalize_axis(*axis, rank);
  if (!c.argument(at && *at != rank - 1, "axis-range",
                  fmt::format("{} to {} without {} and -1", -rank, rank - 2, rank - 1),
                  fmt::format("{}", *axis)))
    return;
  if (!require_parts(c, "input", x)) return;
  const bool inverse = flag(c.site, "inverse");
  if (flag(c.site, "onesided") &&
      !c.shape(x.back().value == (inverse ? 2 : 1), "onesided",
               inverse ? "a complex spectrum" : "a real signal", to_text(x)))
    return;
  if (!require_positive_scalar(c, "dft_length", 1)) return;
  const Dim& extent = x[static_cast<std::size_t>(*at)];
  const Dim length = transform_length(c.site, extent);
  if (!extent.known()) return c.undecided("length-range", "the extent of the axis");
  if (!require_length(c, length)) return;
  Dims y = x;
  y[static_cast<std::size_t>(*at)] = length;
  sensible_size(c, y);
}

void infer_dft(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x || x->size() < 2) return n.output(0, n.element(0));
  const bool inverse = flag(n.site, "inverse"), onesided = flag(n.site, "onesided");
  Dims y = *x;
  y.back() = Dim(inverse && onesided ? 1 : 2);
  const auto axis = given_axis(n.site);
  const auto at = axis ? normalize_axis(*axis, static_cast<std::int64_t>(x->size())) : std::nullopt;
  if (!at) {
    for (std::size_t d = 0; d + 1 < y.size(); ++d) y[d] = Dim();
  } else {
    Dim& extent = y[static_cast<std::size_t>(*at)];
    const Dim length = transform_length(n.site, extent);
    extent = onesided && !inverse ? half(length) : length;
  }
  n.output(0, n.element(0), std::move(y));
}

void inverse_is_not_divided(Builder& b) {
  const std::string y = b.again().front();
  const Dims* x = b.site().dims(0);
  const auto axis = given_axis(b.site());
  if (!flag(b.site(), "inverse") || !x || !axis) return b.output(0, y);
  const auto at = normalize_axis(*axis, static_cast<std::int64_t>(x->size()));
  const Dim length = transform_length(b.site(), (*x)[static_cast<std::size_t>(*at)]);
  b.output(0, b("Mul", {y, b.like(0, static_cast<double>(length.value))}));
}

Operator dft() {
  return {.name = "DFT",
          .versions = {17, 20},
          .summary = "The discrete Fourier transform along an axis.",
          .attributes = {{"axis", Role::axis}, {"inverse", Role::flag}, {"onesided", Role::flag}},
          .require = require_dft,
          .infer = infer_dft,
          .meaning = compute<Transform>(Pattern::rowwise),
          .variants = {{"inverse-is-not-divided", Variant::Kind::difference,
                        "FFTW and cuFFT, whose inverse transforms are not normalized",
                        inverse_is_not_divided}}};
}

// Lengths of frames, with what is not known left open.
Dim frame_length(const Site& site) {
  if (site.has_input(3)) return scalar_input(site, 3, Dim());
  if (site.has_input(2)) {
    const Dims* window = site.dims(2);
    return window && window->size() == 1 ? window->front() : Dim();
  }
  const Dims* signal = site.dims(0);
  return signal && signal->size() == 3 ? (*signal)[1] : Dim();
}

struct ShortTransform {
  template <class S>
  void operator()(Frame<S>& f) const {
    const std::int64_t step = f.exact(1).integer(0);
    if (f.has(3)) f.exact(3);
    const Array<S> x = f.input(0);
    const Array<S> window = f.has(2) ? f.input(2) : Array<S>();
    Array<S> y(f.output_shape(0));
    const std::int64_t length = frame_length(f.site()).value;
    const std::int64_t frames = y.shape[1], bins = y.shape[2], parts = x.shape[2];
    const Rounding& rules = rounding();
    parallel_for(y.shape[0] * frames, 1 + 4096 / length, [&](std::int64_t begin, std::int64_t end) {
      const RoundingScope scope(rules);
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t start = r / frames * x.shape[1] + r % frames * step;
        ComplexLine<S> line =
            read_line(x.data.data() + start * parts, parts, length, parts == 2, length);
        for (std::int64_t k = 0; k < window.size(); ++k) {
          const auto at = static_cast<std::size_t>(k);
          line.real[at] = line.real[at] * window[k];
          line.imaginary[at] = line.imaginary[at] * window[k];
        }
        const ComplexLine<S> result = fourier(line, bins, false);
        for (std::int64_t k = 0; k < bins; ++k) {
          y[(r * bins + k) * 2] = result.real[static_cast<std::size_t>(k)];
          y[(r * bins + k) * 2 + 1] = result.imaginary[static_cast<std::size_t>(k)];
        }
      }
    });
    f.output(0, y);
  }
};

void require_stft(Check& c) {
  bool good = c.in_range("onesided", between(0, 1));
  good = require_scalar(c, "frame_step") && require_scalar(c, "frame_length") && good;
  good = c.rank("signal", exactly(3)) && c.rank("window", exactly(1)) && good;
  good = good && require_positive_scalar(c, "frame_step", 1);
  if (!good || !require_positive_scalar(c, "frame_length", 3)) return;
  const Dims& x = *c.dims("signal");
  if (!require_parts(c, "signal", x)) return;
  if (flag(c.site, "onesided") &&
      !c.shape(x[2].value == 1, "onesided", "a real signal", to_text(x)))
    return;
  const Dim length = frame_length(c.site);
  if (!length.known() || !x[1].known())
    return c.undecided("length-range", "the lengths of signal and frame");
  if (c.site.has_input(2) && !c.extent("window", 0, length, "frame_length")) return;
  if (!require_length(c, length)) return;
  c.argument(length.value <= x[1].value, "frame-fits",
             fmt::format("a frame of at most {}", x[1].value), fmt::format("{}", length.value));
}

void infer_stft(Infer& n) {
  const Dims* x = n.dims(0);
  const Dim length = frame_length(n.site), step = scalar_input(n.site, 1, Dim());
  const Dim batch = x && x->size() == 3 ? (*x)[0] : Dim();
  const Dim extent = x && x->size() == 3 ? (*x)[1] : Dim();
  Dim frames;
  if (extent.known() && length.known() && step.known() && step.value > 0 &&
      length.value <= extent.value)
    frames = Dim((extent.value - length.value) / step.value + 1);
  n.output(0, n.element(0),
           {batch, frames, flag(n.site, "onesided") ? half(length) : length, Dim(2)});
}

Operator stft() {
  return {
      .name = "STFT",
      .versions = {17},
      .summary = "The Fourier transforms of the frames that a window sliding over a signal sees.",
      .attributes = {{"onesided", Role::flag}},
      .require = require_stft,
      .infer = infer_stft,
      .meaning = compute<ShortTransform>(Pattern::windowed)};
}

}  // namespace

std::vector<Operator> fourier_operators() { return {dft(), stft()}; }

}  // namespace assay
