// The ways in which a worker can go wrong, each with the outcome that it has to have.
#pragma once

#include <cstdint>

namespace assay {

enum class Fault : std::int64_t {
  none,
  killed,
  segfault,
  aborted,
  exits,
  hangs,
  takes_memory,
  slow,
  forks_and_dies,
  closes_output,
  floods_errors,
  wrong_id,
  wrong_shape,
  absurd_shape,
  unknown_type,
  outside_arena,
  cuts_arena,
  garbage,
  absurd_length,
  half_then_exits,
  half_then_hangs,
  answers_twice,
  count,
};

}  // namespace assay
