// assay compare: one model on several backends, with a verdict that has a reason.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/compare_report.h"
#include "cli/model.h"
#include "cli/terminal.h"
#include "reproduce/findings.h"
#include "tensor/npy.h"

namespace assay {
namespace {

constexpr const char* kHelp =
    R"(Runs the model on every backend, and says who disagrees, where it starts, and whether rounding
explains it. Outputs are judged on runs that nobody watches; inner values come from a second run and
are each judged by the rounding bound of their node, on the backend's own inputs of that node.

With labels (a class an instance, or the true values of the first output) the published distances
are computed as well; without them the reference's outputs stand for the truth.

Examples:
  assay compare model.onnx --backends reference,onnxruntime --random
  assay compare model.onnx --backends onnxruntime,torch --data digits.npz --labels labels.npy
  assay compare model.onnx --backends onnxruntime,openvino --random --output suspects)";

struct Options {
  std::string model, labels, output;
  std::vector<std::string> backends;
  DataOptions data;
  double worker_timeout = 600;
};

// As many instances at a time as the model takes.
Result<std::vector<std::vector<Value>>> cut_into_pieces(const Graph& graph,
                                                        const Options& options) {
  Graph relaxed = graph;
  std::int64_t taken = 0;  // instances that the model takes at once; 0: any number
  for (NamedType& input : relaxed.inputs) {
    if (!input.type.is_tensor() || !input.type.dims || input.type.dims->empty()) continue;
    Dim& first = input.type.dims->front();
    if (first.known()) taken = std::max<std::int64_t>(first.value, 1);
    if (!options.data.inputs.empty()) first = Dim();
  }
  Result<std::vector<Value>> all = read_inputs(relaxed, options.data);
  if (!all) return all.error();
  std::int64_t count = 0;
  for (const Value& value : *all) {
    if (value.is_tensor() && value.tensor().rank() > 0) {
      count = std::max(count, value.shape()[0]);
    }
  }
  if (taken == 0 || count <= taken) return std::vector<std::vector<Value>>{*std::move(all)};
  std::vector<std::vector<Value>> pieces;
  for (std::int64_t start = 0; start + taken <= count; start += taken) {
    std::vector<Value> piece;
    for (const Value& value : *all) piece.push_back(slice_rows(value, start, taken, count));
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Result<void> read_labels(const Options& options, Subject& subject) {
  if (options.labels.empty()) return {};
  Result<Tensor> labels = read_npy(options.labels);
  if (!labels) return labels.error();
  std::int64_t instances = 0;
  for (const std::vector<Value>& piece : subject.pieces) {
    for (const Value& value : piece) {
      if (!value.is_tensor() || value.tensor().rank() == 0) continue;
      instances += value.shape()[0];
      break;
    }
  }
  if (labels->rank() == 0 || labels->shape()[0] != instances) {
    return Error{"usage",
                 fmt::format("{}: {} labels for {} instances", options.labels,
                             labels->rank() == 0 ? 0 : labels->shape()[0], instances),
                 options.labels};
  }
  subject.labels = *std::move(labels);
  return {};
}

Result<std::vector<std::unique_ptr<Backend>>> open_all(const Options& options,
                                                       const Common& common) {
  BackendOptions how;
  how.worker.threads = common.threads;
  how.worker.seed = common.seed;
  how.limits = {options.worker_timeout, common.memory_limit};
  std::vector<std::unique_ptr<Backend>> backends;
  for (const std::string& name : options.backends) {
    Result<std::unique_ptr<Backend>> backend = open_backend(name, how);
    if (!backend) return backend.error();
    backends.push_back(*std::move(backend));
  }
  return backends;
}

std::vector<PairMap> localise(const Comparison& comparison, const Graph& graph) {
  std::vector<PairMap> maps;
  const auto values_of = [&](const std::string& name) -> const NamedValues* {
    for (const BackendRecord& record : comparison.backends) {
      if (record.name == name && !record.watched.hidden.empty()) return &record.watched.hidden;
    }
    return nullptr;
  };
  for (const PairRow& pair : comparison.pairs) {
    if (pair.metric != "bound") continue;
    const NamedValues *a = values_of(pair.a), *b = values_of(pair.b);
    if (a && b) maps.push_back({pair.a, pair.b, rate_map(graph, *a, *b)});
  }
  return maps;
}

// Puts each suspect into a folder of its own.
Result<std::vector<std::string>> write_tests(const std::vector<ComparisonFinding>& findings,
                                             const std::filesystem::path& folder) {
  std::vector<std::string> written;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    written.emplace_back();
    if (folder.empty() || !findings[i].suspect) continue;
    const std::filesystem::path target =
        folder / fmt::format("F{}_{}", i + 1, findings[i].suspect->model.graph.name);
    if (Result<void> done = write_backend_test(*findings[i].suspect, target); !done) {
      return done.error();
    }
    written.back() = target.string();
  }
  return written;
}

Result<ExitCode> run(Options& options, Report& report) {
  options.data.seed = report.common().seed;
  Result<std::shared_ptr<const Model>> model = read_valid_model(options.model);
  if (!model) return model.error();
  Subject subject;
  subject.model = *model;
  std::error_code ignored;
  subject.path = std::filesystem::is_directory(options.model, ignored)
                     ? options.model + "/model.onnx"
                     : options.model;
  Result<std::vector<std::vector<Value>>> pieces = cut_into_pieces((*model)->graph, options);
  if (!pieces) return pieces.error();
  subject.pieces = *std::move(pieces);
  if (Result<void> labels = read_labels(options, subject); !labels) return labels.error();
  Result<std::vector<std::unique_ptr<Backend>>> backends = open_all(options, report.common());
  if (!backends) return backends.error();
  ProgressLine progress("compare");
  std::size_t step = 0;
  Result<Comparison> comparison =
      compare(subject, *backends, report.common().seed, [&](const std::string& what) {
        progress.show(step++, subject.pieces.size() + 2 * backends->size(), what);
      });
  if (!comparison) return comparison.error();
  if (!options.output.empty()) suspect_whole_models(subject, *comparison);
  Result<std::vector<std::string>> tests = write_tests(comparison->findings, options.output);
  if (!tests) return tests.error();
  std::vector<Reproduction> scripts = reproduce_findings(
      comparison->findings, *tests, *backends, {report.common().seed, options.worker_timeout});
  const ComparisonReport told{*comparison, (*model)->graph, localise(*comparison, (*model)->graph),
                              *std::move(tests), std::move(scripts)};
  fill_document(told, report.document);
  report.text = to_page(told);
  const bool inconsistent = std::any_of(comparison->pairs.begin(), comparison->pairs.end(),
                                        [](const PairRow& pair) { return pair.inconsistent(); });
  return inconsistent || !comparison->findings.empty() ? ExitCode::found : ExitCode::clean;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("--backends", options->backends, "What runs it, with commas between")
      ->required()
      ->delimiter(',')
      ->type_name("A,B,…");
  app.add_option("--data,--inputs", options->data.inputs, "Data, as for run")
      ->allow_extra_args(false)
      ->type_name("DATA");
  app.add_option("--labels", options->labels, "The truth: a class an instance, or values")
      ->type_name("L.npy");
  app.add_flag("--random", options->data.random, "Draw the inputs that are not given");
  app.add_option("--output", options->output,
                 "Write each suspect there, as an ONNX backend test and as a script")
      ->type_name("FOLDER");
  app.add_option("--worker-timeout", options->worker_timeout,
                 "Most seconds that a worker may take for a run (default: 600)")
      ->type_name("SECONDS");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command compare_command() {
  return {"compare", "Compare backends on a model, and say why they differ", kHelp, configure};
}

}  // namespace assay
