// assay run: evaluates a model, and says what made NaN or infinity.
#include <chrono>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/half_report.h"
#include "cli/model.h"
#include "cli/run_backend.h"
#include "cli/run_report.h"
#include "cli/value_report.h"
#include "compare/judge.h"
#include "numeric/half.h"
#include "semantics/evaluator.h"
#include "semantics/nonfinite.h"

namespace assay {
namespace {

constexpr const char* kHelp =
    R"(Runs the model by the standard's own meaning of each operator, and lists every node that
makes NaN or infinity out of finite inputs, whether it shows in an output or not.

Data is an .npz file with an array for each input, a folder with input_0.pb …, or NAME=FILE
for one input. Inputs that have an initialiser may be left out.

Examples:
  assay run model.onnx --random --dim batch=4
  assay run model.onnx --inputs data.npz --outputs out.npz --hidden
  assay run model.onnx --inputs image=photo.npy --bounds --json
  assay run model.onnx --random --backend onnxruntime --hidden)";

struct Options : RunRequest {
  DataOptions data;
  std::vector<std::string> more, dims;
  std::string values, profile, format;
  BackendRun backend_run;
};

Result<void> parse_dims(Options& options) {
  for (const std::string& text : options.dims) {
    const auto sign = text.rfind('=');
    char* end = nullptr;
    const std::int64_t value =
        sign == std::string::npos ? -1 : std::strtoll(text.c_str() + sign + 1, &end, 10);
    if (!end || *end != '\0' || end == text.c_str() + sign + 1 || value < 0) {
      return Error{"usage", fmt::format("--dim {}: expected NAME=NUMBER", text), text};
    }
    options.data.extents[text.substr(0, sign)] = value;
  }
  return {};
}

// Hidden values are kept only if a file is to hold them: a report needs few elements of each.
void keep_hidden(const Evaluated& evaluated, bool keep_elements, RunOutcome& outcome) {
  const Node& node = evaluated.node.node;
  for (std::size_t i = 0; i < node.outputs.size() && i < evaluated.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const std::string name = evaluated.name(i);
    outcome.hidden_reports.emplace_back(name, to_json(evaluated.outputs[i]));
    if (keep_elements) outcome.hidden.emplace_back(name, evaluated.outputs[i]);
  }
}

Result<RunOutcome> evaluate(const Options& options, const Evaluator& evaluator,
                            const std::vector<Value>& inputs, std::uint64_t seed) {
  RunOutcome outcome;
  std::map<std::string, Tensor> recorded;
  if (!options.values.empty()) {
    Result<std::map<std::string, Tensor>> values = read_values(options.values);
    if (!values) return values.error();
    recorded = *std::move(values);
  }
  NonFiniteWatch watch;
  EvaluateOptions run;
  run.seed = seed;
  run.recorded = options.values.empty() ? nullptr : &recorded;
  run.observe = [&](const Evaluated& evaluated) {
    watch.observe(evaluated);
    if (options.hidden) keep_hidden(evaluated, !options.outputs.empty(), outcome);
  };
  const auto start = std::chrono::steady_clock::now();
  Result<std::vector<Value>> outputs = evaluator.run(inputs, run);
  if (!outputs) return outputs.error();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.outputs = *std::move(outputs);
  outcome.nonfinite = watch.finish(evaluator.model().graph, outcome.outputs);
  for_each_node(evaluator.plan(), "", [&](const std::string& path, const PlannedNode& node) {
    if (!node.found.entry && !node.function)
      outcome.unknown.emplace_back(path + node.label(), node.node);
  });
  if (!options.bounds) return outcome;
  run.observe = nullptr;
  run.reading = Reading::bounded;
  Result<std::vector<Value>> bounded = evaluator.run(inputs, run);
  if (!bounded) return bounded.error();
  outcome.bounded = *std::move(bounded);
  return outcome;
}

// Runs again without watching; what counts is the fastest.
Result<void> repeat(const Options& options, const Evaluator& evaluator,
                    const std::vector<Value>& inputs, RunOutcome& outcome) {
  for (int i = 0; i < options.backend_run.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Result<std::vector<Value>> outputs = evaluator.run(inputs, {});
    if (!outputs) return outputs.error();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    outcome.seconds = std::min(outcome.seconds, taken.count());
  }
  return {};
}

Result<void> judge_recorded(const Options& options, const Evaluator& evaluator,
                            const std::vector<Value>& inputs, std::uint64_t seed,
                            RunOutcome& outcome) {
  if (options.judge.empty()) return {};
  const Arithmetic* profile = profile_of(options.profile);
  if (!profile && !options.profile.empty()) {
    return Error{"usage", fmt::format("there is no profile of {}", options.profile),
                 options.profile};
  }
  const Result<std::map<std::string, Tensor>> recorded = read_values(options.judge);
  if (!recorded) return recorded.error();
  Result<std::vector<Judgement>> judgements = judge(evaluator, inputs, *recorded, seed, profile);
  if (!judgements) return judgements.error();
  outcome.judgements = *std::move(judgements);
  return {};
}

// The same run as if float32 were a shorter format.
Result<void> try_format(const Options& options, const Model& model,
                        const std::vector<Value>& inputs, std::uint64_t seed, RunOutcome& outcome) {
  const std::optional<ElementType> format = format_named(options.format);
  if (!format) return {};
  HalfOptions half;
  half.type = *format;
  half.seed = seed;
  Result<HalfResult> result = run_as(model, inputs, half);
  if (!result) return result.error();
  outcome.half = *std::move(result);
  return {};
}

bool all_inside(const RunOutcome& outcome) {
  return std::all_of(outcome.judgements.begin(), outcome.judgements.end(),
                     [](const Judgement& one) { return one.inside; });
}

Result<void> write_outputs(const Options& options, const Graph& graph, const RunOutcome& outcome) {
  if (options.outputs.empty()) return {};
  std::vector<NpzEntry> arrays;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    add_arrays(graph.outputs[i].name, outcome.outputs[i], arrays);
  }
  for (const auto& [name, value] : outcome.hidden) {
    const bool is_output =
        std::any_of(graph.outputs.begin(), graph.outputs.end(),
                    [&](const NamedType& output) { return output.name == name; });
    if (!is_output) add_arrays(name, value, arrays);
  }
  return write_npz(options.outputs, arrays);
}

Result<ExitCode> run(Options& options, Report& report) {
  if (Result<void> dims = parse_dims(options); !dims) return dims.error();
  options.data.seed = report.common().seed;
  options.data.inputs.insert(options.data.inputs.end(), options.more.begin(), options.more.end());
  bring_own_data(options.model, options.data);
  if (options.backend != "reference") {
    return run_on_backend(options, options.data, options.backend_run, report);
  }
  Result<std::shared_ptr<const Model>> model = read_valid_model(options.model);
  if (!model) return model.error();
  const auto in_file = [&](const Error& error) {
    return Error{error.kind, fmt::format("{}: {}", options.model, error.message), error.where};
  };
  Result<std::vector<Value>> inputs = read_inputs((*model)->graph, options.data);
  if (!inputs) return in_file(inputs.error());
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(*model);
  if (!evaluator) return in_file(evaluator.error());
  Result<RunOutcome> outcome = evaluate(options, **evaluator, *inputs, report.common().seed);
  if (!outcome) return in_file(outcome.error());
  for (const Result<void>& more :
       {repeat(options, **evaluator, *inputs, *outcome),
        try_format(options, **model, *inputs, report.common().seed, *outcome),
        judge_recorded(options, **evaluator, *inputs, report.common().seed, *outcome)}) {
    if (!more) return in_file(more.error());
  }
  if (Result<void> written = write_outputs(options, (*model)->graph, *outcome); !written) {
    return written.error();
  }
  if (report.json()) {
    fill_document(options, (*model)->graph, *outcome, report.document);
  } else {
    report.text = to_page(options, **evaluator, *outcome);
  }
  const bool bears = !outcome->half || outcome->half->overflow.empty();
  return all_inside(*outcome) && bears ? ExitCode::clean : ExitCode::found;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("--backend", options->backend, "What runs it (default: reference)")
      ->type_name("NAME");
  app.add_option("--worker-timeout", options->backend_run.seconds,
                 "Most seconds that a backend's worker may take (default: 600)")
      ->type_name("SECONDS");
  app.add_flag("--unchecked", options->backend_run.unchecked,
               "Let a backend run what validate refuses, to see what it does");
  app.add_option("DATA", options->more, "Data, as after --inputs")->type_name("");
  app.add_option("--inputs", options->data.inputs, "Data: F.npz, NAME=F.npy, a folder of .pb files")
      ->allow_extra_args(false)
      ->type_name("DATA")
      ->group("Data");
  app.add_flag("--random", options->data.random, "Draw the inputs that are not given")
      ->group("Data");
  app.add_option("--dim", options->dims, "Extent of a named dimension in drawn inputs (default: 1)")
      ->allow_extra_args(false)
      ->type_name("NAME=N")
      ->group("Data");
  app.add_option("--values", options->values, "Recorded values that stand in for unknown operators")
      ->type_name("F.npz")
      ->group("Data");
  app.add_option("--outputs", options->outputs, "Write the outputs (and hidden values) to a file")
      ->type_name("F.npz")
      ->group("Results");
  app.add_flag("--hidden", options->hidden, "Report the values of all nodes, also inside subgraphs")
      ->group("Results");
  app.add_flag("--bounds", options->bounds,
               "Report what any float evaluation may give: lower and upper ends")
      ->group("Results");
  app.add_option("--judge", options->judge,
                 "Judge values recorded elsewhere, node by node on their own inputs")
      ->type_name("F.npz")
      ->group("Results");
  app.add_option("--profile", options->profile,
                 "The backend that recorded them: onnxruntime, torch, jax, tensorflow")
      ->type_name("NAME")
      ->group("Results");
  add_format_option(app, options->format);
  app.add_option("--repeat", options->backend_run.repeat,
                 "Run so many times more and report the fastest")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->group("Results");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command run_command() { return {"run", "Run a model by the standard's meaning", kHelp, configure}; }

}  // namespace assay
