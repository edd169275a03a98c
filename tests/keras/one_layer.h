// Models of one Keras layer, for tests.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/case_line.h"
#include "formats/support.h"

namespace assay {

// A model of one layer on inputs of these shapes (without the batch).
inline Result<LayerCase> one_layer(const std::string& name, const std::string& config,
                                   const std::vector<std::string>& shapes,
                                   const std::string& weights = "") {
  std::string inputs, listed;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    listed += fmt::format("{}\"in{}\"", i ? "," : "", i);
    inputs += fmt::format("{}\"in{}\":{}", i ? "," : "", i, shapes[i]);
  }
  const std::string line = fmt::format(
      R"({{"id":"a","layers":[{{"class":"{}","config":{},"name":"one","inputs":[{}]}}],)"
      R"("weights":{{{}}},"inputs":{{}},"model_inputs":[{}],"output":"one","input_shapes":{{{}}}}})",
      name, config, listed, weights.empty() ? "" : fmt::format("\"one\":{}", weights), listed,
      inputs);
  const TemporaryFolder folder;
  const std::string file = folder.path() / "a.jsonl";
  std::ofstream(file) << line << '\n';
  return read_named_case(file + "#a");
}

}  // namespace assay
