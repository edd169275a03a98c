// Rare: an optional value that few have.
#pragma once

#include <memory>
#include <utility>

namespace assay {

// Stands elsewhere, so that those without one stay small; copies share it, since it never changes.
template <class T>
class Rare {
 public:
  Rare() = default;
  Rare(T value)  // NOLINT(google-explicit-constructor)
      : value_(std::make_shared<const T>(std::move(value))) {}

  explicit operator bool() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace assay
