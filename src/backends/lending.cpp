#include "backends/lending.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr std::uint64_t kCopied = 1 << 14;  // bytes that are cheaper copied than mapped

// Where the page after these bytes starts.
std::uint64_t page_after(std::uint64_t end) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (end + page - 1) / page * page;
}

}  // namespace

// The tensors of one answer. Its memory is given back when the last of them goes.
class Lending::Stretch {
 public:
  Stretch(std::shared_ptr<const Arena> arena, std::uint64_t start, std::uint64_t end)
      : arena_(std::move(arena)),
        start_(start),
        end_(end),
        bytes_(mmap(nullptr, end - start, PROT_READ, MAP_SHARED | MAP_POPULATE,
                    arena_->descriptor(), static_cast<off_t>(start))) {}
  ~Stretch() {
    if (!mapped()) return;
    munmap(bytes_, end_ - start_);
    fallocate(arena_->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(start_), static_cast<off_t>(end_ - start_));
  }
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;

  bool mapped() const { return bytes_ != MAP_FAILED; }
  std::uint64_t start() const { return start_; }
  std::uint64_t end() const { return end_; }
  const void* at(std::uint64_t offset) const {
    return static_cast<const char*>(bytes_) + (offset - start_);
  }

 private:
  std::shared_ptr<const Arena> arena_;
  std::uint64_t start_, end_;
  void* bytes_;
};

Result<Lending> Lending::make() {
  Result<Arena> arena = Arena::make_lasting();
  if (!arena) return arena.error();
  return Lending(*std::move(arena));
}

std::uint64_t Lending::next_start() {
  std::erase_if(lent_, [](const auto& one) { return one.expired(); });
  start_ = 0;
  for (const auto& one : lent_) {
    if (const auto held = one.lock()) start_ = std::max(start_, page_after(held->end()));
  }
  return start_;
}

std::shared_ptr<const Lending::Stretch> Lending::last_stretch() {
  auto last = lent_.empty() ? nullptr : lent_.back().lock();
  if (last && last->start() == start_) return last;
  if (!arena_->lasting()) return nullptr;
  auto stretch = std::make_shared<const Stretch>(arena_, start_, end_);
  if (!stretch->mapped()) return nullptr;
  lent_.push_back(stretch);
  return stretch;
}

std::optional<Tensor> Lending::lend(ElementType type, const Shape& shape, std::uint64_t offset) {
  const std::uint64_t count = static_cast<std::uint64_t>(element_count(shape)) * storage_size(type);
  if (offset < start_ || offset > end_ || count > end_ - offset) return std::nullopt;
  const bool mapped = count > kCopied && offset % alignof(std::max_align_t) == 0;
  if (const auto stretch = mapped ? last_stretch() : nullptr) {
    return Tensor(type, shape, stretch, stretch->at(offset));
  }
  return arena_->read(offset, type, shape);
}

}  // namespace assay
