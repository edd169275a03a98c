// Reads TensorFlow graphs: GraphDef in its binary and its text form, and SavedModel folders.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layers/tensorflow/graph_def.h"

namespace assay {

enum class TensorflowForm : std::uint8_t { binary, text };

// .pb, .pbtxt, both also .gz; a folder with saved_model.pb or saved_model.pbtxt, or such a file.
// Kinds: "missing", "unreadable" (not a whole graph; the text form says in which line), "limit"
// (too large to decode), "invalid" (it decodes, but a tensor contradicts itself). Messages are one
// line.
Result<tensorflow::GraphDef> read_tensorflow(const std::filesystem::path& path);
Result<tensorflow::GraphDef> parse_tensorflow(std::string_view bytes, TensorflowForm form,
                                              const std::string& where);

// Whether a path is for read_tensorflow, by its name and by what lies in the folder.
bool is_tensorflow(const std::filesystem::path& path);

}  // namespace assay
