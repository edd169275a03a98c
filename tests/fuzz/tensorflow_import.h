// What both targets for TensorFlow graphs do with bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "formats/onnx_export.h"
#include "formats/tensorflow_read.h"
#include "semantics/import_tensorflow.h"
#include "validate/validate.h"

namespace assay {

// Any bytes are a graph or refused with a one-line reason; a graph becomes a model that can be
// validated, and written if it is valid.
inline void check_tensorflow(std::string_view bytes, TensorflowForm form) {
  Result<tensorflow::GraphDef> graph = parse_tensorflow(bytes, form, "fuzz");
  if (!graph) {
    ASSAY_CHECK(graph.error().message.find('\n') == std::string::npos);
    return;
  }
  const Model model = import_tensorflow(*std::move(graph)).model;
  const ValidationResult result = validate(model);
  for (const Finding& finding : result.findings) {
    ASSAY_CHECK(!finding.rule.empty() && finding.message.find('\n') == std::string::npos);
  }
  if (result.valid()) ASSAY_CHECK(to_onnx(model).has_value());
}

}  // namespace assay
