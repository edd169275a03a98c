// The loops over rows for AVX2 with FMA. Compiled with -march=x86-64-v3.
#include "patterns/row_kernels.h"

#define ASSAY_ROWS_FUNCTION row_kernels_avx2
#define ASSAY_ROWS_LANES 4
#include "patterns/row_kernels.inc"
