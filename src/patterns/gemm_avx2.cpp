// The kernels of a matrix product for AVX2 with FMA. Compiled with -march=x86-64-v3.
#include "patterns/gemm_kernel.h"

#define ASSAY_GEMM_ISA avx2
#define ASSAY_GEMM_LANES 4
#define ASSAY_GEMM_ROWS 4
#define ASSAY_GEMM_VECTORS 3
#include "patterns/gemm_kernel.inc"
