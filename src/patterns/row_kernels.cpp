#include "patterns/row_kernels.h"

#include "base/isa.h"

namespace assay {

const RowKernels& row_kernels() {
  return by_isa(row_kernels_sse, row_kernels_avx2, row_kernels_avx512)();
}

}  // namespace assay
