// Buffer: a vector of numbers whose new elements mean nothing before they are written.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace assay {

// From where tensors have theirs, but not counted: what was large is there for the next one.
// Throws std::bad_alloc.
void* take_room(std::size_t bytes);
void give_back_room(void* room, std::size_t bytes) noexcept;

template <class T>
struct BufferAllocator {
  using value_type = T;

  BufferAllocator() = default;
  template <class U>
  BufferAllocator(const BufferAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(take_room(count * sizeof(T)));
  }
  void deallocate(T* room, std::size_t count) noexcept { give_back_room(room, count * sizeof(T)); }
  template <class U>
  void construct(U*) noexcept {}  // resize(n): whoever asks for it writes it
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const BufferAllocator&, const BufferAllocator&) { return true; }
};

template <class T>
using Buffer = std::vector<T, BufferAllocator<T>>;

}  // namespace assay
