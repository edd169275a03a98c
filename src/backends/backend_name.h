// Names of backends: a framework, perhaps a release of it, perhaps a mode.
#pragma once

#include <string>

#include "backends/environment.h"

namespace assay {

struct BackendName {
  std::string text;  // "torch-1.4", "tensorflow-xla"
  Environment environment;
  std::string mode;
};

// "torch", "torch-compile", "torch-1.4", "onnxruntime-1.20.1-noopt". Kind "environment" if there is
// no such backend (with the nearest that there is), "usage" for a name that is reserved.
Result<BackendName> parse_backend(const std::string& text);

}  // namespace assay
