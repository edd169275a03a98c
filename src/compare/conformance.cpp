#include "compare/conformance.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/backend.h"
#include "compare/agreement.h"
#include "compare/drawn.h"
#include "formats/onnx_import.h"
#include "formats/onnx_value.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Tolerance read_tolerance(const fs::path& folder) {
  Tolerance tolerance;
  std::ifstream file(folder / "data.json");
  if (!file) return tolerance;
  const nlohmann::json data = nlohmann::json::parse(file, nullptr, false);
  if (!data.is_object()) return tolerance;
  tolerance.relative = data.value("rtol", tolerance.relative);
  tolerance.absolute = data.value("atol", tolerance.absolute);
  return tolerance;
}

// One set of recorded inputs and outputs.
struct DataSet {
  std::vector<Value> inputs, outputs;
};

Result<std::vector<Value>> read_values(const fs::path& folder, const char* stem,
                                       const std::vector<NamedType>& formals) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", stem, i);
    if (!fs::exists(file)) break;
    Result<Value> value = read_test_value(file, formals[i].type);
    if (!value) return value.error();
    values.push_back(*std::move(value));
  }
  return values;
}

// Inputs that the test gives, in the order of those graph inputs that have no initialiser unless
// all are given.
std::vector<Value> place_inputs(const Graph& graph, std::vector<Value> given) {
  if (given.size() >= graph.inputs.size()) return given;
  std::vector<Value> placed;
  std::size_t next = 0;
  for (const NamedType& input : graph.inputs) {
    const bool fixed = std::any_of(graph.initializers.begin(), graph.initializers.end(),
                                   [&](const NamedTensor& t) { return t.name == input.name; });
    placed.push_back(fixed || next >= given.size() ? Value() : std::move(given[next++]));
  }
  return placed;
}

std::string first_unsupported(const Plan& plan) {
  for (const PlannedNode& node : plan.nodes) {
    if (node.function) {
      if (std::string name = first_unsupported(*node.function); !name.empty()) return name;
    } else if (!node.found.entry) {
      return node.found.schema
                 ? fmt::format("{}-{}", node.node.op, node.found.schema->since_version)
                 : node.node.op;
    }
    for (const PlannedSubgraph& inner : node.subgraphs)
      if (std::string name = first_unsupported(*inner.plan); !name.empty()) return name;
  }
  return {};
}

// The tests that may pass by property: Bernoulli and Dropout in training.
bool may_pass_by_property(std::string_view id) {
  return id.find("bernoulli") != std::string_view::npos ||
         id.find("training_dropout") != std::string_view::npos;
}

struct TestRun {
  const Evaluator& evaluator;
  fs::path model;
  Tolerance tolerance;
  std::uint64_t seed;
  Backend* backend;  // none: the evaluator itself is tested
  CaseResult& result;

  std::optional<std::vector<Value>> evaluate(const std::vector<Value>& inputs, Reading reading) {
    EvaluateOptions options;
    options.reading = reading;
    options.seed = seed;
    const auto start = Clock::now();
    Result<std::vector<Value>> outputs = evaluator.run(inputs, options);
    if (!backend) result.evaluation_seconds += since(start);
    if (outputs) return *std::move(outputs);
    result.status = CaseStatus::error;
    result.detail = outputs.error().message;
    return std::nullopt;
  }

  std::optional<std::vector<Value>> ask(const std::vector<Value>& inputs) {
    const Graph& graph = evaluator.model().graph;
    Job job{{model.string(), ""}};
    job.inputs = named_inputs(graph, inputs);
    const Answer answer = backend->run(job);
    result.evaluation_seconds += answer.seconds;
    std::vector<Value> found;
    for (const NamedType& output : graph.outputs) {
      const Value* value = answer.find(output.name);
      if (answer.ok() && !value) {
        result.detail = fmt::format("no value of output {}", output.name);
        return std::nullopt;
      }
      if (value) found.push_back(*value);
    }
    if (answer.ok()) return found;
    note_refusal(answer, result);
    return std::nullopt;
  }

  // False as soon as an output is not what was expected; `result` then says how.
  bool check(const DataSet& data) {
    const std::vector<Value> inputs = place_inputs(evaluator.model().graph, data.inputs);
    auto found = backend ? ask(inputs) : evaluate(inputs, Reading::value);
    if (!found) return false;
    // What was recorded is a draw as well: the reference is held against that, not against itself.
    if (may_pass_by_property(result.id)) return check_draw(inputs, backend ? *found : data.outputs);
    std::optional<std::vector<Value>> bounded;
    for (std::size_t i = 0; i < data.outputs.size(); ++i) {
      const Value& expected = data.outputs[i];
      Value& value = (*found)[i];
      // A framework has tensors where the standard has optional ones.
      if (expected.kind() == Value::Kind::optional && value.kind() != Value::Kind::optional) {
        value = Value::optional(value);
      }
      Agreement agreement = agrees(expected, value, tolerance);
      if (!agreement.agrees) {
        if (!bounded) bounded = evaluate(inputs, Reading::bounded);
        if (!bounded) return false;
        const Agreement bound = within_bound(backend ? value : expected, (*bounded)[i]);
        if (!bound.agrees) {
          const std::string bounds = backend ? "outside the rounding bound" : bound.detail;
          return fail(i, agreement.detail + "; " + bounds);
        }
        agreement = bound;
      }
      result.detail = agreement.detail;
    }
    return true;
  }

  bool check_draw(const std::vector<Value>& inputs, const std::vector<Value>& drawn) {
    const auto draw = [&](Reading reading, std::uint64_t chance) {
      EvaluateOptions options;
      options.reading = reading;
      options.seed = chance;
      options.redraw = true;
      return evaluator.run(inputs, options);
    };
    const Agreement agreement = judge_draw(draw, inputs, drawn);
    if (!agreement.agrees) return fail(0, agreement.detail);
    result.detail = agreement.detail;
    return true;
  }

  bool fail(std::size_t output, const std::string& detail) {
    result.status = CaseStatus::failed;
    result.detail =
        fmt::format("output {}: {}", evaluator.model().graph.outputs[output].name, detail);
    return false;
  }
};

Result<std::vector<DataSet>> read_data(const fs::path& folder, const Graph& graph) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("test_data_set_"))
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<DataSet> sets;
  for (const fs::path& path : folders) {
    Result<std::vector<Value>> inputs = read_values(path, "input", graph.inputs);
    if (!inputs) return inputs.error();
    Result<std::vector<Value>> outputs = read_values(path, "output", graph.outputs);
    if (!outputs) return outputs.error();
    sets.push_back({*std::move(inputs), *std::move(outputs)});
  }
  return sets;
}

void run_test(const fs::path& folder, std::uint64_t seed, Backend* backend, CaseResult& result) {
  Result<Model> model = read_onnx(folder / "model.onnx", {});
  if (!model) {
    result.detail = model.error().message;
    return;
  }
  auto shared = std::make_shared<const Model>(*std::move(model));
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(shared);
  if (!evaluator) {
    result.detail = evaluator.error().message;
    return;
  }
  if (std::string name = first_unsupported((*evaluator)->plan()); !backend && !name.empty()) {
    result.status = CaseStatus::unsupported;
    result.detail = name + " is not in the catalogue";
    return;
  }
  const Result<std::vector<DataSet>> sets = read_data(folder, shared->graph);
  if (!sets) {
    result.detail = sets.error().message;
    return;
  }
  if (sets->empty()) {
    result.detail = "the test has no data";
    return;
  }
  TestRun run{**evaluator, folder / "model.onnx", read_tolerance(folder), seed, backend, result};
  for (const DataSet& data : *sets)
    if (!run.check(data)) return;
  result.status = CaseStatus::passed;
}

}  // namespace

std::string_view to_text(CaseStatus status) {
  static constexpr std::array<std::string_view, 5> kNames = {"passed", "failed", "unsupported",
                                                             "error", "crashed"};
  return kNames[static_cast<std::size_t>(status)];
}

std::int64_t ConformanceResult::count(CaseStatus status) const {
  return std::count_if(cases.begin(), cases.end(),
                       [&](const CaseResult& one) { return one.status == status; });
}

Result<std::vector<fs::path>> find_tests(const fs::path& path) {
  std::error_code failure;
  if (fs::exists(path / "model.onnx", failure)) return std::vector<fs::path>{path};
  std::vector<fs::path> found;
  fs::directory_iterator entries(path, failure);
  if (failure)
    return Error{"unreadable", fmt::format("{}: {}", path.string(), failure.message()),
                 path.string()};
  for (const auto& entry : entries)
    if (fs::exists(entry.path() / "model.onnx", failure)) found.push_back(entry.path());
  if (found.empty())
    return Error{"unreadable",
                 fmt::format("{}: expected a folder of ONNX backend tests", path.string()),
                 path.string()};
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<std::vector<Value>>> read_test_inputs(const fs::path& folder,
                                                         const Graph& graph) {
  Result<std::vector<DataSet>> sets = read_data(folder, graph);
  if (!sets) return sets.error();
  std::vector<std::vector<Value>> inputs;
  for (DataSet& data : *sets) inputs.push_back(place_inputs(graph, std::move(data.inputs)));
  return inputs;
}

CaseResult run_backend_test(const fs::path& folder, std::uint64_t seed, Backend* backend) {
  CaseResult result;
  result.id = folder.filename().string();
  const auto start = Clock::now();
  run_test(folder, seed, backend, result);
  result.seconds = since(start);
  return result;
}

void note_refusal(const Answer& answer, CaseResult& result) {
  result.status = answer.fatal()                           ? CaseStatus::crashed
                  : answer.outcome == Outcome::unsupported ? CaseStatus::unsupported
                                                           : CaseStatus::error;
  const std::string where =
      answer.op.empty() || answer.op == answer.message ? "" : answer.op + ": ";
  result.detail = fmt::format("{}: {}{}", to_text(answer.outcome), where, answer.message);
}

}  // namespace assay
