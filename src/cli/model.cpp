#include "cli/model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/typed_model.h"
#include "formats/case_line.h"
#include "formats/keras_read.h"
#include "formats/onnx_import.h"
#include "formats/onnx_value.h"
#include "formats/tensorflow_read.h"
#include "graph/names.h"
#include "semantics/draw.h"
#include "semantics/import_keras.h"
#include "tensor/npy.h"
#include "validate/validate_typed.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Given = std::map<std::string, Value>;

bool has_initializer(const Graph& graph, const std::string& name) {
  const auto is_named = [&](const auto& tensor) { return tensor.name == name; };
  return std::any_of(graph.initializers.begin(), graph.initializers.end(), is_named) ||
         std::any_of(graph.sparse_initializers.begin(), graph.sparse_initializers.end(),
                     [&](const auto& sparse) { return sparse.first == name; });
}

const NamedType* find_input(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](const NamedType& input) { return input.name == name; });
  return found == graph.inputs.end() ? nullptr : &*found;
}

bool fits(const ValueType& type, const Value& value) {
  const ValueType found = value.value_type();
  if (type.kind == ValueType::Kind::unknown) return true;
  if (type.kind != found.kind) return false;
  if (!type.is_tensor()) return true;
  if (type.element != ElementType::undefined && type.element != found.element) return false;
  if (!type.dims) return true;
  if (type.dims->size() != found.dims->size()) return false;
  return std::equal(type.dims->begin(), type.dims->end(), found.dims->begin(),
                    [](const Dim& a, const Dim& b) { return !a.differs_from(b); });
}

// Types that numpy lacks come as raw elements, which the declared type explains.
Value with_declared_type(const ValueType& type, Tensor tensor) {
  if (tensor.type() != ElementType::string || !type.is_tensor() ||
      type.element == ElementType::string || type.element == ElementType::undefined) {
    return tensor;
  }
  auto converted = from_raw_elements(tensor, type.element);
  return converted ? Value(*std::move(converted)) : Value(std::move(tensor));
}

Result<void> take(const Graph& graph, const std::string& name, Value value,
                  const std::string& where, Given& given) {
  const NamedType* input = find_input(graph, name);
  if (!input) {
    std::vector<std::string> names;
    for (const NamedType& one : graph.inputs) names.push_back(printable(one.name));
    return Error{"usage",
                 fmt::format("{}: the model has no input {} (its inputs: {})", where,
                             in_quotes(name), fmt::join(names, ", ")),
                 where};
  }
  if (value.is_tensor()) value = with_declared_type(input->type, value.tensor());
  if (!fits(input->type, value)) {
    return Error{"invalid",
                 fmt::format("{}: input {} is {}, but the model takes {}", where, in_quotes(name),
                             to_text(value.value_type()), to_text(input->type)),
                 where};
  }
  given[name] = std::move(value);
  return {};
}

Result<void> take_archive(const Graph& graph, const std::string& path, Given& given) {
  Result<std::vector<std::pair<std::string, Tensor>>> arrays = read_npz(path);
  if (!arrays) return arrays.error();
  for (auto& [name, tensor] : *arrays) {
    if (Result<void> taken = take(graph, name, std::move(tensor), path, given); !taken) {
      return taken.error();
    }
  }
  return {};
}

// A folder of an ONNX backend test: input_0.pb, input_1.pb, … in the order of the model's inputs.
Result<void> take_folder(const Graph& graph, const std::string& path, Given& given) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const fs::path file = fs::path(path) / fmt::format("input_{}.pb", i);
    if (!fs::exists(file)) break;
    Result<Value> value = read_test_value(file, graph.inputs[i].type);
    if (!value) return value.error();
    if (Result<void> taken =
            take(graph, graph.inputs[i].name, *std::move(value), file.string(), given);
        !taken) {
      return taken.error();
    }
  }
  return {};
}

Result<void> take_case(const Graph& graph, const std::string& source, Given& given) {
  Result<LayerCase> one = read_named_case(source);
  if (!one) return one.error();
  for (std::size_t i = 0; i < one->inputs.size(); ++i) {
    if (!one->inputs[i].present()) continue;
    const std::string& name = one->model.graph.inputs[i].name;
    if (Result<void> taken = take(graph, name, std::move(one->inputs[i]), source, given); !taken) {
      return taken.error();
    }
  }
  return {};
}

Result<void> take_file(const Graph& graph, const std::string& name, const std::string& path,
                       Given& given) {
  if (path.ends_with(".pb")) {
    const NamedType* input = find_input(graph, name);
    Result<Value> value = read_test_value(path, input ? input->type : ValueType{});
    if (!value) return value.error();
    return take(graph, name, *std::move(value), path, given);
  }
  Result<Tensor> tensor = read_npy(path);
  if (!tensor) return tensor.error();
  return take(graph, name, *std::move(tensor), path, given);
}

Result<void> take_source(const Graph& graph, const std::string& source, Given& given) {
  std::error_code ignored;
  if (fs::is_directory(source, ignored)) return take_folder(graph, source, given);
  if (names_case(source)) return take_case(graph, source, given);
  if (source.ends_with(".npz")) return take_archive(graph, source, given);
  const auto sign = source.rfind('=');
  if (sign != std::string::npos) {
    return take_file(graph, source.substr(0, sign), source.substr(sign + 1), given);
  }
  if (graph.inputs.size() == 1) return take_file(graph, graph.inputs[0].name, source, given);
  return Error{"usage", fmt::format("{}: say for which input it is: NAME={}", source, source),
               source};
}

Error missing_error(const std::vector<std::string>& missing) {
  return {"usage",
          fmt::format("no data for {} {}: give --inputs or --random",
                      missing.size() == 1 ? "input" : "inputs", fmt::join(missing, ", ")),
          {}};
}

bool is_model_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && fs::exists(fs::path(path) / "model.onnx", ignored);
}

Result<TypedModel> read_graph(const std::string& path) {
  Result<tensorflow::GraphDef> graph = read_tensorflow(path);
  if (!graph) return graph.error();
  return import_tensorflow(*std::move(graph));
}

Result<void> first_finding(const ValidationResult& result, const std::string& path) {
  if (result.valid()) return {};
  const Finding& first = result.findings.front();
  const std::string where = first.layer.empty() ? path : fmt::format("{}: {}", path, first.layer);
  return Error{"invalid", fmt::format("{}: {} ({})", where, first.message, first.rule),
               first.layer};
}

}  // namespace

bool holds_layers(const std::string& path) { return names_case(path) || is_keras(path); }

Result<Model> read_model(const std::string& path) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  if (is_model_folder(path)) {
    return read_onnx(fs::path(path) / "model.onnx");
  }
  if (is_tensorflow(path)) {
    Result<TypedModel> graph = read_graph(path);
    if (!graph) return graph.error();
    return std::move(graph->model);
  }
  if (folder) {
    return Error{"usage",
                 fmt::format("{}: a folder without a model.onnx or a saved_model.pb", path), path};
  }
  if (names_case(path)) {
    Result<LayerCase> one = read_named_case(path);
    if (!one) return one.error();
    return std::move(one->model);
  }
  if (is_case_file(path)) {
    return Error{"usage", fmt::format("{}: say which case is meant: {}#ID", path, path), path};
  }
  return is_keras(path) ? import_keras(path) : read_onnx(path);
}

Result<void> require_valid(const Model& model, const std::string& path) {
  return first_finding(validate(model), path);
}

Result<std::shared_ptr<const Model>> read_valid_model(const std::string& path) {
  Result<Model> model = read_model(path);
  if (!model) return model.error();
  if (Result<void> valid = require_valid(*model, path); !valid) return valid.error();
  return std::make_shared<const Model>(*std::move(model));
}

Result<TypedModel> read_typed_model(const std::string& path) {
  TypedModel result;
  if (is_tensorflow(path) && !is_model_folder(path)) {
    Result<TypedModel> graph = read_graph(path);
    if (!graph) return graph.error();
    result = *std::move(graph);
  } else {
    Result<Model> model = read_model(path);
    if (!model) return model.error();
    result.model = *std::move(model);
  }
  // An import gives types only where the structure is right.
  const Structure structure = result.types ? Structure::right : Structure::unknown;
  if (!result.types) result.types = std::make_shared<const ModelTypes>(infer_types(result.model));
  const ValidationResult found = validate(result.model, *result.types, structure);
  if (Result<void> valid = first_finding(found, path); !valid) return valid.error();
  return result;
}

void bring_own_data(const std::string& model, DataOptions& options) {
  if (options.inputs.empty() && !options.random && names_case(model)) options.inputs = {model};
}

Result<std::vector<Value>> read_inputs(const Graph& graph, const DataOptions& options) {
  Given given;
  for (const std::string& source : options.inputs) {
    if (Result<void> taken = take_source(graph, source, given); !taken) return taken.error();
  }
  std::vector<Value> values;
  std::vector<std::string> missing;
  for (const NamedType& input : graph.inputs) {
    if (const auto found = given.find(input.name); found != given.end()) {
      values.push_back(found->second);
    } else if (has_initializer(graph, input.name)) {
      values.emplace_back();
    } else if (options.random) {
      Result<Value> drawn = draw(input.name, input.type, {options.seed, options.extents});
      if (!drawn) return drawn.error();
      values.push_back(*std::move(drawn));
    } else {
      missing.push_back(fmt::format("{} {}", printable(input.name), to_text(input.type)));
    }
  }
  if (!missing.empty()) return missing_error(missing);
  return values;
}

Result<std::map<std::string, Tensor>> read_values(const std::string& path) {
  Result<std::vector<std::pair<std::string, Tensor>>> arrays = read_npz(path);
  if (!arrays) return arrays.error();
  std::map<std::string, Tensor> values;
  for (auto& [name, tensor] : *arrays) values[name] = std::move(tensor);
  return values;
}

Value slice_rows(const Value& value, std::int64_t start, std::int64_t rows, std::int64_t count) {
  if (!value.is_tensor() || value.tensor().rank() == 0 || value.shape()[0] != count) return value;
  const Tensor& all = value.tensor();
  Shape shape = all.shape();
  shape[0] = rows;
  Tensor some(all.type(), shape);
  const auto size = static_cast<std::size_t>(all.size() / count);
  visit_storage(all.type(), [&]<class T>(T*) {
    const auto from =
        all.data<T>().subspan(static_cast<std::size_t>(start) * size, some.mutate<T>().size());
    std::copy(from.begin(), from.end(), some.mutate<T>().begin());
  });
  return some;
}

}  // namespace assay
