#include "catalogue/corpus.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "compare/case_file.h"
#include "compare/conformance.h"
#include "formats/onnx_import.h"
#include "formats/onnx_value.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path node_tests() {
  const char* given = std::getenv("ASSAY_ONNX_TESTS");
  return fs::path(given ? given : "build/onnx-tests") / "node";
}

// Nothing for a model of several nodes, which the standard's expanded functions are.
void add_node_test(const fs::path& folder, std::vector<Specimen>& specimens) {
  const Result<Model> model = read_onnx(folder / "model.onnx");
  if (!model || model->graph.nodes.size() != 1 || !model->functions.empty()) return;
  const Node& node = model->graph.nodes.front();
  Specimen specimen{folder.filename().string(), node, 0, {}};
  const auto opset = model->opsets.find(node.domain);
  if (opset == model->opsets.end()) return;
  specimen.opset = static_cast<int>(opset->second);
  // What the catalogue lacks is counted by the test of completeness.
  if (!find_operator(node.domain, node.op, specimen.opset).entry) return;
  std::size_t next = 0;
  for (const std::string& input : node.inputs) {
    if (input.empty() || next >= model->graph.inputs.size()) {
      specimen.inputs.emplace_back();
      continue;
    }
    const fs::path file = folder / "test_data_set_0" / ("input_" + std::to_string(next) + ".pb");
    Result<Value> value = read_test_value(file, model->graph.inputs[next++].type);
    if (!value) return;
    specimen.inputs.push_back(*std::move(value));
  }
  specimens.push_back(std::move(specimen));
}

void add_cases(const fs::path& file, std::vector<Specimen>& specimens) {
  const Result<std::vector<TextCase>> cases = read_cases(file);
  if (!cases) throw std::runtime_error(cases.error().message);
  for (const TextCase& one : *cases) {
    Specimen specimen{
        file.stem().string() + "/" + one.name, one.node, static_cast<int>(opset_of(one)), {}};
    for (const NamedValue& input : one.inputs) specimen.inputs.push_back(input.value);
    specimens.push_back(std::move(specimen));
  }
}

}  // namespace

const std::vector<Specimen>& corpus() {
  static const std::vector<Specimen> kCorpus = [] {
    std::vector<Specimen> specimens;
    const auto folders = find_tests(node_tests());
    if (!folders) throw std::runtime_error(folders.error().message + " (make onnx-tests)");
    for (const fs::path& folder : *folders) add_node_test(folder, specimens);
    for (const fs::path& file : find_case_files("tests/cases")) add_cases(file, specimens);
    return specimens;
  }();
  return kCorpus;
}

}  // namespace assay
