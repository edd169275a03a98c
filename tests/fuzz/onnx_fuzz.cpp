// Any bytes at all are either a model or refused with a one-line reason; a model can be validated,
// written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "formats/onnx_export.h"
#include "formats/onnx_import.h"
#include "tensor/tensor.h"
#include "validate/validate.h"

namespace assay {
namespace {

void check_one(std::string_view bytes) {
  const Result<Model> model = parse_onnx(bytes, "fuzz.onnx");
  if (!model) {
    ASSAY_CHECK(model.error().message.find('\n') == std::string::npos);
    return;
  }
  for (const Finding& finding : validate(*model).findings) {
    ASSAY_CHECK(!finding.rule.empty() && !finding.message.empty());
    ASSAY_CHECK(finding.message.find('\n') == std::string::npos);
  }
  const Result<std::string> written = to_onnx(*model);
  ASSAY_CHECK(written.has_value());
  const Result<Model> again = parse_onnx(*written, "fuzz.onnx");
  ASSAY_CHECK(again.has_value());
  ASSAY_CHECK(to_onnx(*again).value() == *written);
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::set_memory_limit(std::size_t{1} << 28);
  assay::check_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
