// NumericCheck: what can go wrong with one function, and for which arguments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "numeric/applied.h"

namespace assay {

struct Danger {
  Interval argument;     // the range that the function gets
  Interval unsafe;       // the part of it for which it fails
  std::string why;       // "the argument of log may be 0 (it lies in [0, 1])"
  bool certain = false;  // every argument is unsafe
};

// What may be done before an operation so that it passes its check.
enum class Remedy : std::uint8_t {
  none,
  argument,    // the argument of the function is kept in its domain
  conversion,  // what is converted is kept in the other type
  index,       // the indices are kept in their tensor
  size,        // the operands are kept small
};

struct NumericCheck {
  std::string_view id;  // "lint.log"
  Operation function;   // that it is about
  // Nothing if no argument can do harm.
  std::optional<Danger> (*judge)(const Applied& applied);
};

// All checks of functions, a file each.
std::span<const NumericCheck> numeric_checks();

// Whether a range that the function gets holds numbers in (low, high); the parts in words.
std::optional<Danger> danger_if(const Interval& argument, const Interval& unsafe,
                                std::string_view what);

extern const NumericCheck kAcosCheck, kAcoshCheck, kAsinCheck, kAtanhCheck, kCoshCheck,
    kDivideCheck, kExpCheck, kExpm1Check, kLogCheck, kLog1pCheck, kPowCheck, kSinhCheck, kSqrtCheck;

}  // namespace assay
