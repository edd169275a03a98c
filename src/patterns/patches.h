// Patches: what the outputs of a convolution read, and their sums of products in every scalar.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "patterns/contraction.h"
#include "patterns/gemm.h"

namespace assay {

// Output o reads the positions o * step + offsets[t], one for each tap t of the kernel, and zero
// where a position lies outside of [0, extent).
struct PatchAxis {
  std::int64_t extent = 0, outputs = 0, step = 1;
  std::vector<std::int64_t> offsets;
};

// A convolution of x (batches x groups x channels x extents…) with w (groups x maps x channels x
// taps…), both row-major, to batches x groups x maps x outputs….
struct Patches {
  std::int64_t batches = 0, groups = 1;
  std::int64_t channels = 0, maps = 0;  // of one group
  std::vector<PatchAxis> axes;          // at least one

  std::int64_t outputs() const;  // of one map
  std::int64_t plane() const;    // elements of one channel
  std::int64_t terms() const;    // of one sum
};

// Stored elements, as float or as double.
struct Elements {
  const void* data = nullptr;
  bool is_float = false;
};
// Those of a real tensor, or a converted copy that `keep` holds.
Elements elements_of(const Tensor& tensor, std::vector<double>& keep);

// Gets `count` sums of output map `map` (counted over all groups) of one batch, from output `begin`
// on. May change them. Called from several threads, for disjoint outputs.
using PatchSink = std::function<void(std::int64_t batch, std::int64_t map, std::int64_t begin,
                                     std::int64_t count, double* sums)>;
// Weights in the form that products read, by group. One who convolves with the same weights again
// keeps them; they are not kept where memory is scarce.
using PackedWeights = std::shared_ptr<const std::vector<PackedRows>>;
void convolve(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink,
              PackedWeights* kept = nullptr);

// Gets beside the sums those of the magnitudes of the same products.
using MagnitudeSink =
    std::function<void(std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
                       const double* sums, const double* magnitudes)>;
// Both in one pass, to the last bit what two would give. False, and nothing has been done, where
// the sums are not computed as a product of matrices.
bool convolve_with_magnitudes(const Patches& p, const Elements& x, const Elements& w,
                              const MagnitudeSink& sink, PackedWeights* kept = nullptr);

// The same in another scalar (Bounded, Interval). A bias (one a map, or nullptr) is a term of the
// sum, so that the bounds hold wherever it is added.
template <class S>
std::vector<S> convolve(const Patches& p, const S* x, const S* w, const S* bias);

}  // namespace assay
