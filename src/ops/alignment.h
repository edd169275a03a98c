// Alignment: which axes of a node's inputs and outputs run along together. Along such an axis the
// node does the same thing over and over, so a range analysis may look at one element for many.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/operator.h"

namespace assay {

// Letters from here on are of axes whose elements are not aligned with anything: a list of axes,
// or an input of which only the type counts. Such an input is taken as it is.
inline constexpr int kUnread = 2000;

// The letters of the axes of a tensor, or of some of them.
using Letters = InlineVector<int, 6>;

// A node that does the same with each of several groups of elements, along the axes of `letters`,
// and the node that does it with one of them.
struct Groups {
  std::int64_t count = 1;
  Letters letters;
  Node single;
};

struct Alignment {
  // The letter of each axis, as in an einsum; inputs broadcast along axes of extent 1.
  std::vector<Letters> inputs;
  Letters output;  // only the first output is looked at
  // Letters along which elements depend on each other.
  Letters rows;
  // Whether an element along a row may stand for several: the body treats all elements alike and
  // joins them by the reductions of scalar/sequences.h only (scalar/watch.h, Counts).
  bool countable = false;
  // Letters of axes along which a window slides: the output's extent is another than the input's.
  Letters windows;
  // The letter of a contraction along which a term may stand for several, where its meaning looks
  // at how many (scalar/watch.h, Counts).
  std::optional<int> counted{};
  bool elementwise = false;  // the body is a function of single elements
  std::optional<Groups> groups{};
};

// How axes run, for entries to name. Nothing where the axes are not such, or not known. Elements of
// inputs are looked at only where they are axes.
std::optional<Alignment> align_batch_norm(const Call& call);
std::optional<Alignment> align_convolution(const Call& call);
std::optional<Alignment> align_countable_row(const Call& call);
std::optional<Alignment> align_each_alone(const Call& call);
std::optional<Alignment> align_first_alone(const Call& call);
std::optional<Alignment> align_gemm(const Call& call);
std::optional<Alignment> align_global_pool(const Call& call);
std::optional<Alignment> align_instance_norm(const Call& call);
std::optional<Alignment> align_layer_norm(const Call& call);
std::optional<Alignment> align_matmul(const Call& call);
std::optional<Alignment> align_norm_row(const Call& call);
std::optional<Alignment> align_ordered_row(const Call& call);
std::optional<Alignment> align_place_in_row(const Call& call);
std::optional<Alignment> align_pool(const Call& call);
std::optional<Alignment> align_running(const Call& call);

// Whether a node's body is on single elements of so many inputs that broadcast by numpy's rule.
// Those that have an axis, or several outputs, or come from before that rule, are something else.
bool is_broadcast(const Operator& entry, const Site& site, std::int64_t given);

// By what the entry says, else by its pattern.
std::optional<Alignment> align(const Operator& entry, const Call& call);

}  // namespace assay
