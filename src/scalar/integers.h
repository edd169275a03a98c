// The vocabulary for integers of 64 bits, which wrap, and for bool.
//
// Where the standard leaves the result open we choose: x / 0, x mod 0 and 0 to a negative power
// are 0; the smallest integer divided by −1 is itself.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "scalar/scalar.h"

namespace assay {

// Signed integers, computed as unsigned ones where they may overflow.
constexpr std::int64_t wrapped(std::uint64_t x) { return std::bit_cast<std::int64_t>(x); }
constexpr std::uint64_t unwrapped(std::int64_t x) { return std::bit_cast<std::uint64_t>(x); }

template <Integral S>
constexpr S max(S a, S b) {
  return a > b ? a : b;
}

template <Integral S>
constexpr S min(S a, S b) {
  return a < b ? a : b;
}

constexpr std::int64_t abs(std::int64_t x) { return x < 0 ? wrapped(0 - unwrapped(x)) : x; }
constexpr std::uint64_t abs(std::uint64_t x) { return x; }

constexpr std::int64_t sign(std::int64_t x) { return (x > 0) - (x < 0); }
constexpr std::uint64_t sign(std::uint64_t x) { return x > 0 ? 1 : 0; }

constexpr std::int64_t square(std::int64_t x) { return wrapped(unwrapped(x) * unwrapped(x)); }
constexpr std::uint64_t square(std::uint64_t x) { return x * x; }

// Toward zero.
constexpr std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? wrapped(0 - unwrapped(a)) : a / b;
}
constexpr std::uint64_t divide(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a / b; }

// The remainder with the sign of a, as in C.
constexpr std::int64_t fmod(std::int64_t a, std::int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
constexpr std::uint64_t fmod(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a % b; }

// The remainder with the sign of b, as in Python.
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
constexpr std::uint64_t floor_mod(std::uint64_t a, std::uint64_t b) { return fmod(a, b); }

constexpr std::uint64_t pow(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 1;
  for (; b != 0; b >>= 1, a *= a) {
    if ((b & 1) != 0) result *= a;
  }
  return result;
}

// A negative exponent gives the reciprocal, cut to an integer.
constexpr std::int64_t pow(std::int64_t a, std::int64_t b) {
  if (b >= 0) return wrapped(pow(unwrapped(a), unwrapped(b)));
  if (a == 1) return 1;
  if (a == -1) return b % 2 == 0 ? 1 : -1;
  return 0;
}

// Integers are whole.
template <Integral S>
constexpr S floor(S x) {
  return x;
}
template <Integral S>
constexpr S ceil(S x) {
  return x;
}
template <Integral S>
constexpr S truncate(S x) {
  return x;
}
template <Integral S>
constexpr S round_even(S x) {
  return x;
}

constexpr std::pair<std::int64_t, std::int64_t> index_candidates(std::int64_t x) { return {x, x}; }
constexpr std::pair<std::int64_t, std::int64_t> index_candidates(std::uint64_t x) {
  constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto index = static_cast<std::int64_t>(x < kLast ? x : kLast);
  return {index, index};
}

}  // namespace assay
