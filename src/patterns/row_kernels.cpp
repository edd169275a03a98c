#include "patterns/row_kernels.h"

#include "patterns/gemm.h"

namespace assay {

const RowKernels& row_kernels() {
  const std::string_view isa = gemm_isa();
  if (isa == "avx512") return row_kernels_avx512();
  return isa == "avx2" ? row_kernels_avx2() : row_kernels_sse();
}

}  // namespace assay
