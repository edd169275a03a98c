// The kernels of a matrix product for any x86-64. Compiled with the baseline flags.
#include "patterns/gemm_kernel.h"

#define ASSAY_GEMM_ISA sse
#define ASSAY_GEMM_LANES 2
#define ASSAY_GEMM_ROWS 4
#define ASSAY_GEMM_VECTORS 2
#include "patterns/gemm_kernel.inc"
