#include "tensor/memory.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include <fmt/format.h>

#include "tensor/buffer.h"
#include "tensor/large_blocks.h"
#include "tensor/tensor.h"

namespace assay {
namespace {

// No tensor is larger; what claims to be is not even asked of the system.
constexpr std::size_t kMostBytes = std::size_t{1} << 39;

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> limit_bytes{std::numeric_limits<std::size_t>::max()};

void count(std::size_t bytes) {
  const std::size_t limit = limit_bytes.load(std::memory_order_relaxed);
  std::size_t live = live_bytes.load(std::memory_order_relaxed);
  do {
    if (bytes > limit || live > limit - bytes) {
      throw MemoryLimitError(
          fmt::format("a tensor asked for {} bytes, {} are in use, the memory limit is {}", bytes,
                      live, limit));
    }
  } while (!live_bytes.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
}

// Sanitizers watch only what malloc gives.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsLargeBlocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kKeepsLargeBlocks = false;
#else
constexpr bool kKeepsLargeBlocks = true;
#endif
#else
constexpr bool kKeepsLargeBlocks = true;
#endif

bool is_large(std::size_t size) { return kKeepsLargeBlocks && size >= kLargeBlock; }

void* take_memory(std::size_t size, Fill fill) {
  if (!is_large(size)) return fill == Fill::zeros ? std::calloc(size, 1) : std::malloc(size);
  // What is merely kept must not stand beyond the limit either.
  const std::size_t unused = limit_bytes.load(std::memory_order_relaxed) - live_tensor_bytes();
  if (kept_bytes() > unused) drop_kept_blocks();
  return take_large_block(size, fill == Fill::zeros);
}

void give_back_memory(void* memory, std::size_t size) noexcept {
  is_large(size) ? give_back_large_block(memory, size) : std::free(memory);
}

void uncount(std::size_t bytes) { live_bytes.fetch_sub(bytes, std::memory_order_relaxed); }

// Memory for so many bytes, which count, and some more.
void* take_counted(std::size_t bytes, std::size_t more, Fill fill) {
  if (bytes > kMostBytes) {
    throw MemoryLimitError(
        fmt::format("a tensor asked for {} bytes, which no memory holds", bytes));
  }
  count(bytes);
  void* memory = take_memory(bytes + more, fill);
  if (memory) return memory;
  uncount(bytes);
  throw MemoryLimitError(
      fmt::format("a tensor asked for {} bytes, which the system refused", bytes));
}

// Hands std::allocate_shared room for its control block with the elements behind it, so that a
// tensor costs one allocation. `data` is where the elements' address goes; the copy that the
// control block keeps never reads it.
template <class T>
struct BlockAllocator {
  using value_type = T;

  std::size_t bytes;
  Fill fill;
  void** data;

  BlockAllocator(std::size_t bytes, Fill fill, void** data)
      : bytes(bytes), fill(fill), data(data) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& other)  // NOLINT(google-explicit-constructor)
      : bytes(other.bytes), fill(other.fill), data(other.data) {}

  T* allocate(std::size_t objects) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    const std::size_t front = objects * sizeof(T);
    void* base = take_counted(bytes, front + kTensorAlignment - 1, fill);
    const auto behind = reinterpret_cast<std::uintptr_t>(base) + front;
    *data = static_cast<char*>(base) + front +
            (kTensorAlignment - behind % kTensorAlignment) % kTensorAlignment;
    return static_cast<T*>(base);
  }
  void deallocate(T* base, std::size_t objects) noexcept {
    give_back_memory(base, objects * sizeof(T) + kTensorAlignment - 1 + bytes);
    uncount(bytes);
  }
  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

struct Plain {};

struct Strings {
  std::string* first;
  std::size_t size;

  Strings(void* const& data, std::size_t count)
      : first(static_cast<std::string*>(data)), size(count) {
    std::uninitialized_value_construct_n(first, size);
  }
  Strings(const Strings&) = delete;
  Strings& operator=(const Strings&) = delete;
  ~Strings() { std::destroy_n(first, size); }
};

}  // namespace

void* take_room(std::size_t bytes) {
  void* room = take_memory(bytes, Fill::none);
  if (!room) throw std::bad_alloc();
  return room;
}

void give_back_room(void* room, std::size_t bytes) noexcept { give_back_memory(room, bytes); }

Block allocate_block(std::size_t bytes, Fill fill) {
  Block block;
  block.owner = std::allocate_shared<Plain>(BlockAllocator<Plain>(bytes, fill, &block.data));
  return block;
}

Block allocate_strings(std::size_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(std::string), &bytes)) {
    throw MemoryLimitError(
        fmt::format("a tensor asked for {} strings, which no memory holds", count));
  }
  Block block;
  // The address is read by reference: the allocator sets it just before Strings is made.
  block.owner = std::allocate_shared<Strings>(
      BlockAllocator<Strings>(bytes, Fill::none, &block.data), block.data, count);
  return block;
}

void require_memory(std::size_t bytes) {
  give_back_memory(take_counted(bytes, 0, Fill::none), bytes);
  uncount(bytes);
}

void set_memory_limit(std::size_t bytes) { limit_bytes.store(bytes, std::memory_order_relaxed); }

std::size_t memory_limit() { return limit_bytes.load(std::memory_order_relaxed); }

std::size_t live_tensor_bytes() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace assay
