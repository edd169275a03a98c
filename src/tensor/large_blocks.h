// Large pieces of memory, mapped from the system and kept for a while after use.
//
// A fresh page costs far more than writing it (measured: 64 MiB take 55 ms to touch for the first
// time, 3.6 ms afterwards), and the C library hands freed large blocks back at once.
#pragma once

#include <cstddef>

namespace assay {

// From this size on, blocks come from here.
inline constexpr std::size_t kLargeBlock = std::size_t{1} << 18;

// nullptr if the system refuses. `zeroed` says that the memory must be all zeros.
void* take_large_block(std::size_t size, bool zeroed);
void give_back_large_block(void* block, std::size_t size) noexcept;  // the size it was taken with

// What is kept and not in use, and its return to the system.
std::size_t kept_bytes();
void drop_kept_blocks();

}  // namespace assay
