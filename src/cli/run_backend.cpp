#include "cli/run_backend.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "backends/backend.h"
#include "cli/value_report.h"
#include "formats/onnx_outline.h"
#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// What the model takes and gives; the weights are the worker's to hold.
Result<Outline> read_outline(const std::string& model, bool unchecked) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(model, ignored);
  Result<Outline> outline = read_onnx_outline(is_folder ? model + "/model.onnx" : model);
  if (!outline) return outline.error();
  if (unchecked) return outline;
  if (Result<void> valid = require_valid(outline->model, model); !valid) return valid.error();
  return outline;
}

Result<Job> make_job(const RunRequest& request, const DataOptions& data, const Graph& graph,
                     ModelSource source) {
  Result<std::vector<Value>> inputs = read_inputs(graph, data);
  if (!inputs) {
    return Error{inputs.error().kind, fmt::format("{}: {}", request.model, inputs.error().message),
                 inputs.error().where};
  }
  Job job{std::move(source)};
  job.hidden = request.hidden;
  job.inputs = named_inputs(graph, *inputs);
  return job;
}

// The worker reads the file itself.
Result<Job> job_of_file(const RunRequest& request, const DataOptions& data, bool unchecked) {
  const Result<Outline> outline = read_outline(request.model, unchecked);
  if (!outline) return outline.error();
  Graph graph = outline->model.graph;
  std::erase_if(graph.inputs,
                [&](const NamedType& input) { return outline->weights.contains(input.name); });
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(request.model, ignored);
  return make_job(request, data, graph,
                  {is_folder ? request.model + "/model.onnx" : request.model, ""});
}

// A model of layers, which is read here and handed over.
Result<Job> job_of_layers(const RunRequest& request, const DataOptions& data, bool unchecked) {
  Result<Model> read = read_model(request.model);
  if (!read) return read.error();
  if (Result<void> valid = unchecked ? Result<void>() : require_valid(*read, request.model);
      !valid) {
    return valid.error();
  }
  const auto model = std::make_shared<const Model>(*std::move(read));
  return make_job(request, data, model->graph, source_of(model, request.model));
}

// What each run took: of the framework's own work, and with all that it took to ask for it.
struct Times {
  std::vector<double> evaluation, exchange;
};

double fastest(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

Answer run_repeatedly(Backend& backend, const Job& job, int repeat, Times& times) {
  Answer answer;
  for (int i = 0; i <= repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    answer = backend.run(job);
    times.exchange.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    times.evaluation.push_back(answer.seconds);
    if (!answer.ok()) return answer;
  }
  answer.seconds = fastest(times.evaluation);
  return answer;
}

// What a run takes in a row, as those over a data set are: in the quickest of the rows that go into
// half a second.
double row_seconds(Backend& backend, const Job& job, int repeat) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLongestRow = 64;
  const std::vector<NamedValues> feeds(static_cast<std::size_t>(std::min(repeat, kLongestRow)),
                                       job.inputs);
  double best = 0;
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  do {
    const auto start = Clock::now();
    bool all = true;
    backend.run_each(job, feeds, [&](const Answer& answer) { return all = answer.ok(); });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count() /
                           static_cast<double>(feeds.size());
    if (!all) break;
    best = best > 0 ? std::min(best, seconds) : seconds;
  } while (Clock::now() < end);
  return best;
}

Json values_json(const NamedValues& values, const RunRequest& request) {
  Json json = Json::object();
  for (const auto& [name, value] : values) {
    json[name] = to_json(value);
    if (!request.outputs.empty()) json[name]["file"] = request.outputs;
  }
  return json;
}

Json nonfinite_json(const NamedValues& values) {
  Json found = Json::array();
  for (const auto& [name, value] : values) {
    const NonFiniteCount made = count_nonfinite(value);
    if (!made.any()) continue;
    found.push_back({{"value", name},
                     {"kind", made.nan > 0 ? "NaN" : "Infinity"},
                     {"count", made.nan + made.infinite}});
  }
  return found;
}

void report_answer(const RunRequest& request, const Backend& backend, const Answer& answer,
                   Report& report) {
  Json& document = report.document;
  document["model"] = request.model;
  document["backend"] = backend.name();
  document["version"] = backend.identity().version;
  document["outcome"] = to_text(answer.outcome);
  document["evaluation_seconds"] = answer.seconds;
  document["outputs"] = values_json(answer.values, request);
  if (request.hidden) document["hidden"] = values_json(answer.hidden, request);
  document["nonfinite"] = nonfinite_json(request.hidden ? answer.hidden : answer.values);
  const Style style;
  if (!answer.ok()) {
    document["message"] = answer.message;
    document["node"] = answer.node;
    document["signal"] = answer.signal;
    const std::string where =
        answer.node.empty() ? "" : fmt::format(" at {} ({})", printable(answer.node), answer.op);
    report.text = fmt::format("{}  {} {}{}: {}\n", style.bold(request.model), backend.name(),
                              style.bad(to_text(answer.outcome)), where, answer.message);
    return;
  }
  report.text = fmt::format("{}  {} {}, {:.3g} ms\n", style.bold(request.model), backend.name(),
                            backend.identity().version, 1000 * answer.seconds);
  Table table;
  for (const auto& [name, value] : request.hidden ? answer.hidden : answer.values) {
    std::vector<std::string> cells = value_cells(value, style);
    cells.insert(cells.begin(), printable(name));
    table.row(std::move(cells));
  }
  report.text += table.text();
}

Result<void> write_values(const std::string& path, const Answer& answer) {
  if (path.empty() || !answer.ok()) return {};
  std::vector<NpzEntry> arrays;
  for (const auto& [name, value] : answer.values) add_arrays(name, value, arrays);
  for (const auto& [name, value] : answer.hidden) {
    if (!answer.find(name)) add_arrays(name, value, arrays);
  }
  return write_npz(path, arrays);
}

}  // namespace

Result<ExitCode> run_on_backend(const RunRequest& request, const DataOptions& data,
                                const BackendRun& how, Report& report) {
  if (request.bounds || !request.judge.empty()) {
    return Error{"usage", "--bounds and --judge are for the reference, which knows rounding bounds",
                 request.backend};
  }
  const Common& common = report.common();
  BackendOptions options;
  options.worker.threads = common.threads;
  options.worker.seed = common.seed;
  options.limits = {how.seconds, common.memory_limit};
  const Result<std::unique_ptr<Backend>> backend = open_backend(request.backend, options);
  if (!backend) return backend.error();
  const Result<Job> job = holds_layers(request.model) ? job_of_layers(request, data, how.unchecked)
                                                      : job_of_file(request, data, how.unchecked);
  if (!job) return job.error();
  Times times;
  const Answer answer = run_repeatedly(**backend, *job, how.repeat, times);
  if (Result<void> written = write_values(request.outputs, answer); !written) {
    return written.error();
  }
  report_answer(request, **backend, answer, report);
  report.document["exchange_seconds"] = fastest(times.exchange);
  report.document["exchange_median_seconds"] = median(times.exchange);
  report.document["evaluation_median_seconds"] = median(times.evaluation);
  if (how.repeat > 0 && answer.ok()) {
    report.document["row_seconds"] = row_seconds(**backend, *job, how.repeat);
  }
  if (answer.outcome == Outcome::unsupported) return ExitCode::environment;
  return answer.ok() ? ExitCode::clean : ExitCode::found;
}

}  // namespace assay
