// assay run: evaluates a model, and says what made NaN or infinity.
#include <chrono>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/model.h"
#include "cli/value_report.h"
#include "compare/judge.h"
#include "graph/names.h"
#include "semantics/evaluator.h"
#include "semantics/nonfinite.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    R"(Runs the model by the standard's own meaning of each operator, and lists every node that
makes NaN or infinity out of finite inputs, whether it shows in an output or not.

Data is an .npz file with an array for each input, a folder with input_0.pb …, or NAME=FILE
for one input. Inputs that have an initialiser may be left out.

Examples:
  assay run model.onnx --random --dim batch=4
  assay run model.onnx --inputs data.npz --outputs out.npz --hidden
  assay run model.onnx --inputs image=photo.npy --bounds --json)";

struct Options {
  std::string model;
  std::string backend = "reference";
  DataOptions data;
  std::vector<std::string> more, dims;
  std::string outputs, values, judge, profile;
  int repeat = 0;
  bool hidden = false;
  bool bounds = false;
};

// What a run leaves behind.
struct Outcome {
  std::vector<Value> outputs, bounded;
  std::vector<std::pair<std::string, Value>> hidden;  // with elements where they are asked for
  std::vector<std::pair<std::string, Json>> hidden_reports;
  std::vector<NonFiniteOrigin> nonfinite;
  std::vector<std::pair<std::string, Node>> unknown;  // by layer
  std::vector<Judgement> judgements;                  // of recorded values
  double seconds = 0;                                 // of the fastest evaluation
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
void keep_hidden(const Evaluated& evaluated, bool keep_elements, Outcome& outcome) {
  const Node& node = evaluated.node.node;
  for (std::size_t i = 0; i < node.outputs.size() && i < evaluated.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const std::string name = evaluated.name(i);
    outcome.hidden_reports.emplace_back(name, to_json(evaluated.outputs[i]));
    if (keep_elements) outcome.hidden.emplace_back(name, evaluated.outputs[i]);
  }
}

Result<Outcome> evaluate(const Options& options, const Evaluator& evaluator,
                         const std::vector<Value>& inputs, std::uint64_t seed) {
  Outcome outcome;
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
      outcome.unknown.emplace_back(path + node.label, node.node);
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
                    const std::vector<Value>& inputs, Outcome& outcome) {
  for (int i = 0; i < options.repeat; ++i) {
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
                            Outcome& outcome) {
  if (options.judge.empty()) return {};
  const Profile* profile = profile_of(options.profile);
  if (!profile && !options.profile.empty()) {
    return Error{"usage", fmt::format("there is no profile of {}", options.profile),
                 options.profile};
  }
  const Result<std::map<std::string, Tensor>> recorded = read_values(options.judge);
  if (!recorded) return recorded.error();
  set_profile(profile);
  Result<std::vector<Judgement>> judgements = judge(evaluator, inputs, *recorded, seed);
  set_profile(nullptr);
  if (!judgements) return judgements.error();
  outcome.judgements = *std::move(judgements);
  return {};
}

bool all_inside(const Outcome& outcome) {
  return std::all_of(outcome.judgements.begin(), outcome.judgements.end(),
                     [](const Judgement& one) { return one.inside; });
}

// Between which numbers any honest evaluation in the model's own formats lies.
void add_bounds(const Value& bounded, Json& json) {
  if (!bounded.is_tensor() || !is_real(bounded.type())) return;
  const std::vector<double> values = bounded.tensor().reals();
  double widest = 0;
  Json lower = Json::array(), upper = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = bounded.errors() ? (*bounded.errors())[i] : 0;
    widest = std::max(widest, error);
    lower.push_back(number_json(values[i] - error));
    upper.push_back(number_json(values[i] + error));
  }
  json["largest_error"] = number_json(widest);
  if (bounded.tensor().size() > kMostInline) return;
  json["lower"] = std::move(lower);
  json["upper"] = std::move(upper);
}

Json nonfinite_json(const NonFiniteOrigin& origin) {
  return {{"node", origin.node},
          {"op", origin.op},
          {"kind", origin.made.nan > 0 ? "NaN" : "Infinity"},
          {"count", origin.made.nan + origin.made.infinite},
          {"nan", origin.made.nan},
          {"infinite", origin.made.infinite},
          {"inputs_finite", origin.inputs_finite},
          {"reaches_output", origin.reaches_output},
          {"first_step", origin.steps},
          {"times", origin.times}};
}

void fill_document(const Options& options, const Graph& graph, const Outcome& outcome,
                   Json& document) {
  document["model"] = options.model;
  document["backend"] = options.backend;
  document["evaluation_seconds"] = outcome.seconds;
  Json& outputs = document["outputs"] = Json::object();
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    Json& json = outputs[graph.outputs[i].name] = to_json(outcome.outputs[i]);
    if (options.bounds) add_bounds(outcome.bounded[i], json);
    if (!options.outputs.empty()) json["file"] = options.outputs;
  }
  if (options.hidden) {
    Json& hidden = document["hidden"] = Json::object();
    for (const auto& [name, json] : outcome.hidden_reports) {
      Json& place = hidden[name] = json;
      if (!options.outputs.empty()) place["file"] = options.outputs;
    }
  }
  Json& nonfinite = document["nonfinite"] = Json::array();
  for (const NonFiniteOrigin& origin : outcome.nonfinite) {
    nonfinite.push_back(nonfinite_json(origin));
  }
  if (!options.judge.empty()) {
    Json& judged = document["judged"] = Json::array();
    for (const Judgement& one : outcome.judgements) {
      judged.push_back({{"node", one.layer},
                        {"op", one.op},
                        {"output", one.output},
                        {"verdict", one.inside ? "precision" : "outside"},
                        {"difference", number_json(one.difference)},
                        {"excess", number_json(one.excess)},
                        {"detail", one.detail}});
    }
  }
  Json& unknown = document["unknown"] = Json::array();
  for (const auto& [layer, node] : outcome.unknown) {
    unknown.push_back({{"node", layer}, {"op", node.op}, {"domain", node.domain}});
  }
}

std::string nonfinite_text(const NonFiniteOrigin& origin, bool first, const Style& style) {
  std::string made;
  if (origin.made.nan > 0) made = fmt::format("{} NaN", with_separators(origin.made.nan));
  if (origin.made.infinite > 0) {
    made += fmt::format("{}{} infinite", made.empty() ? "" : " and ",
                        with_separators(origin.made.infinite));
  }
  const std::string line =
      fmt::format("{} ({}) makes {} out of {} inputs{}{}{}", origin.node, origin.op, made,
                  origin.inputs_finite ? "finite" : "infinite",
                  origin.times > 1 ? fmt::format(", {} times", with_separators(origin.times)) : "",
                  origin.steps.empty() ? "" : fmt::format(", first at {}", origin.steps),
                  origin.reaches_output ? "; it reaches an output" : "; it reaches no output");
  return fmt::format("  {}\n", first ? style.bad("first: " + line) : line);
}

std::string to_page(const Options& options, const Evaluator& evaluator, const Outcome& outcome) {
  const Style style;
  const Graph& graph = evaluator.model().graph;
  std::string page =
      fmt::format("{}  {}, {:.3g} ms\n", style.bold(options.model),
                  counted(static_cast<std::int64_t>(evaluator.plan().nodes.size()), "node"),
                  1000 * outcome.seconds);
  Table outputs;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    std::vector<std::string> cells = value_cells(outcome.outputs[i], style);
    cells.insert(cells.begin(), printable(graph.outputs[i].name));
    Json bounds = Json::object();
    if (options.bounds) add_bounds(outcome.bounded[i], bounds);
    if (bounds.contains("largest_error")) {
      cells.push_back(fmt::format("± {}", bounds["largest_error"].dump()));
    }
    outputs.row(std::move(cells));
  }
  page += outputs.text();
  if (options.hidden) {
    page += fmt::format(
        "{}\n", counted(static_cast<std::int64_t>(outcome.hidden_reports.size()), "hidden value"));
    Table hidden;
    for (const auto& [name, json] : outcome.hidden_reports) {
      hidden.row({printable(name), json.contains("dtype") ? json["dtype"].get<std::string>() : "",
                  json.contains("shape") ? json["shape"].dump() : ""});
    }
    page += hidden.text();
  }
  if (!outcome.nonfinite.empty()) page += style.bold("not finite\n");
  for (const NonFiniteOrigin& origin : outcome.nonfinite) {
    page += nonfinite_text(origin, &origin == &outcome.nonfinite.front(), style);
  }
  if (!outcome.judgements.empty()) {
    page += fmt::format("{} recorded values judged by the bounds of their nodes\n",
                        outcome.judgements.size());
  }
  for (const Judgement& one : outcome.judgements) {
    if (one.inside) continue;
    page += fmt::format("  {} ({}): {}\n", style.bad(one.layer), one.op, one.detail);
  }
  if (!outcome.unknown.empty()) page += style.bold("unknown to the catalogue\n");
  for (const auto& [layer, node] : outcome.unknown) {
    page += fmt::format("  {} ({}{}{})\n", layer, printable(node.domain),
                        node.domain.empty() ? "" : ".", printable(node.op));
  }
  if (!options.outputs.empty()) page += fmt::format("written to {}\n", options.outputs);
  return page;
}

Result<void> write_outputs(const Options& options, const Graph& graph, const Outcome& outcome) {
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
  if (options.backend != "reference") {
    return Error{"environment", fmt::format("backend {} is not installed", options.backend),
                 options.backend};
  }
  if (Result<void> dims = parse_dims(options); !dims) return dims.error();
  options.data.seed = report.common().seed;
  options.data.inputs.insert(options.data.inputs.end(), options.more.begin(), options.more.end());
  Result<std::shared_ptr<const Model>> model = read_valid_model(options.model);
  if (!model) return model.error();
  const auto in_file = [&](const Error& error) {
    return Error{error.kind, fmt::format("{}: {}", options.model, error.message), error.where};
  };
  Result<std::vector<Value>> inputs = read_inputs((*model)->graph, options.data);
  if (!inputs) return in_file(inputs.error());
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(*model);
  if (!evaluator) return in_file(evaluator.error());
  Result<Outcome> outcome = evaluate(options, **evaluator, *inputs, report.common().seed);
  if (!outcome) return in_file(outcome.error());
  for (const Result<void>& more :
       {repeat(options, **evaluator, *inputs, *outcome),
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
  return all_inside(*outcome) ? ExitCode::clean : ExitCode::found;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("--backend", options->backend, "What runs it (default: reference)")
      ->type_name("NAME");
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
  app.add_option("--profile", options->profile, "The backend that recorded them: onnxruntime")
      ->type_name("NAME")
      ->group("Results");
  app.add_option("--repeat", options->repeat, "Run so many times more and report the fastest")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->group("Results");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command run_command() { return {"run", "Run a model by the standard's meaning", kHelp, configure}; }

}  // namespace assay
