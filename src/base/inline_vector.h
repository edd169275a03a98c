// InlineVector: a list of plain values that needs no memory of its own while it is short. Shapes
// are such lists: nearly all have at most four extents, and there are several for each node of a
// model.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {

// Behaves like std::vector<T>, to and from which it converts.
template <class T, std::uint32_t kInline>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  InlineVector() = default;
  explicit InlineVector(std::size_t count) : InlineVector(count, T()) {}
  InlineVector(std::size_t count, const T& value) { assign(count, value); }
  InlineVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  template <std::input_iterator I>
  InlineVector(I first, I last) {
    append(first, last);
  }
  InlineVector(const std::vector<T>& values)  // NOLINT(google-explicit-constructor)
      : InlineVector(values.begin(), values.end()) {}

  InlineVector(const InlineVector& other) : size_(other.size_), place_(other.place_) {
    if (other.on_heap()) copy_heap(other);
  }
  InlineVector(InlineVector&& other) noexcept
      : size_(other.size_), capacity_(other.capacity_), place_(other.place_) {
    other.forget();
  }
  InlineVector& operator=(const InlineVector& other) {
    if (this == &other) return *this;
    if (on_heap() || other.on_heap()) {
      assign(other.begin(), other.end());
    } else {
      size_ = other.size_;
      place_ = other.place_;
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    size_ = other.size_;
    capacity_ = other.capacity_;
    place_ = other.place_;
    other.forget();
    return *this;
  }
  InlineVector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }
  ~InlineVector() { release(); }

  operator std::vector<T>() const {
    return {begin(), end()};
  }  // NOLINT(google-explicit-constructor)

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }
  T* data() { return on_heap() ? place_.heap : place_.own.data(); }
  const T* data() const { return on_heap() ? place_.heap : place_.own.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  const T* cbegin() const { return begin(); }
  const T* cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  const T& at(std::size_t i) const {
    if (i >= size_) throw std::out_of_range("InlineVector");
    return data()[i];
  }
  T& at(std::size_t i) { return const_cast<T&>(std::as_const(*this).at(i)); }
  T& front() { return *data(); }
  const T& front() const { return *data(); }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  void clear() { size_ = 0; }
  void resize(std::size_t count, const T& value = T()) {
    const T copy = value;
    reserve(count);
    if (count > size_) std::fill_n(data() + size_, count - size_, copy);
    size_ = static_cast<std::uint32_t>(count);
  }
  void assign(std::size_t count, const T& value) {
    const T copy = value;
    clear();
    resize(count, copy);
  }
  template <std::input_iterator I>
  void assign(I first, I last) {
    clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  void push_back(const T& value) {
    const T copy = value;
    if (size_ == capacity_) grow(std::size_t{size_} + 1);
    data()[size_++] = copy;
  }
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
    return back();
  }
  void pop_back() { --size_; }

  iterator insert(const_iterator place, const T& value) { return insert(place, 1, value); }
  iterator insert(const_iterator place, std::size_t count, const T& value) {
    const T copy = value;
    T* const gap = open(place, count);
    std::fill_n(gap, count, copy);
    return gap;
  }
  template <std::forward_iterator I>
  iterator insert(const_iterator place, I first, I last) {  // not of this list
    T* const gap = open(place, static_cast<std::size_t>(std::distance(first, last)));
    std::copy(first, last, gap);
    return gap;
  }
  iterator insert(const_iterator place, std::initializer_list<T> values) {
    return insert(place, values.begin(), values.end());
  }
  iterator erase(const_iterator place) { return erase(place, place + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    T* const to = data() + (first - data());
    std::copy(last, std::as_const(*this).end(), to);
    size_ -= static_cast<std::uint32_t>(last - first);
    return to;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend auto operator<=>(const InlineVector& a, const InlineVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }
  template <class Predicate>
  friend std::size_t erase_if(InlineVector& list, Predicate predicate) {
    const T* const kept = std::remove_if(list.begin(), list.end(), predicate);
    const auto gone = static_cast<std::size_t>(list.end() - kept);
    list.erase(kept, list.end());
    return gone;
  }

 private:
  bool on_heap() const { return capacity_ > kInline; }
  void forget() {
    size_ = 0;
    capacity_ = kInline;
  }
  void release() {
    if (on_heap()) std::allocator<T>().deallocate(place_.heap, capacity_);
  }
  void copy_heap(const InlineVector& other) {
    place_.heap = std::allocator<T>().allocate(other.capacity_);
    capacity_ = other.capacity_;
    std::copy(other.begin(), other.end(), place_.heap);
  }
  void grow(std::size_t least) {
    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (least > kMost) throw std::length_error("InlineVector");
    const std::size_t room = std::min(std::max(least, std::size_t{2} * capacity_), kMost);
    T* const fresh = std::allocator<T>().allocate(room);
    std::copy(begin(), end(), fresh);
    release();
    place_.heap = fresh;
    capacity_ = static_cast<std::uint32_t>(room);
  }
  template <class I>
  void append(I first, I last) {
    if constexpr (std::forward_iterator<I>) {
      const auto count = static_cast<std::size_t>(std::distance(first, last));
      reserve(size_ + count);
      std::copy(first, last, data() + size_);
      size_ += static_cast<std::uint32_t>(count);
    } else {
      for (; first != last; ++first) push_back(*first);
    }
  }
  T* open(const_iterator place, std::size_t count) {
    const std::ptrdiff_t at = place - data();
    reserve(size_ + count);
    T* const gap = data() + at;
    std::copy_backward(gap, data() + size_, data() + size_ + count);
    size_ += static_cast<std::uint32_t>(count);
    return gap;
  }

  std::uint32_t size_ = 0, capacity_ = kInline;  // more: the elements lie on the heap
  union Place {
    std::array<T, kInline> own;
    T* heap;
    Place() : own{} {}
  } place_;
};

}  // namespace assay
