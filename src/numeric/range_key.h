// Ranges in keys.
#pragma once

#include <array>

#include "scalar/interval.h"
#include "semantics/key_writer.h"

namespace assay {

inline void write_range(const Interval& range, KeyWriter& key) {
  const std::array<double, 2> ends = {range.low, range.high};
  key.bytes(ends.data(), sizeof ends);
  key.mark(range.nan ? 'n' : ' ');
}

}  // namespace assay
