// Columns of patches put back together to images, and the causal convolution that keeps a state.
#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include "ops/conv.h"
#include "ops/window_checks.h"
#include "patterns/compute.h"

namespace assay {
namespace {

// The windows from which the columns came: `image` and `block` are inputs. Nothing if they are not
// known, or not numbers that windows can have.
std::optional<WindowGeometry> column_geometry(const Site& site) {
  const Tensor *image = site.constant(1), *block = site.constant(2);
  if (!image || !block) return std::nullopt;
  const std::vector<std::int64_t> extents = image->integers();
  WindowAttributes a = window_attributes(site, extents.size());
  a.kernel = block->integers();
  if (!has_lengths(a, extents.size())) return std::nullopt;
  for (std::int64_t extent : extents)
    if (extent < 0 || extent >= kWindowLimit) return std::nullopt;
  return window_geometry(a, extents);
}

// Adds what all windows hold at each place of an image; places outside of it are lost.
struct Col2Im {
  template <class S>
  void operator()(Frame<S>& frame) const {
    frame.exact(1);
    frame.exact(2);
    const WindowGeometry g = *column_geometry(frame.site());
    const Array<S> x = frame.input(0);
    Array<S> y(frame.output_shape(0));
    std::vector<S> terms;
    for_image(g, y.shape[0] * y.shape[1],
              [&](std::int64_t place, std::span<const std::int64_t> from) {
                terms.clear();
                for (std::int64_t i : from) terms.push_back(x[i]);
                y[place] = sum(std::span<const S>(terms));
              });
    frame.output(0, y);
  }

  // Calls visit(place in the output, places in the input) for each element of each channel.
  template <class Visit>
  static void for_image(const WindowGeometry& g, std::int64_t channels, const Visit& visit) {
    const std::int64_t size = element_count(g.extents), windows = element_count(g.outputs);
    const std::int64_t taps = element_count(g.kernel);
    std::vector<std::int64_t> sources, moved;
    if (channels == 0) return;
    for (std::int64_t place = 0; place < size; ++place) {
      sources_of(g, place, sources);
      for (std::int64_t c = 0; c < channels; ++c) {
        moved = sources;
        for (std::int64_t& i : moved) i += c * taps * windows;
        visit(c * size + place, moved);
      }
    }
  }

 private:
  struct Hit {
    std::int64_t tap, window;
  };

  // The taps and windows whose place along an axis is `position`.
  static std::vector<Hit> hits(const WindowGeometry& g, std::size_t d, std::int64_t position) {
    std::vector<Hit> result;
    for (std::int64_t t = 0; t < g.kernel[d]; ++t) {
      const std::int64_t start = position + g.pads_begin[d] - t * g.dilations[d];
      if (start < 0) break;
      if (start % g.strides[d] == 0 && start / g.strides[d] < g.outputs[d])
        result.push_back({t, start / g.strides[d]});
    }
    return result;
  }

  static void sources_of(const WindowGeometry& g, std::int64_t place,
                         std::vector<std::int64_t>& sources) {
    std::vector<Hit> all = {{0, 0}}, next;
    const Shape strides = strides_of(g.extents);
    for (std::size_t d = 0; d < g.extents.size(); ++d) {
      next.clear();
      const std::vector<Hit> here = hits(g, d, place / strides[d] % g.extents[d]);
      for (const Hit& base : all)
        for (const Hit& hit : here)
          next.push_back(
              {base.tap * g.kernel[d] + hit.tap, base.window * g.outputs[d] + hit.window});
      all.swap(next);
    }
    sources.clear();
    for (const Hit& hit : all) sources.push_back(hit.tap * element_count(g.outputs) + hit.window);
  }
};

// Complex numbers are added; strings can only be placed, so that no two may meet.
void fold_other_types(Call& call) {
  const WindowGeometry g = *column_geometry(call.site);
  Tensor y(call.output_type(0), call.output_shape(0));
  const Tensor& x = call.exact(0);
  visit_storage(x.type(), [&]<class T>(T*) {
    const T* from = x.data<T>().data();
    T* to = y.mutate<T>().data();
    Col2Im::for_image(g, y.shape()[0] * y.shape()[1],
                      [&](std::int64_t place, std::span<const std::int64_t> sources) {
                        if constexpr (std::is_same_v<T, std::string>) {
                          if (sources.size() > 1)
                            throw EvaluationError("Col2Im.text-overlap",
                                                  "Col2Im cannot add strings of several blocks");
                          if (!sources.empty()) to[place] = from[sources[0]];
                        } else if constexpr (!std::is_arithmetic_v<T>) {
                          std::complex<double> total = 0;
                          for (std::int64_t i : sources) total += std::complex<double>(from[i]);
                          to[place] = T(total);
                        }
                      });
  });
  call.outputs[0] = std::move(y);
}

void evaluate_col2im(Call& call) {
  const Domain domain = domain_of(call.input(0).type());
  call.exact(1);
  call.exact(2);
  if (domain == Domain::complex || domain == Domain::text) return fold_other_types(call);
  static const Meaning kNumbers = compute<Col2Im, RealsAndIntegers>(Pattern::gather);
  kNumbers.evaluate(call);
}

void require_col2im(Check& c) {
  const bool ranked = c.rank("input", exactly(3));
  if (!c.rank("image_shape", exactly(1)) || !c.rank("block_shape", exactly(1))) return;
  const Tensor *image = c.site.constant(1), *block = c.site.constant(2);
  if (!image || !block)
    return c.undecided("columns", "the elements of image_shape and block_shape");
  const auto rank = static_cast<std::int64_t>(image->size());
  if (!c.argument(rank >= 2 && block->size() == rank, "length",
                  "image_shape and block_shape of one length, at least 2",
                  fmt::format("{} and {}", rank, block->size())))
    return;
  bool good = c.length("strides", rank);
  good = c.length("dilations", rank) && good;
  good = c.length("pads", 2 * rank) && good;
  good = c.positive({"strides", "dilations"}) && good;
  good = c.not_negative({"pads"}) && good;
  const auto above_zero = [](const Tensor& t) {
    const std::vector<std::int64_t> values = t.integers();
    return std::all_of(values.begin(), values.end(), [](std::int64_t x) { return x > 0; });
  };
  good = c.argument(above_zero(*image) && above_zero(*block), "positive",
                    "image_shape and block_shape above 0", "others") &&
         good;
  if (!good) return;
  const auto g = column_geometry(c.site);
  if (!c.argument(g.has_value(), "window-fits", "extents below 2^48", "larger ones")) return;
  const auto windows = checked_element_count(g->outputs), taps = checked_element_count(g->kernel);
  if (!c.argument(windows && *windows > 0 && taps, "window-fits",
                  "a block that fits into the image", to_text(g->kernel)) ||
      !ranked)
    return;
  const Dims& x = *c.dims("input");
  if (!c.divisible(x[1], *taps, "extent 1 of the input")) return;
  c.extent("input", 2, *windows, "the number of blocks");
  Dims y = {x[0], x[1].known() ? Dim(x[1].value / *taps) : Dim()};
  for (std::int64_t extent : g->extents) y.push_back(extent);
  require_size(c, y);
}

void infer_col2im(Infer& n) {
  const Dims* x = n.dims(0);
  const auto image = dims_from_input(n.site, 1);
  if (!image) return n.output(0, n.element(0));
  Dims y(2);
  if (x && x->size() == 3) y[0] = (*x)[0];
  const auto g = column_geometry(n.site);
  const auto taps = g ? checked_element_count(g->kernel) : std::nullopt;
  if (x && x->size() == 3 && (*x)[1].known() && taps) y[1] = (*x)[1].value / *taps;
  y.insert(y.end(), image->begin(), image->end());
  n.output(0, n.element(0), y);
}

Operator col2im() {
  return {
      .name = "Col2Im",
      .versions = {18},
      .summary = "Blocks put back where they were cut out of an image, added where they overlap.",
      .attributes = {{"dilations", Role::sizes}, {"pads", Role::pads}, {"strides", Role::sizes}},
      .require = require_col2im,
      .infer = infer_col2im,
      .meaning = custom(Pattern::gather, evaluate_col2im)};
}

// Each channel's sequence with its state before it, convolved with the channel's kernel.
struct CausalConv {
  bool swish;
  explicit CausalConv(const Call& call) : swish(call.site.text("activation").starts_with("s")) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> x = frame.input(0), w = frame.input(1);
    Array<S> bias, past;
    if (frame.has(2)) bias = frame.input(2);
    if (frame.has(3)) past = frame.input(3);
    const std::int64_t channels = x.shape[1], length = x.shape[2], kernel = w.shape[2];
    Array<S> y(x.shape), state(Shape{x.shape[0], channels, kernel - 1});
    std::vector<S> line(static_cast<std::size_t>(kernel - 1 + length));
    std::vector<S> terms(static_cast<std::size_t>(kernel + 1)),
        factors(terms.size(), constant<S>(1.0));
    for (std::int64_t i = 0; i < x.shape[0] * channels; ++i) {
      for (std::int64_t t = 0; t < kernel - 1; ++t)
        line[static_cast<std::size_t>(t)] = frame.has(3) ? past[i * (kernel - 1) + t] : zero<S>();
      std::copy_n(x.data.data() + i * length, length, line.begin() + (kernel - 1));
      std::copy_n(w.data.data() + i % channels * kernel, kernel, factors.begin());
      // The bias is one more term.
      terms.back() = frame.has(2) ? bias[i % channels] : zero<S>();
      for (std::int64_t t = 0; t < length; ++t) {
        std::copy_n(line.begin() + t, kernel, terms.begin());
        const S total = dot(std::span<const S>(terms), std::span<const S>(factors));
        y[i * length + t] = swish ? total * sigmoid(total) : total;
      }
      std::copy(line.end() - (kernel - 1), line.end(), state.data.begin() + i * (kernel - 1));
    }
    frame.output(0, y);
    if (frame.wants(1)) frame.output(1, state);
  }
};

void require_causal_conv(Check& c) {
  c.one_of("activation", {"none", "silu", "swish"});
  if (!c.rank("input", exactly(3)) || !c.rank("weight", exactly(3))) return;
  const Dims &x = *c.dims("input"), &w = *c.dims("weight");
  c.weight_extent("weight", 0, x[1], "the number of channels");
  c.weight_extent("weight", 1, 1, "one channel a map");
  if (w[2].known()) c.shape(w[2].value > 0, "window-fits", "a kernel above 0", "0");
  if (c.rank("bias", exactly(1))) c.weight_extent("bias", 0, x[1], "the number of channels");
  if (!c.index_of("past_state") || !c.rank("past_state", exactly(3))) return;
  c.extent("past_state", 0, x[0], "the batches of the input");
  c.extent("past_state", 1, x[1], "the channels of the input");
  c.extent("past_state", 2, w[2] - Dim(1), "one less than the kernel");
}

void infer_causal_conv(Infer& n) {
  n.output(0, n.site.type(0));
  const Dims *x = n.dims(0), *w = n.dims(1);
  Dims state(3);
  if (x && x->size() == 3) state = {(*x)[0], (*x)[1], Dim()};
  if (w && w->size() == 3) state[2] = (*w)[2] - Dim(1);
  n.output(1, n.element(0), state);
}

Operator causal_conv() {
  return {.name = "CausalConvWithState",
          .versions = {27},
          .summary = "A depthwise convolution over time that reads only the past, kept in a state.",
          .attributes = {{"activation", Role::choice}},
          .require = require_causal_conv,
          .infer = infer_causal_conv,
          .meaning = compute<CausalConv>(Pattern::contraction)};
}

}  // namespace

std::vector<Operator> column_operators() { return {causal_conv(), col2im()}; }

}  // namespace assay
