// Chunked: a list that grows without moving what is in it.
#pragma once

#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace assay {

// For hundreds of thousands of large elements, which a vector would move again and again, each time
// into memory that has not been used before.
template <class T>
class Chunked {
 public:
  Chunked() = default;
  Chunked(Chunked&& other) noexcept
      : chunks_(std::exchange(other.chunks_, {})), size_(std::exchange(other.size_, 0)) {}
  Chunked& operator=(Chunked&& other) noexcept {
    chunks_ = std::exchange(other.chunks_, {});
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) {
    const std::size_t chunk = chunk_of(i);
    return chunks_[chunk][i - start_of(chunk)];
  }
  const T& operator[](std::size_t i) const {
    const std::size_t chunk = chunk_of(i);
    return chunks_[chunk][i - start_of(chunk)];
  }

  // Not to fewer: elements are never taken away.
  void grow(std::size_t size) {
    while (start_of(chunks_.size()) < size) {
      const std::size_t next = chunks_.size();
      chunks_.push_back(std::make_unique<T[]>(start_of(next + 1) - start_of(next)));
    }
    if (size > size_) size_ = size;
  }
  void push_back(T element) {
    grow(size_ + 1);
    (*this)[size_ - 1] = std::move(element);
  }

  template <class List, class Element>
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    Iterator(List* list, std::size_t place) : list_(list), place_(place) {}
    Element& operator*() const { return (*list_)[place_]; }
    Element* operator->() const { return &(*list_)[place_]; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.place_ == b.place_; }

   private:
    List* list_;
    std::size_t place_;
  };
  auto begin() { return Iterator<Chunked, T>(this, 0); }
  auto end() { return Iterator<Chunked, T>(this, size_); }
  auto begin() const { return Iterator<const Chunked, const T>(this, 0); }
  auto end() const { return Iterator<const Chunked, const T>(this, size_); }

 private:
  // Chunks of 8, 8, 16, 32, … 512, and from then on of 1024: short lists stay small.
  static constexpr std::size_t kFirst = 8, kLast = 1024, kDoublings = 8;

  static std::size_t chunk_of(std::size_t i) {
    if (i < kLast) return static_cast<std::size_t>(std::bit_width(i / kFirst));
    return kDoublings - 1 + i / kLast;
  }
  static std::size_t start_of(std::size_t chunk) {
    if (chunk < kDoublings) return chunk == 0 ? 0 : kFirst << (chunk - 1);
    return (chunk - kDoublings + 1) * kLast;
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace assay
