#include "tensor/large_blocks.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unordered_map>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20;
constexpr std::size_t kMostKeptBlocks = 256;

// Eight sizes an octave, so that a tensor a little smaller finds the block of another again.
std::size_t capacity_of(std::size_t size) {
  const std::size_t step = std::bit_floor(size) / 8;
  return (size + step - 1) / step * step;
}

void* map_pages(std::size_t capacity) {
  void* block = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  madvise(block, capacity, MADV_HUGEPAGE);  // a wish: without it the memory is merely slower
  return block;
}

// The blocks not in use, oldest first.
class KeptBlocks {
 public:
  KeptBlocks() { blocks_.reserve(kMostKeptBlocks); }

  // The smallest that is large enough, the newest of those, and not more than twice as large.
  void* take(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    std::size_t best = blocks_.size(), least = 2 * capacity + 1;
    for (std::size_t i = blocks_.size(); i-- > 0 && least > capacity;) {
      if (blocks_[i].capacity < capacity || blocks_[i].capacity >= least) continue;
      best = i;
      least = blocks_[i].capacity;
    }
    if (best == blocks_.size()) return nullptr;
    if (least > capacity) larger_.emplace(blocks_[best].block, least);
    return remove(best);
  }

  void keep(void* block, std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    if (const auto found = larger_.find(block); found != larger_.end()) {
      capacity = found->second;
      larger_.erase(found);
    }
    if (capacity > kMostKeptBytes) {
      munmap(block, capacity);
      return;
    }
    while (blocks_.size() == kMostKeptBlocks || bytes_ + capacity > kMostKeptBytes) drop_oldest();
    blocks_.push_back({block, capacity});
    bytes_ += capacity;
  }

  void drop_all() {
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
  }

  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Kept {
    void* block;
    std::size_t capacity;
  };

  void* remove(std::size_t i) {
    void* block = blocks_[i].block;
    bytes_ -= blocks_[i].capacity;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    return block;
  }
  void drop_oldest() {
    const std::size_t capacity = blocks_.front().capacity;
    munmap(remove(0), capacity);
  }

  std::mutex mutex_;
  std::vector<Kept> blocks_;
  std::unordered_map<void*, std::size_t> larger_;  // in use: of more than was asked for
  std::atomic<std::size_t> bytes_{0};
};

// Never destroyed: a static tensor may give its block back after everything else.
KeptBlocks& kept_blocks() {
  static auto* const blocks = new KeptBlocks;
  return *blocks;
}

}  // namespace

void* take_large_block(std::size_t size, bool zeroed) {
  const std::size_t capacity = capacity_of(size);
  if (void* block = kept_blocks().take(capacity)) {
    if (zeroed) std::memset(block, 0, size);
    return block;
  }
  return map_pages(capacity);
}

void give_back_large_block(void* block, std::size_t size) noexcept {
  kept_blocks().keep(block, capacity_of(size));
}

std::size_t kept_bytes() { return kept_blocks().bytes(); }

void drop_kept_blocks() { kept_blocks().drop_all(); }

}  // namespace assay
