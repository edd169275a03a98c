// Limits on the process: memory by default, so that no model can take the whole machine.
#pragma once

#include <cstdint>

namespace assay {

// Sets the limit on tensors (0: three quarters of what this machine or container has), and one on
// the process's data beyond it, as a second lock for memory that is not tensors.
void apply_memory_limit(std::int64_t bytes);

std::int64_t peak_bytes();  // that this process has taken

}  // namespace assay
