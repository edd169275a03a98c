// assay inspect: what is in a model.
#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/model.h"
#include "cli/terminal.h"
#include "graph/names.h"
#include "graph/order.h"
#include "ops/catalogue.h"
#include "semantics/infer_types.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    R"(Shows operator sets, inputs and outputs with types and shapes, how often each operator is used
and whether the catalogue knows it, parameters, functions, depth of subgraphs and metadata.

Example:
  assay inspect model.onnx)";

struct OperatorUse {
  std::int64_t count = 0;
  const char* known = "no";  // "yes", "no", or "function": the file itself says what it does
};

struct Content {
  std::int64_t nodes = 0, parameters = 0, tensors = 0;
  std::uint64_t bytes = 0;
  int depth = 0;                                                         // of subgraphs
  std::map<std::pair<std::string, std::string>, OperatorUse> operators;  // by domain and name
};

class Inspector {
 public:
  explicit Inspector(const Model& model) : model_(model) {}

  Content inspect() {
    walk(model_.graph, model_.opsets, 0);
    for (const Function& function : model_.functions) walk(function.nodes, function.opsets, 0);
    return std::move(content_);
  }

 private:
  using Opsets = std::map<std::string, std::int64_t>;

  void note(const Tensor& tensor) {
    ++content_.tensors;
    content_.parameters += tensor.size();
    content_.bytes += static_cast<std::uint64_t>(tensor.size()) *
                      static_cast<std::uint64_t>(std::max(bit_width(tensor.type()), 1)) / 8;
  }

  void walk(const Graph& graph, const Opsets& opsets, int depth) {
    content_.depth = std::max(content_.depth, depth);
    for (const NamedTensor& initializer : graph.initializers) note(initializer.tensor);
    for (const auto& [name, sparse] : graph.sparse_initializers) note(sparse.values);
    walk(graph.nodes, opsets, depth);
  }

  void walk(const std::vector<Node>& nodes, const Opsets& opsets, int depth) {
    for (const Node& node : nodes) {
      ++content_.nodes;
      OperatorUse& use = content_.operators[{node.domain, node.op}];
      if (use.count++ == 0) use.known = known(node, opsets);
      if (node.op == "Constant" && node.domain.empty()) note_constant(node);
      for_each_subgraph(
          node, [&](const std::string&, const Graph& graph) { walk(graph, opsets, depth + 1); });
    }
  }

  void note_constant(const Node& node) {
    for (const Attribute& attribute : node.attributes) {
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) note(*tensor);
    }
  }

  const char* known(const Node& node, const Opsets& opsets) const {
    if (model_.find_function(node.domain, node.op, node.overload)) return "function";
    const auto opset = opsets.find(node.domain);
    const std::int64_t version = opset == opsets.end() ? 0 : opset->second;
    return find_operator(node.domain, node.op, version).entry ? "yes" : "no";
  }

  const Model& model_;
  Content content_;
};

std::string domain_text(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

Json types_json(const std::vector<NamedType>& values) {
  Json list = Json::array();
  for (const NamedType& value : values) {
    Json dims = nullptr;
    if (value.type.dims) {
      dims = Json::array();
      for (const Dim& dim : *value.type.dims) {
        dims.push_back(dim.known()          ? Json(dim.value)
                       : dim.symbol.empty() ? Json(nullptr)
                                            : Json(dim.symbol.text()));
      }
    }
    list.push_back({{"name", value.name}, {"type", to_text(value.type)}, {"shape", dims}});
  }
  return list;
}

// Outputs with what inference adds to what the file declares.
std::vector<NamedType> output_types(const Model& model) {
  TypeOptions options;
  options.keep_values = false;
  const ModelTypes types = infer_types(model, options);
  std::vector<NamedType> outputs = model.graph.outputs;
  for (std::size_t i = 0; i < outputs.size() && i < types.outputs.size(); ++i) {
    outputs[i].type = types.outputs[i].type;
  }
  return outputs;
}

// Inputs that data must be given for.
std::vector<NamedType> needed_inputs(const Graph& graph) {
  std::vector<NamedType> inputs = graph.inputs;
  std::erase_if(inputs, [&](const NamedType& input) {
    return std::any_of(graph.initializers.begin(), graph.initializers.end(),
                       [&](const NamedTensor& tensor) { return tensor.name == input.name; });
  });
  return inputs;
}

void fill_document(const Model& model, const Content& content,
                   const std::vector<NamedType>& outputs, Json& document) {
  document["ir_version"] = model.ir_version;
  document["producer"] = model.producer;
  document["producer_version"] = model.producer_version;
  document["graph"] = model.graph.name;
  Json& opsets = document["opsets"] = Json::object();
  for (const auto& [domain, version] : model.opsets) opsets[domain_text(domain)] = version;
  document["inputs"] = types_json(needed_inputs(model.graph));
  document["outputs"] = types_json(outputs);
  document["nodes"] = content.nodes;
  document["subgraph_depth"] = content.depth;
  document["parameters"] = {
      {"count", content.parameters}, {"bytes", content.bytes}, {"tensors", content.tensors}};
  Json& operators = document["operators"] = Json::array();
  for (const auto& [key, use] : content.operators) {
    operators.push_back(
        {{"domain", key.first}, {"name", key.second}, {"count", use.count}, {"known", use.known}});
  }
  Json& functions = document["functions"] = Json::array();
  for (const Function& function : model.functions) {
    functions.push_back({{"domain", function.domain},
                         {"name", function.name},
                         {"overload", function.overload},
                         {"inputs", function.inputs},
                         {"outputs", function.outputs},
                         {"nodes", function.nodes.size()}});
  }
  Json& metadata = document["metadata"] = Json::object();
  for (const auto& [key, value] : model.metadata) metadata[key] = value;
}

std::string types_text(const char* title, const std::vector<NamedType>& values,
                       const Style& style) {
  Table table;
  for (const NamedType& value : values) table.row({printable(value.name), to_text(value.type)});
  return fmt::format("{}\n{}", style.bold(title), table.empty() ? "  none\n" : table.text());
}

std::string operators_text(const Content& content, const Style& style) {
  std::vector<std::pair<std::pair<std::string, std::string>, OperatorUse>> uses(
      content.operators.begin(), content.operators.end());
  std::stable_sort(uses.begin(), uses.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  Table table;
  for (const auto& [key, use] : uses) {
    const std::string name = key.first.empty() ? key.second : key.first + "." + key.second;
    table.row({with_separators(use.count), printable(name),
               use.known == std::string_view("yes")        ? ""
               : use.known == std::string_view("function") ? style.dim("a function of the file")
                                                           : style.warn("not in the catalogue")});
  }
  return style.bold("operators\n") + table.text();
}

std::string to_page(const std::string& path, const Model& model, const Content& content,
                    const std::vector<NamedType>& outputs) {
  const Style style;
  std::string page = fmt::format("{}\n", style.bold(path));
  Table facts;
  facts.row({"producer", printable(model.producer + " " + model.producer_version)});
  std::string opsets;
  for (const auto& [domain, version] : model.opsets) {
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain_text(domain), version);
  }
  facts.row({"opsets", opsets + fmt::format(" (IR {})", model.ir_version)});
  facts.row({"nodes",
             with_separators(content.nodes) +
                 (content.depth > 0 ? fmt::format(", subgraphs to depth {}", content.depth) : "")});
  facts.row(
      {"parameters", fmt::format("{} in {}, {}", with_separators(content.parameters),
                                 counted(content.tensors, "tensor"), bytes_text(content.bytes))});
  page += facts.text();
  page += types_text("inputs", needed_inputs(model.graph), style);
  page += types_text("outputs", outputs, style);
  page += operators_text(content, style);
  if (!model.functions.empty()) {
    page += style.bold("functions\n");
    Table table;
    for (const Function& function : model.functions) {
      table.row({printable(function.domain + "." + function.name),
                 counted(static_cast<std::int64_t>(function.nodes.size()), "node")});
    }
    page += table.text();
  }
  if (!model.metadata.empty()) {
    page += style.bold("metadata\n");
    Table table;
    for (const auto& [key, value] : model.metadata) {
      table.row({printable(key), printable(value.substr(0, 80))});
    }
    page += table.text();
  }
  return page;
}

Result<ExitCode> run(const std::string& path, Report& report) {
  Result<std::shared_ptr<const Model>> model = read_valid_model(path);
  if (!model) return model.error();
  const Content content = Inspector(**model).inspect();
  const std::vector<NamedType> outputs = output_types(**model);
  report.document["model"] = path;
  fill_document(**model, content, outputs, report.document);
  report.text = to_page(path, **model, content, outputs);
  return ExitCode::clean;
}

Action configure(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  app.add_option("MODEL", *path, "The model")->required()->type_name("");
  return [path](Report& report) { return run(*path, report); };
}

}  // namespace

Command inspect_command() { return {"inspect", "Show what is in a model", kHelp, configure}; }

}  // namespace assay
