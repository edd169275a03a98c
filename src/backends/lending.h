// Lending: an arena whose tensors are read where they lie, for as long as somebody holds them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/arena.h"
#include "tensor/tensor.h"

namespace assay {

// Inner values are many, and large: to copy them takes as long as to judge them.
class Lending {
 public:
  static Result<Lending> make();

  const Arena& arena() const { return *arena_; }
  // Where the next answer is to start: behind all that is still held.
  std::uint64_t next_start();
  void answered(std::uint64_t end) { end_ = std::min(end, arena_->size()); }
  // The bytes of a tensor of the last answer, in its storage layout. They are copied where nobody
  // can promise that the file stays as long as it is, and where they are few.
  std::optional<Tensor> lend(ElementType type, const Shape& shape, std::uint64_t offset);

 private:
  class Stretch;
  explicit Lending(Arena arena) : arena_(std::make_shared<Arena>(std::move(arena))) {}
  std::shared_ptr<const Stretch> last_stretch();

  std::shared_ptr<Arena> arena_;
  std::uint64_t start_ = 0, end_ = 0;               // of the last answer
  std::vector<std::weak_ptr<const Stretch>> lent_;  // the last answer's comes last
};

}  // namespace assay
