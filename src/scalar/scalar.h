// The scalars that operator bodies are templates over.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "scalar/bounded.h"
#include "scalar/interval.h"
#include "scalar/truth.h"

namespace assay {

// Integers compute in 64 bits and wrap. Bodies write plain + − × for them, so whatever
// instantiates bodies is compiled with -fwrapv; the functions of this folder wrap by themselves.
template <class S>
concept Integral =
    std::same_as<S, std::int64_t> || std::same_as<S, std::uint64_t> || std::same_as<S, bool>;

// What is computed with, and not bounded.
template <class S>
concept Plain = Integral<S> || std::same_as<S, double>;

template <class S>
concept Real = std::same_as<S, double> || std::same_as<S, Bounded> || std::same_as<S, Interval>;

template <class S>
concept Scalar = Integral<S> || Real<S>;

// What a comparison of two S gives, and select takes.
template <Scalar S>
using Condition = std::conditional_t<Plain<S>, bool, Truth>;

}  // namespace assay
