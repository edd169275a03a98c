#include "localize/optimiser.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compare/change.h"
#include "formats/onnx_export.h"
#include "localize/exact.h"
#include "localize/passes.h"
#include "localize/segments.h"

namespace assay {
namespace {

// A model with inputs, and how far apart honest answers may be.
struct Question {
  std::shared_ptr<const Model> model;
  ModelSource source;
  std::vector<Value> inputs;
  std::vector<Spread> spreads;

  Job job(std::vector<std::string> disabled) const {
    Job made{source};
    made.inputs = named_inputs(model->graph, inputs);
    made.disabled = std::move(disabled);
    return made;
  }
};

// What a backend answers as it is, and with nothing optimised.
struct Sides {
  Answer plain, unoptimised;
};

class Search {
 public:
  Search(Backend& backend, std::uint64_t seed) : backend_(backend), seed_(seed) {}

  // Both answers, if the optimiser makes a difference that matters.
  std::optional<Sides> differ(const Question& question) {
    Sides sides{backend_.run(question.job({})), unoptimised(question)};
    if (!sides.unoptimised.ok() || !is_final(sides.plain)) return std::nullopt;
    if (sides.plain.ok() && !are_apart(question, sides.plain, sides.unoptimised)) {
      return std::nullopt;
    }
    return sides;
  }

  // Beyond rounding; or so far that rounding allows it only because it allows nearly anything.
  static bool are_apart(const Question& question, const Answer& one, const Answer& other) {
    const Graph& graph = question.model->graph;
    return change_between(question.spreads, graph, one, other) ||
           is_large_change(question.spreads, graph, one, other);
  }

  Answer unoptimised(const Question& question, bool hidden = false) {
    Job job = question.job({kEveryPass});
    job.hidden = hidden;
    Answer answer = backend_.run(job);
    if (answer.outcome != Outcome::unsupported) return answer;
    // One without such a switch optimises less when it is watched.
    job.disabled.clear();
    job.hidden = true;
    return backend_.run(job);
  }

  std::optional<Question> ask(const Model& part, const ValuesByName& values) const {
    const Result<std::string> bytes = to_onnx(part);
    if (!bytes) return std::nullopt;
    Question question{std::make_shared<const Model>(part), {"", *bytes}, {}, {}};
    for (const NamedType& input : part.graph.inputs) {
      question.inputs.push_back(values.at(input.name));
    }
    const auto evaluator = Evaluator::make(question.model);
    if (!evaluator) return std::nullopt;
    const ArithmeticScope scope(profile_of(backend_));
    Result<std::vector<Spread>> spreads = rounding_spread(**evaluator, question.inputs, seed_);
    if (!spreads) return std::nullopt;
    question.spreads = *std::move(spreads);
    return question;
  }

  Result<Cure> cure(const Question& question, const Sides& sides) {
    const Result<PassList> passes = backend_.passes(question.job({}));
    if (!passes) return passes.error();
    return find_cure(*passes, [&](const std::vector<std::string>& disabled) {
      return attempt(question, sides, disabled);
    });
  }

  Trial attempt(const Question& question, const Sides& sides,
                const std::vector<std::string>& disabled) {
    const Answer answer = backend_.run(question.job(disabled));
    if (!answer.ok()) return sides.plain.ok() ? Trial::broken : Trial::still;
    return are_apart(question, sides.unoptimised, answer) ? Trial::still : Trial::cured;
  }

 private:
  // A refusal or a death is the optimiser's if it goes with it. What takes too long or too much
  // would do so at each of many runs, and what is lacking is no defect.
  static bool is_final(const Answer& answer) {
    return answer.ok() || answer.outcome == Outcome::failed || answer.outcome == Outcome::crashed;
  }

  Backend& backend_;
  std::uint64_t seed_;
};

// All values of a model: the reference's, and in their place what the backend shows.
ValuesByName values_of(const Question& question, const Answer& shown, std::uint64_t seed) {
  ValuesByName values;
  const Graph& graph = question.model->graph;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (question.inputs[i].present()) values[graph.inputs[i].name] = question.inputs[i];
  }
  EvaluateOptions options;
  options.seed = seed;
  options.observe = [&](const Evaluated& evaluated) {
    for (std::size_t i = 0; i < evaluated.outputs.size() && evaluated.path.empty(); ++i) {
      if (!evaluated.unknown) values[evaluated.name(i)] = evaluated.outputs[i];
    }
  };
  const auto evaluator = Evaluator::make(question.model);
  if (evaluator) static_cast<void>((*evaluator)->run(question.inputs, options));
  for (const auto* list : {&shown.hidden, &shown.values}) {
    for (const auto& [name, value] : *list) values[name] = value;
  }
  return values;
}

BackendTest to_test(const Question& question) {
  BackendTest test{*question.model};
  const Graph& graph = question.model->graph;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    test.inputs.push_back({graph.inputs[i].name, question.inputs[i]});
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    test.outputs.push_back({graph.outputs[i].name, question.spreads[i].value});
  }
  return test;
}

void name_segment(const Graph& graph, const Segment& segment, ComparisonFinding& finding) {
  std::vector<std::string> operators;
  for (const std::size_t at : segment.nodes) operators.push_back(graph.nodes[at].op);
  const auto shown = [&](std::size_t at) { return display_name(graph.nodes[at], at); };
  finding.op = fmt::format("{}", fmt::join(operators, "+"));
  finding.node = shown(segment.nodes.front());
  if (segment.nodes.size() > 1) finding.node += ".." + shown(segment.nodes.back());
}

// What the optimised result is in the light of rounding and of exact arithmetic.
void judge(const Question& question, const Sides& sides, ComparisonFinding& finding) {
  finding.verdict = Verdict::optimiser;
  if (!sides.plain.ok()) return;
  const Graph& graph = question.model->graph;
  if (!change_between(question.spreads, graph, sides.plain, sides.unoptimised)) {
    finding.verdict = Verdict::precision;
    finding.detail += "; rounding explains it, as it would nearly any result";
  } else if (is_nearer_to_exact(*question.model, question.inputs, sides.plain, sides.unoptimised)) {
    finding.verdict = Verdict::difference;
    finding.detail += "; the optimised result is nearer to the exact one";
  }
}

void name_passes(const Result<Cure>& cure, ComparisonFinding& finding) {
  if (!cure) {
    finding.detail += "; " + cure.error().message;
    return;
  }
  finding.passes = cure->passes;
  finding.any_pass = cure->any;
  if (cure->passes.empty()) finding.detail += "; no pass that can be switched off cures it";
}

// Puts where and by what into a finding. Passes are looked for in the smallest segment, which is
// quick to run; what cures that has to cure the whole.
void localise(const Question& whole, Search& search, std::uint64_t seed,
              ComparisonFinding& finding) {
  const std::optional<Sides> sides = search.differ(whole);
  if (!sides) return;
  const ValuesByName values = values_of(whole, search.unoptimised(whole, true), seed);
  const std::optional<Segment> segment =
      find_segment(*whole.model, values, [&](const Model& model) {
        const std::optional<Question> asked = search.ask(model, values);
        return asked && search.differ(*asked);
      });
  const std::optional<Question> part = segment ? search.ask(segment->model, values) : std::nullopt;
  const std::optional<Sides> within = part ? search.differ(*part) : std::nullopt;
  if (within) {
    name_segment(whole.model->graph, *segment, finding);
    finding.suspect = to_test(*part);
    judge(*part, *within, finding);
    const Result<Cure> cure = search.cure(*part, *within);
    if (!cure ||
        (!cure->passes.empty() && search.attempt(whole, *sides, cure->passes) == Trial::cured)) {
      name_passes(cure, finding);
      return;
    }
  } else {
    judge(whole, *sides, finding);
  }
  name_passes(search.cure(whole, *sides), finding);
}

// The finding that may be the optimiser's: outputs that change, or a refusal.
ComparisonFinding* find_finding(Comparison& comparison, const BackendRecord& record) {
  for (ComparisonFinding& finding : comparison.findings) {
    const bool refusal = finding.kind == "crash" || finding.kind == "valid-refused";
    if (finding.backend != record.name) continue;
    if (finding.kind == "optimiser" || (refusal && !record.alive)) return &finding;
  }
  return nullptr;
}

bool is_outside(const Question& question, const Answer& answer) {
  const Graph& graph = question.model->graph;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value* value = answer.find(graph.outputs[i].name);
    if (value && question.spreads[i].excess(*value) > 1) return true;
  }
  return false;
}

// A node that is wrong where it is watched too is so because of the pass that was found.
void drop_explained(const ComparisonFinding& explained, Comparison& comparison) {
  if (!explained.suspect || explained.passes.empty()) return;
  const std::vector<Node>& nodes = explained.suspect->model.graph.nodes;
  std::erase_if(comparison.findings, [&](const ComparisonFinding& finding) {
    if (finding.kind != "inconsistency" || finding.backend != explained.backend) return false;
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const Node& node) { return display_name(node, 0) == finding.node; });
  });
}

void localise_backend(const Question& question, Search& search, std::uint64_t seed,
                      const BackendRecord& record, Comparison& comparison) {
  if (ComparisonFinding* finding = find_finding(comparison, record)) {
    localise(question, search, seed, *finding);
    return;
  }
  // A pass may work on watched values too: then the backend is wrong there, and right without it.
  const std::size_t piece = comparison.piece;
  if (piece >= record.plain.size()) return;
  const Answer& plain = record.plain[piece];
  const bool suspicious =
      is_outside(question, plain) ||
      (record.watched.ok() &&
       is_large_change(question.spreads, question.model->graph, plain, record.watched));
  if (!suspicious || !search.differ(question)) return;
  ComparisonFinding finding;
  finding.kind = "optimiser";
  finding.backend = record.name;
  finding.detail = "outputs change when no pass is applied";
  localise(question, search, seed, finding);
  drop_explained(finding, comparison);
  comparison.findings.push_back(std::move(finding));
}

}  // namespace

void localise_optimisers(const Subject& subject, std::vector<std::unique_ptr<Backend>>& backends,
                         std::uint64_t seed, const ComparisonProgress& progress,
                         Comparison& comparison) {
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const BackendRecord record = comparison.backends[i];
    const bool worker = record.name != "reference" && !record.name.starts_with("file:");
    if (!worker) continue;
    // One that refused did so at the piece after the last that it answered.
    const std::size_t piece = record.alive ? comparison.piece : record.plain.size();
    progress(fmt::format("asking what the optimiser of {} does", record.name));
    const Question question{subject.model, subject.source(), subject.pieces[piece],
                            comparison.spreads[piece]};
    Search search(*backends[i], seed);
    localise_backend(question, search, seed, record, comparison);
  }
}

}  // namespace assay
