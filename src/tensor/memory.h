// Where tensors keep their elements: one aligned, counted allocation each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay {

inline constexpr std::size_t kTensorAlignment = 64;

// `owner` keeps `data` alive; both lie in the same allocation.
struct Block {
  std::shared_ptr<const void> owner;
  void* data = nullptr;
};

enum class Fill : std::uint8_t { none, zeros };

// Throw MemoryLimitError, before anything is allocated, if all blocks together would exceed the
// limit. What strings hold outside their own object is not counted.
Block allocate_block(std::size_t bytes, Fill fill);
Block allocate_strings(std::size_t count);
// Throws as allocate_block does; nothing stays allocated, and no large page is touched.
void require_memory(std::size_t bytes);

}  // namespace assay
