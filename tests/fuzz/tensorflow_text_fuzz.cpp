// TensorFlow graphs in their text form.
#include <cstddef>
#include <cstdint>

#include "tensor/tensor.h"
#include "tensorflow_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::set_memory_limit(std::size_t{1} << 28);
  assay::check_tensorflow({reinterpret_cast<const char*>(data), size}, assay::TensorflowForm::text);
  return 0;
}
