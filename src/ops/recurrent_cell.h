// What recurrent layers are made of: activations chosen by name, and the sums that feed the gates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patterns/contraction.h"
#include "patterns/gemm.h"

namespace assay {

struct Activation {
  enum class Kind : std::uint8_t {
    relu,
    tanh,
    sigmoid,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus
  };
  Kind kind = Kind::tanh;
  double alpha = 0, beta = 0;
};

// The activations of a node: its own, or `defaults` once for each direction. nullopt if a name is
// none, their number is wrong, or one that has no default arguments is not given any.
std::optional<std::vector<Activation>> activations_of(const Site& site,
                                                      const std::vector<std::string>& defaults,
                                                      std::int64_t directions);

// x = f(clip(x)), element by element; `clip` below 0 is none.
template <class S>
void activate(const Activation& f, double clip, std::span<S> x);

// The extents of a recurrent node.
struct RecurrentShape {
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 0;
  bool batch_first = false;
  // Where an element of X lies, as a row of X.
  std::int64_t row(std::int64_t t, std::int64_t b) const {
    return batch_first ? b * steps + t : t * batch + b;
  }
};

enum class GatePart : std::uint8_t { both, input, recurrent };

// The sums of one direction's gates, x W^T + h R^T + Wb + Rb. In values the input's part is one
// product over all steps. In the other readings a gate is one sum of all its terms, so that its
// bound holds for every order of adding them up.
template <class S>
class GateSums {
 public:
  GateSums(const Call& call, const RecurrentShape& shape, std::int64_t direction);
  // out[b][…] for gates [first, last): `rows` says which row of X each batch element reads, -1 for
  // one that is past its end, whose sums mean nothing.
  void operator()(GatePart part, std::span<const std::int64_t> rows, const S* h, std::int64_t first,
                  std::int64_t last, S* out) const;

 private:
  RecurrentShape shape_;
  std::vector<S> bias_;     // Wb, Rb
  std::vector<S> weights_;  // rows of W^T, Wb, R^T, Rb; not for values
  std::vector<S> inputs_;   // X; for values X W^T + Wb
  MatrixView recurrent_;    // R as it is stored; for values only
};

}  // namespace assay
