#include "patterns/row_kernels.h"

#include "base/isa.h"

namespace assay {

const RowKernels& row_kernels() {
  switch (isa()) {
    case Isa::avx512:
      return row_kernels_avx512();
    case Isa::avx2:
      return row_kernels_avx2();
    case Isa::sse:
      break;
  }
  return row_kernels_sse();
}

}  // namespace assay
