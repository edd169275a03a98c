#include "base/isa.h"

#include <cstdlib>
#include <optional>

namespace assay {
namespace {

constexpr Isa kAll[] = {Isa::sse, Isa::avx2, Isa::avx512};

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512cd");
}

Isa best() {
  if (has_avx512()) return Isa::avx512;
  return has_avx2() ? Isa::avx2 : Isa::sse;
}

std::optional<Isa> find(std::string_view name) {
  for (const Isa one : kAll)
    if (name_of(one) == name && one <= best()) return one;
  return std::nullopt;
}

Isa initial() {
  const char* wanted = std::getenv("ASSAY_ISA");
  return (wanted ? find(wanted) : std::nullopt).value_or(best());
}

Isa& current() {
  static Isa in_use = initial();
  return in_use;
}

}  // namespace

Isa isa() { return current(); }

std::string_view name_of(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "sse";
}

bool set_isa(std::string_view name) {
  const std::optional<Isa> found = find(name);
  if (found) current() = *found;
  return found.has_value();
}

}  // namespace assay
