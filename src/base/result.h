// Result<T>: a value, or the reason why the outside world could not give one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace assay {

// What went wrong, for a person (`message`) and for a machine (`kind`, `where`).
// Kinds: "unreadable", "limit", "timeout", "usage", "invalid", "missing", "internal".
struct Error {
  std::string kind;
  std::string message;
  std::string where;
};

template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  const T& value() const& {
    ASSAY_CHECK(has_value());
    return std::get<0>(state_);
  }
  T& value() & {
    ASSAY_CHECK(has_value());
    return std::get<0>(state_);
  }
  T&& value() && {
    ASSAY_CHECK(has_value());
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    ASSAY_CHECK(!has_value());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value: success, or the reason why not.
template <>
class Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  const Error& error() const {
    ASSAY_CHECK(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace assay
