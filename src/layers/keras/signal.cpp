// Layers that turn signals into spectrograms.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr double kLeast = 1e-7;                                    // Keras' epsilon
constexpr std::int64_t kMostFrame = 1 << 16, kMostBins = 1 << 12;  // of which a table is made

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

// The frequencies of a transform on the mel scale of HTK, in triangles that lie half over each
// other.
Tensor mel_triangles(const Site& site, ElementType type) {
  const auto mel = [](double hertz) { return 1127 * std::log1p(hertz / 700); };
  const double rate = site.real("sampling_rate");
  const std::int64_t count = site.integer("fft_length") / 2 + 1,
                     bins = site.integer("num_mel_bins");
  const double low = mel(site.real("min_freq"));
  const double high = mel(site.real("max_freq", std::trunc(rate / 2)));
  const double step = (high - low) / static_cast<double>(bins + 1);
  std::vector<double> weights(static_cast<std::size_t>(count * bins));  // none of the frequency 0
  for (std::int64_t i = bins; i < count * bins; ++i) {
    const std::int64_t frequency = i / bins;
    const double hertz = static_cast<double>(frequency) * rate / 2 / static_cast<double>(count - 1);
    const double at = (mel(hertz) - low) / step - static_cast<double>(i % bins);
    weights[static_cast<std::size_t>(i)] = std::max(0.0, std::min(at, 2 - at));
  }
  return make_tensor(type, {count, bins}, weights);
}

// As long as the transform, with zeros around it; "" where every element counts alike. Hamming's
// numbers are not those of the standard's operator.
std::string window_of(Body& l) {
  const std::int64_t whole = l.site.integer("fft_length");
  const std::int64_t length = l.site.integer("sequence_length", whole);
  const std::string& name = l.site.text("window");
  if (name == "none") return "";
  const double mean = name == "hann" ? 0.5 : 0.54;
  std::vector<double> window(static_cast<std::size_t>(whole));
  for (std::int64_t i = 0; i < length; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
    window[static_cast<std::size_t>((whole - length) / 2 + i)] = mean - (1 - mean) * std::cos(turn);
  }
  return l.b.constant(make_tensor(l.type(), {whole}, window));
}

std::string decibels(Body& l, const std::string& power) {
  const double least = l.site.real("min_power"), unit = 10 / std::numbers::ln10;
  const double reference = unit * std::log(std::max(std::abs(l.site.real("ref_power")), least));
  const std::string log = l("Log", {l("Max", {power, l.number(least)})});
  const std::string found = l("Sub", {l("Mul", {log, l.number(unit)}), l.number(reference)});
  const std::string loudest = l("ReduceMax", {found}, {attribute("keepdims", 0)});
  return l("Max", {found, l("Sub", {loudest, l.number(l.site.real("top_db"))})});
}

std::string mel_spectrogram(Body& l) {
  const std::int64_t length = l.site.integer("fft_length"), half = length / 2;
  const std::string signal =
      l("Pad", {l.x, l.b.integers({0, half, 0, half})}, {attribute("mode", "reflect")});
  const std::string parts = l(
      "STFT", {l("Unsqueeze", {signal, l.b.integers({-1})}),
               l.b.integer(l.site.integer("sequence_stride")), window_of(l), l.b.integer(length)});
  const std::string squares =
      l("ReduceSum", {l("Mul", {parts, parts}), l.b.integers({-1})}, {attribute("keepdims", 0)});
  const std::string strength = l("Pow", {l("Sqrt", {squares}), l.number(l.site.real("mag_exp"))});
  const std::string bands = l("MatMul", {strength, l.b.constant(mel_triangles(l.site, l.type()))});
  return l.transposed(flag(l.site, "power_to_db") ? decibels(l, bands) : bands, {0, 2, 1});
}

void require_mel(Check& c) {
  c.one_of("window", {"hann", "hamming", "none"});
  c.rank("x", exactly(2));
  if (!c.positive({"fft_length", "sequence_length", "sequence_stride", "num_mel_bins"})) return;
  const std::int64_t length = c.site.integer("fft_length");
  c.in_range("sequence_length", at_most(length));
  c.in_range("fft_length", at_most(kMostFrame)), c.in_range("num_mel_bins", at_most(kMostBins));
  const double rate = c.site.real("sampling_rate"), least = c.site.real("min_freq");
  c.argument(least >= 0 && c.site.real("max_freq", std::trunc(rate / 2)) > least, "max_freq",
             "a frequency above min_freq", "none");
  if (!c.violations.empty()) return;
  const Dim time = extent(c.site, 1);
  c.argument(!time.known() || time.value > length / 2, "fft_length",
             "a signal longer than half of it", fmt::format("{}", time.value));
}

Layer mel_layer() {
  return {.name = "MelSpectrogram",
          .summary = "How loud each band of pitches is in each frame of a signal.",
          .arguments = {{"fft_length", Role::count, std::int64_t{2048}},
                        {"sequence_stride", Role::count, std::int64_t{512}},
                        {"sequence_length", Role::count, {}, true},
                        choice("window", "hann"),
                        real("sampling_rate", Role::factor, 16000),
                        {"num_mel_bins", Role::count, std::int64_t{128}},
                        real("min_freq", Role::bounds, 20),
                        {"max_freq", Role::bounds, {}, true},
                        flag_argument("power_to_db", true),
                        real("top_db", Role::bounds, 80),
                        real("mag_exp", Role::factor, 2),
                        real("min_power", Role::epsilon, 1e-10),
                        real("ref_power", Role::factor, 1)},
          .require = require_mel,
          .build = mel_spectrogram,
          .since = 3};
}

}  // namespace

std::vector<Layer> signal_layers() {
  return {mel_layer(),
          {.name = "STFTSpectrogram",
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
