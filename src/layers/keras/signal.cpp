// Layers that turn signals into spectrograms.
#include <bit>

#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr double kLeast = 1e-7;  // Keras' epsilon

std::int64_t frame_step(const Site& site) {
  return site.integer("frame_step", site.integer("frame_length") / 2);
}

std::int64_t frequencies(const Site& site) {
  const auto frame = static_cast<std::uint64_t>(site.integer("frame_length"));
  return site.integer("fft_length", static_cast<std::int64_t>(std::bit_ceil(frame))) / 2 + 1;
}

Weights stft_weights(const Site& site) {
  const Dims shape = {Dim(site.integer("frame_length")), Dim(1), Dim(frequencies(site))};
  Weights weights;
  if (site.text("mode") != "imag") weights.push_back({"real_kernel", shape});
  if (site.text("mode") != "real") weights.push_back({"imag_kernel", shape});
  return weights;
}

// [batch, channels, frequencies, time]: each channel by itself.
std::string part(Body& l, std::string_view kernel) {
  const std::string x = l.channels_first(l.x);
  const std::string signals = l.reshaped(x, {-1, 1, l.extent(channels_last(l.site) ? 1 : 2)});
  const bool same = l.site.text("padding") == "same";
  const std::string y = l("Conv", {signals, l.transposed(l.weight(kernel), {2, 1, 0})},
                          {attribute("strides", Integers{frame_step(l.site)}),
                           attribute("auto_pad", same ? "SAME_UPPER" : "VALID")});
  const std::string shape = l(
      "Concat", {l("Shape", {x}, {attribute("end", 2)}), l("Shape", {y}, {attribute("start", 1)})},
      {attribute("axis", 0)});
  return l("Reshape", {y, shape});
}

std::string at_least_epsilon(Body& l, const std::string& value) {
  return l("Max", {value, l.number(kLeast)});
}

// Frequencies but the first and the last stand for two of the whole transform.
std::string power(Body& l, const std::string& power) {
  std::vector<double> factors(static_cast<std::size_t>(frequencies(l.site)), 2);
  factors.front() = factors.back() = 1;
  const Shape shape = {static_cast<std::int64_t>(factors.size()), 1};
  return l("Mul", {power, l.b.constant(make_tensor(l.type(), shape, factors))});
}

std::string spectrum(Body& l) {
  const std::string& mode = l.site.text("mode");
  if (mode == "real") return part(l, "real_kernel");
  if (mode == "imag") return part(l, "imag_kernel");
  const std::string real = part(l, "real_kernel"), imag = part(l, "imag_kernel");
  if (mode == "stft") return l("Concat", {real, imag}, {attribute("axis", 2)});
  const std::string squares = l("Add", {l("Mul", {real, real}), l("Mul", {imag, imag})});
  if (mode == "psd") return power(l, squares);
  const std::string magnitude = l("Sqrt", {at_least_epsilon(l, squares)});
  return mode == "magnitude" ? magnitude : l("Log", {at_least_epsilon(l, magnitude)});
}

std::string stft_spectrogram(Body& l) {
  const std::string y = spectrum(l);
  const bool last = channels_last(l.site);
  if (flag(l.site, "expand_dims")) {
    return l.transposed(y, last ? Integers{0, 3, 2, 1} : Integers{0, 1, 3, 2});
  }
  const std::int64_t both = l.site.text("mode") == "stft" ? 2 : 1;
  const std::int64_t channels = l.extent(channel_axis(l.site)) * frequencies(l.site) * both;
  const std::string shape = l("Concat",
                              {l("Shape", {y}, {attribute("end", 1)}), l.b.integers({channels}),
                               l("Shape", {y}, {attribute("start", 3)})},
                              {attribute("axis", 0)});
  const std::string flat = l("Reshape", {y, shape});
  return last ? l.transposed(flat, {0, 2, 1}) : flat;
}

void require_stft(Check& c) {
  c.one_of("mode", {"log", "magnitude", "psd", "real", "imag", "stft"});
  c.one_of("padding", {"valid", "same"});
  if (!c.positive({"frame_length", "frame_step", "fft_length"})) return;
  const std::int64_t frame = c.site.integer("frame_length");
  c.in_range("frame_step", between(1, frame));
  c.in_range("fft_length", at_least(frame));
  require_spatial(c);
  const Dim time = extent(c.site, spatial_axes(c.site).front());
  if (!c.violations.empty() || !time.known() || c.site.text("padding") == "same") return;
  c.argument(time.value >= frame, "window-fits", "a signal that is as long as a frame",
             fmt::format("{} of {}", time.value, frame));
}

}  // namespace

std::vector<Layer> signal_layers() {
  return {{.name = "STFTSpectrogram",
           .summary = "How strong each frequency is in each frame of a signal.",
           .arguments = {choice("mode", "log"),
                         {"frame_length", Role::count, std::int64_t{256}},
                         {"frame_step", Role::count, {}, true},
                         {"fft_length", Role::count, {}, true},
                         choice("padding", "valid"),
                         flag_argument("expand_dims", false),
                         data_format()},
           .spatial = 1,
           .weights = stft_weights,
           .require = require_stft,
           .build = stft_spectrogram,
           .since = 3}};
}

}  // namespace assay::keras
