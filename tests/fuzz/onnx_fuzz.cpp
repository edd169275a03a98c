// Any bytes at all are either a model or refused with a one-line reason; a model can be written and
// read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "formats/onnx_export.h"
#include "formats/onnx_import.h"
#include "graph/order.h"

namespace assay {
namespace {

void check_one(std::string_view bytes) {
  const Result<Model> model = parse_onnx(bytes, "fuzz.onnx");
  if (!model) {
    ASSAY_CHECK(model.error().message.find('\n') == std::string::npos);
    return;
  }
  check_structure(*model);
  const Result<std::string> written = to_onnx(*model);
  ASSAY_CHECK(written.has_value());
  const Result<Model> again = parse_onnx(*written, "fuzz.onnx");
  ASSAY_CHECK(again.has_value());
  ASSAY_CHECK(to_onnx(*again).value() == *written);
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::check_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
