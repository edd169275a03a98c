// The parts of a .npy file: its header, read and written, and the bytes of its elements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/tensor.h"

namespace assay {

// An array-protocol type such as "<f4".
struct NpyType {
  char byte_order = '|';  // '<', '>', or '|' where it does not matter
  char kind = 'V';        // b i u f c U S V
  std::size_t size = 0;   // bytes an element
};

struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

Error npy_error(std::string_view where, std::string_view what);
Error npy_limit_error(std::string_view where, std::string_view what);

Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view where);

// A tensor as a file: `header` and then the payload, which lies in the tensor or here.
struct NpyParts {
  std::string header;
  std::string own_payload;
  std::string_view tensor_payload;

  std::string_view payload() const {
    return tensor_payload.empty() ? std::string_view(own_payload) : tensor_payload;
  }
};
Result<NpyParts> make_npy_parts(const Tensor& tensor, std::string_view where);

}  // namespace assay
