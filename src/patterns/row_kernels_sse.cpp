// The loops over rows for the instructions that every x86-64 has.
#include "patterns/row_kernels.h"

#define ASSAY_ROWS_FUNCTION row_kernels_sse
#define ASSAY_ROWS_LANES 2
#include "patterns/row_kernels.inc"
