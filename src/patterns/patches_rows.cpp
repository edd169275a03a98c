// Convolutions row by row, for depthwise ones and others whose groups have few maps.
#include <array>

#include "base/parallel.h"
#include "patterns/patches_fill.h"

namespace assay {
namespace {

// The rows of one group of one batch. Where the convolution has one leading axis at most, only
// those in reach are kept.
template <class T>
class RowCache {
 public:
  explicit RowCache(const Patches& p)
      : p_(p), extent_(p.axes.back().extent), form_(p.axes.back(), 0, p.axes.back().outputs) {
    rows_ = p.plane() / std::max<std::int64_t>(extent_, 1);
    slots_ = rows_;
    if (p.axes.size() == 2) {
      const auto [first, last] =
          std::minmax_element(p.axes[0].offsets.begin(), p.axes[0].offsets.end());
      slots_ = std::min(rows_, *last - *first + 1);
    }
    slots_ = std::max<std::int64_t>(slots_, 1);
    rows_data_.resize(static_cast<std::size_t>((p.channels * slots_ + 1) * form_.length()));
    tags_.resize(static_cast<std::size_t>(p.channels * slots_));
    for (std::int64_t row = 0; row < rows_; ++row) slot_of_row_.push_back(row % slots_);
  }

  void start(const T* x) {
    x_ = x;
    std::fill(tags_.begin(), tags_.end(), -1);
  }

  // Row `row` (-1: outside, all zeros) of a channel.
  const double* row(std::int64_t channel, std::int64_t row) {
    if (row < 0) return rows_data_.data() + p_.channels * slots_ * form_.length();
    const std::int64_t slot = channel * slots_ + slot_of_row_[static_cast<std::size_t>(row)];
    double* const to = rows_data_.data() + slot * form_.length();
    std::int64_t& tag = tags_[static_cast<std::size_t>(slot)];
    if (tag != row) form_.read(kernels_, x_ + (channel * rows_ + row) * extent_, to);
    tag = row;
    return to;
  }

  const std::vector<std::int64_t>& starts() const { return form_.starts(); }

 private:
  const Patches& p_;
  const std::int64_t extent_;
  const PatchRow form_;
  const RowKernels& kernels_ = row_kernels();
  const T* x_ = nullptr;
  std::int64_t rows_, slots_;
  std::vector<double> rows_data_;
  std::vector<std::int64_t> tags_, slot_of_row_;
};

// The row of a channel that a leading tap of an output row reads; -1 outside.
std::vector<std::int64_t> rows_read(const Patches& p) {
  const std::size_t outer = p.axes.size() - 1;
  std::int64_t taps = 1, rows = 1;
  for (std::size_t d = 0; d < outer; ++d) {
    taps *= static_cast<std::int64_t>(p.axes[d].offsets.size());
    rows *= p.axes[d].outputs;
  }
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(taps * rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t t = 0; t < taps; ++t) {
      std::int64_t row = 0, scale = 1, rest = r, tap = t;
      for (std::size_t d = outer; d-- > 0;) {
        const PatchAxis& axis = p.axes[d];
        const auto count = static_cast<std::int64_t>(axis.offsets.size());
        const std::int64_t position =
            rest % axis.outputs * axis.step + axis.offsets[static_cast<std::size_t>(tap % count)];
        if (position < 0 || position >= axis.extent) row = -1;
        if (row >= 0) row += position * scale;
        scale *= axis.extent;
        rest /= axis.outputs;
        tap /= count;
      }
      result.push_back(row);
    }
  }
  return result;
}

// Sums are handed on a few rows at a time.
constexpr std::int64_t kHandedOn = 1024;

template <class T>
class RowSums {
 public:
  RowSums(const Patches& p, const std::vector<std::int64_t>& read, const double* w,
          const PatchSink& sink)
      : p_(p), read_(read), w_(w), sink_(sink), cache_(p), width_(p.axes.back().outputs) {
    pointers_.resize(static_cast<std::size_t>(p.terms()));
    rows_ = p.outputs() / width_;
    held_ = std::clamp<std::int64_t>(kHandedOn / width_, 1, rows_);
    sums_.resize(static_cast<std::size_t>(held_ * width_ * p.maps));
  }

  void run(std::int64_t batch, std::int64_t group, const T* x) {
    cache_.start(x);
    for (std::int64_t row = 0; row < rows_; row += held_) {
      const std::int64_t end = std::min(rows_, row + held_), stride = held_ * width_;
      for (std::int64_t r = row; r < end; ++r) {
        point(r);
        for (std::int64_t map = 0; map < p_.maps; ++map)
          kernels_.weigh(pointers_.data(), w_ + (group * p_.maps + map) * p_.terms(), p_.terms(),
                         width_, sums_.data() + map * stride + (r - row) * width_);
      }
      for (std::int64_t map = 0; map < p_.maps; ++map)
        sink_(batch, group * p_.maps + map, row * width_, (end - row) * width_,
              sums_.data() + map * stride);
    }
  }

 private:
  // Where the terms of an output row begin.
  void point(std::int64_t r) {
    const std::int64_t leading = static_cast<std::int64_t>(read_.size()) / rows_;
    std::size_t next = 0;
    for (std::int64_t c = 0; c < p_.channels; ++c) {
      for (std::int64_t t = 0; t < leading; ++t) {
        const double* row = cache_.row(c, read_[static_cast<std::size_t>(r * leading + t)]);
        for (std::int64_t start : cache_.starts()) pointers_[next++] = row + start;
      }
    }
  }

  const Patches& p_;
  const std::vector<std::int64_t>& read_;
  const double* w_;
  const PatchSink& sink_;
  const RowKernels& kernels_ = row_kernels();
  RowCache<T> cache_;
  std::int64_t width_, rows_ = 0, held_ = 0;
  std::vector<const double*> pointers_;
  std::vector<double> sums_;
};

template <class T>
void convolve_typed(const Patches& p, const T* x, const double* w, const PatchSink& sink) {
  const std::vector<std::int64_t> read = rows_read(p);
  const std::int64_t work = p.outputs() * p.terms() * p.maps, size = p.channels * p.plane();
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 17) / std::max<std::int64_t>(work, 1));
  parallel_for(p.batches * p.groups, grain, [&](std::int64_t begin, std::int64_t end) {
    RowSums<T> sums(p, read, w, sink);
    for (std::int64_t i = begin; i < end; ++i) sums.run(i / p.groups, i % p.groups, x + i * size);
  });
}

}  // namespace

void convolve_rows(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink) {
  std::vector<double> weights(static_cast<std::size_t>(p.groups * p.maps * p.terms()));
  const auto count = static_cast<std::int64_t>(weights.size());
  if (w.is_float)
    copy_patch(row_kernels(), static_cast<const float*>(w.data), 1, count, weights.data());
  else
    copy_patch(row_kernels(), static_cast<const double*>(w.data), 1, count, weights.data());
  if (x.is_float) return convolve_typed(p, static_cast<const float*>(x.data), weights.data(), sink);
  convolve_typed(p, static_cast<const double*>(x.data), weights.data(), sink);
}

}  // namespace assay
