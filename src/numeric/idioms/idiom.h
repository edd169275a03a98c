// Idiom: a function that people write out by hand, and that has a safe form.
//
// It is not recognised by its operators but by its values: what the model computes from one value
// to another one agrees with the safe form on random points.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.h"
#include "numeric/rewrite.h"

namespace assay {

struct Idiom {
  std::string_view name;   // "log-softmax"
  std::string_view check;  // "lint.softmax": what the unsafe operation is part of
  std::string_view text;   // "a logarithm of a softmax: use log-softmax"
  Composition safe;        // reads "axis" and "keepdims" where they are given
  bool along_axis = false;
  bool reduces = false;  // with and without the axis in the result
};

// All of them, a file each; those that stand for more come first.
std::span<const Idiom> idioms();

extern const Idiom kLogSoftmaxIdiom, kSoftmaxIdiom, kLogSumExpIdiom, kSoftplusIdiom, kSigmoidIdiom,
    kLogSigmoidIdiom, kLogComplementIdiom, kTanhIdiom, kVarianceIdiom;

// The rewrites of what an operation of a graph is part of: it, or up to a few nodes behind it, as
// computed from a value up to a few nodes before it.
std::vector<Rewrite> idioms_around(const Graph& graph, const Model& model, const Node& operation,
                                   const TypeOf& type_of);

}  // namespace assay
