// The loops over rows for AVX-512. Compiled with -march=x86-64-v4.
#include "patterns/row_kernels.h"

#define ASSAY_ROWS_FUNCTION row_kernels_avx512
#define ASSAY_ROWS_LANES 8
#include "patterns/row_kernels.inc"
