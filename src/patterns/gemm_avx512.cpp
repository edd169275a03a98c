// The kernels of a matrix product for AVX-512. Compiled with -march=x86-64-v4.
#include "patterns/gemm_kernel.h"

#define ASSAY_GEMM_ISA avx512
#define ASSAY_GEMM_LANES 8
#define ASSAY_GEMM_ROWS 8
#define ASSAY_GEMM_VECTORS 3
#include "patterns/gemm_kernel.inc"
