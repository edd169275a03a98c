// Takes memory from mimalloc, where the build has it (a build with sanitizers has not). The
// library's own operator new is written in C: it would end the process where ours throws.
#include "cli/allocator.h"

#ifdef ASSAY_MIMALLOC
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mimalloc.h>
#include <new>
#include <sys/mman.h>

namespace {

void* or_throw(void* block) {
  if (!block) throw std::bad_alloc();
  return block;
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(mi_malloc(size)); }
void* operator new[](std::size_t size) { return or_throw(mi_malloc(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return mi_malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return mi_malloc(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(mi_malloc_aligned(size, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(mi_malloc_aligned(size, static_cast<std::size_t>(alignment)));
}
void operator delete(void* block) noexcept { mi_free(block); }
void operator delete[](void* block) noexcept { mi_free(block); }
void operator delete(void* block, std::size_t) noexcept { mi_free(block); }
void operator delete[](void* block, std::size_t) noexcept { mi_free(block); }
void operator delete(void* block, std::align_val_t) noexcept { mi_free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { mi_free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { mi_free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { mi_free(block); }

namespace assay {

// Hundreds of small fresh pages cost more than the work of a small command. The allocator maps
// memory in blocks of 32 MiB, the first one before main; to ask for large pages is a wish.
void set_up_memory() {
  constexpr std::uintptr_t kBlock = std::uintptr_t{1} << 25;
  const auto inside = std::make_unique<char>();
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(inside.get()) & ~(kBlock - 1);
  madvise(reinterpret_cast<void*>(start), kBlock, MADV_HUGEPAGE);
  mi_option_enable(mi_option_large_os_pages);
}

int ended(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace assay
#else
namespace assay {

void set_up_memory() {}
int ended(int code) { return code; }

}  // namespace assay
#endif
