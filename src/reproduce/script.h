// Script: a defect as a few lines of Python in a framework's own words, without Assay.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/worker.h"
#include "base/result.h"
#include "formats/text_case.h"
#include "reproduce/expectation.h"
#include "tensor/npy.h"

namespace assay {

inline constexpr std::size_t kMostScriptLines = 20;

// What a script is about.
struct ScriptSubject {
  const BackendTest* test;                         // the model, on the inputs that the script has
  std::map<std::string, std::string> generated{};  // inputs that an expression makes, by name
  std::string backend, version;
  std::string explanation{};                 // the known other reading that explains it, if any
  std::optional<Expectation> expectation{};  // none: that there is an answer at all
  bool has_file = true;                      // the model lies beside the script
};

struct Script {
  std::string text;
  std::vector<NpzEntry> data{};  // belongs beside it, as .npz
  bool needs_model = false;      // it reads FOLDER/model.onnx, where FOLDER is its name without .py
};

// What a script calls the values of a graph's inputs and initializers.
VariableNames name_variables(const Graph& graph);

// An Error, of kind "script", says why there can be none.
Result<Script> write_script(const ScriptSubject& subject, const VariableNames& names,
                            const ScriptParts& parts);

}  // namespace assay
