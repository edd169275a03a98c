// Cases as models, and as the folders of ONNX backend tests.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "formats/onnx_export.h"
#include "formats/onnx_value.h"
#include "formats/text_case.h"
#include "graph/order.h"
#include "ops/schema.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::int64_t newest_opset(std::string_view domain) {
  int newest = 1;
  for (const Schema& schema : schemas()) {
    if (schema.domain == domain) newest = std::max(newest, schema.since_version);
  }
  return newest;
}

// The IR version that brought an element type.
std::int64_t ir_version_of(ElementType type) {
  switch (type) {
    case ElementType::f4e2m1:
      return 11;
    case ElementType::f8e8m0:
      return 12;
    case ElementType::u2:
    case ElementType::i2:
      return 13;
    case ElementType::f6e2m3:
    case ElementType::f6e3m2:
      return 14;
    default:
      return 10;
  }
}

std::int64_t ir_version_of(const ValueType& type) {
  return std::max(ir_version_of(type.element), type.inner ? ir_version_of(*type.inner) : 0);
}

void collect_domains(const Node& node, std::set<std::string>& domains) {
  domains.insert(node.domain);
  for_each_subgraph(node, [&](const std::string&, const Graph& graph) {
    for (const Node& inner : graph.nodes) collect_domains(inner, domains);
  });
}

Result<void> write_values(const std::vector<NamedValue>& values, const char* kind,
                          const fs::path& folder) {
  int number = 0;
  for (const NamedValue& value : values) {
    if (!value.value.present()) continue;
    const fs::path path = folder / fmt::format("{}_{}.pb", kind, number++);
    if (auto done = write_file(path, to_test_bytes(value.value, value.name)); !done) return done;
  }
  return {};
}

}  // namespace

std::int64_t opset_of(const TextCase& text_case) {
  return text_case.opset.value_or(newest_opset(text_case.node.domain));
}

Model to_model(const TextCase& text_case) {
  Model model;
  model.producer = "assay";
  model.graph.name = text_case.name;
  model.graph.nodes.push_back(text_case.node);
  model.ir_version = 10;
  const auto add = [&](const std::vector<NamedValue>& values, std::vector<NamedType>& types) {
    for (const NamedValue& value : values) {
      if (!value.value.present()) continue;
      types.push_back({value.name, value.value.value_type()});
      model.ir_version = std::max(model.ir_version, ir_version_of(types.back().type));
    }
  };
  add(text_case.inputs, model.graph.inputs);
  add(text_case.outputs, model.graph.outputs);
  std::set<std::string> domains{""};
  collect_domains(text_case.node, domains);
  for (const std::string& domain : domains) model.opsets[domain] = newest_opset(domain);
  model.opsets[text_case.node.domain] = opset_of(text_case);
  return model;
}

BackendTest to_test(const TextCase& text_case) {
  return {to_model(text_case), text_case.inputs, text_case.outputs, text_case.tolerance};
}

Result<void> write_backend_test(const BackendTest& test, const fs::path& folder) {
  const fs::path data = folder / "test_data_set_0";
  std::error_code failed;
  fs::create_directories(data, failed);
  if (failed) {
    return Error{"unreadable", fmt::format("{}: {}", data.string(), failed.message()),
                 data.string()};
  }
  if (auto done = write_onnx(test.model, folder / "model.onnx"); !done) return done;
  if (auto done = write_values(test.inputs, "input", data); !done) return done;
  if (auto done = write_values(test.outputs, "output", data); !done) return done;
  if (!test.tolerance) return {};
  const auto [relative, absolute] = *test.tolerance;
  return write_file(folder / "data.json",
                    fmt::format("{{\"rtol\": {}, \"atol\": {}}}\n", relative, absolute));
}

}  // namespace assay
