// The instruction set in use, and loops that are compiled for each.
#pragma once

#include <string_view>

namespace assay {

enum class Isa { sse, avx2, avx512 };

// The best one of the machine, unless the environment variable ASSAY_ISA names a lower one.
Isa isa();
std::string_view name_of(Isa isa);

// Uses another one from now on; false, and no change, if this machine lacks it or the name is none.
// For tests and benchmarks: not while something is being computed.
bool set_isa(std::string_view name);

// The one of three that is for the instruction set in use.
template <class T>
T by_isa(T sse, T avx2, T avx512) {
  if (isa() == Isa::avx512) return avx512;
  return isa() == Isa::avx2 ? avx2 : sse;
}

namespace isa_detail {

// Flat, because only what is inlined here is compiled for these instructions. By value, so that
// the compiler sees that nobody else writes what the loop keeps.
template <class Loop>
__attribute__((target("avx2"), flatten)) auto run_avx2(Loop loop) {
  return loop();
}
template <class Loop>
__attribute__((target("avx512f,avx512dq,avx512vl"), flatten)) auto run_avx512(Loop loop) {
  return loop();
}

}  // namespace isa_detail

// Runs a loop with the widest vectors in use. It should hold what it needs by value. Its bits are
// the same in all of them: no multiplication is joined with an addition.
template <class Loop>
auto with_widest_vectors(const Loop& loop) {
  if (isa() == Isa::avx512) return isa_detail::run_avx512(loop);
  return isa() == Isa::avx2 ? isa_detail::run_avx2(loop) : loop();
}

}  // namespace assay
