#include "compare/comparison.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compare/pairs.h"
#include "semantics/nonfinite.h"

namespace assay {
namespace {

Job make_job(const Subject& subject, std::size_t piece, bool hidden) {
  Job job{{subject.path, ""}};
  job.hidden = hidden;
  job.inputs = named_inputs(subject.model->graph, subject.pieces[piece]);
  return job;
}

std::string kind_of(const Answer& answer) {
  switch (answer.outcome) {
    case Outcome::hung:
      return "hang";
    case Outcome::memory:
      return "memory";
    case Outcome::crashed:
      return "crash";
    default:
      return answer.outcome == Outcome::unsupported ? "unsupported" : "valid-refused";
  }
}

ComparisonFinding refusal(const BackendRecord& record, const Answer& answer) {
  ComparisonFinding finding;
  finding.kind = kind_of(answer);
  finding.backend = record.name;
  finding.node = answer.node;
  finding.op = answer.op;
  finding.detail = answer.message;
  finding.signal = answer.signal;
  finding.verdict = answer.outcome == Outcome::unsupported ? Verdict::unsupported : Verdict::defect;
  return finding;
}

// All pieces, unwatched: watching may change what is watched.
void run_plain(const Subject& subject, Backend& backend, BackendRecord& record,
               std::vector<ComparisonFinding>& findings) {
  for (std::size_t piece = 0; piece < subject.pieces.size(); ++piece) {
    Answer answer = backend.run(make_job(subject, piece, false));
    if (!answer.ok()) {
      findings.push_back(refusal(record, answer));
      record.alive = false;
      return;
    }
    record.plain.push_back(std::move(answer));
  }
}

// How far a backend's unwatched outputs are from what rounding allows, over one piece.
double excess_of(const Comparison& comparison, const Graph& graph, const BackendRecord& record,
                 std::size_t piece) {
  double worst = 0;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value* value = record.output(piece, graph.outputs[i].name);
    if (value) worst = std::max(worst, comparison.spreads[piece][i].excess(*value));
  }
  return worst;
}

// The piece in which some backend is farthest away.
std::size_t worst_piece(const Comparison& comparison, const Graph& graph) {
  std::size_t worst = 0;
  double largest = 0;
  for (const BackendRecord& record : comparison.backends) {
    for (std::size_t piece = 0; piece < record.plain.size(); ++piece) {
      const double excess = excess_of(comparison, graph, record, piece);
      if (excess <= largest) continue;
      largest = excess;
      worst = piece;
    }
  }
  return worst;
}

std::map<std::string, Tensor> tensors_of(const Answer& answer) {
  std::map<std::string, Tensor> tensors;
  for (const auto* list : {&answer.hidden, &answer.values}) {
    for (const auto& [name, value] : *list) {
      if (value.is_tensor()) tensors.emplace(name, value.tensor());
    }
  }
  return tensors;
}

void add_suspects(const Model& model, const BackendRecord& record,
                  std::vector<ComparisonFinding>& findings) {
  for (const Judgement& one : record.judged) {
    if (one.inside) continue;
    ComparisonFinding finding;
    finding.kind = "inconsistency";
    finding.backend = record.name;
    finding.node = one.layer;
    finding.op = one.op;
    finding.detail = one.detail;
    finding.variant = one.variant;
    const bool known = one.variant && one.variant->kind == Variant::Kind::difference;
    finding.verdict = known ? Verdict::difference : Verdict::defect;
    finding.suspect = cut_out(one.node, one.inputs, model);
    findings.push_back(std::move(finding));
  }
}

// The first output that two answers of one backend differ in by more than rounding allows.
struct Change {
  std::string output;
  std::size_t element = 0;
  double excess = 0;
};

std::optional<Change> change_between(const Comparison& comparison, const Graph& graph,
                                     const Answer& before, const Answer& after) {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value* first = before.find(graph.outputs[i].name);
    const Value* second = after.find(graph.outputs[i].name);
    Spread around = comparison.spreads[comparison.piece][i];
    const bool comparable = first && second && first->is_tensor() && second->is_tensor() &&
                            first->shape() == around.value.shape();
    if (!comparable) continue;
    around.value = *first;
    Change change{graph.outputs[i].name};
    change.excess = around.excess(*second, &change.element);
    if (change.excess > 1) return change;
  }
  return std::nullopt;
}

// Outputs that change beyond rounding when inner values are asked for: a pass of the backend's
// optimiser is at work in one of the two runs, unless the backend never says the same twice.
void add_change(const Subject& subject, Backend& backend, const BackendRecord& record,
                Comparison& comparison) {
  const Graph& graph = subject.model->graph;
  const Answer& plain = record.plain[comparison.piece];
  const auto watched = change_between(comparison, graph, plain, record.watched);
  if (!watched) return;
  const Answer again = backend.run(make_job(subject, comparison.piece, false));
  const auto repeated = change_between(comparison, graph, plain, again);
  const Change& change = repeated ? *repeated : *watched;
  ComparisonFinding finding;
  finding.kind = repeated ? "nondeterminism" : "optimiser";
  finding.backend = record.name;
  finding.node = change.output;
  finding.verdict = repeated ? Verdict::defect : Verdict::optimiser;
  finding.detail = fmt::format(
      "output {} changes when {}, at element {} by {:.3g} times what "
      "rounding allows",
      change.output, repeated ? "the same is run again" : "inner values are watched",
      change.element, change.excess);
  comparison.findings.push_back(std::move(finding));
}

// Judges what backends computed on one piece, and remembers what saves work.
class Inspection {
 public:
  Inspection(const Subject& subject, const Evaluator& evaluator, std::uint64_t seed)
      : subject_(subject), evaluator_(evaluator), seed_(seed) {}

  // Judges every inner value of a watched run.
  void judge_record(std::size_t piece, BackendRecord& record) {
    const std::map<std::string, Tensor> recorded = tensors_of(record.watched);
    const Profile* profile = profile_of(record.framework);
    const auto before = seen_.find(profile);
    Reaches reaches;
    JudgeOptions how;
    if (before != seen_.end()) {
      how.recorded = &before->second.recorded;
      how.judged = &before->second.judged;
    } else {
      how.reaches = &reaches;
    }
    set_profile(profile);
    Result<std::vector<Judgement>> judged =
        judge(evaluator_, subject_.pieces[piece], recorded, seed_, how);
    set_profile(nullptr);
    if (!judged) return;
    record.judged = *std::move(judged);
    if (before == seen_.end()) seen_.emplace(profile, Seen{recorded, record.judged});
    // Bounds on the values that follow a defect say nothing of an honest run.
    const bool honest = std::all_of(record.judged.begin(), record.judged.end(),
                                    [](const Judgement& one) { return one.inside; });
    if (honest) reaches_.widen(std::move(reaches));
  }
  // The bounds that honest backends were judged by.
  Reaches take_reaches() { return std::move(reaches_); }

 private:
  struct Seen {
    std::map<std::string, Tensor> recorded;
    std::vector<Judgement> judged;
  };

  const Subject& subject_;
  const Evaluator& evaluator_;
  std::uint64_t seed_;
  std::map<const Profile*, Seen> seen_;  // the first backend of each profile
  Reaches reaches_;
};

// Runs all pieces, and watched the one that is looked into, if that is known already.
void run_backend(const Subject& subject, Backend& backend, bool watch, BackendRecord& record,
                 std::vector<ComparisonFinding>& findings) {
  run_plain(subject, backend, record, findings);
  if (watch && record.alive) record.watched = backend.run(make_job(subject, 0, true));
}

bool is_watched(const BackendRecord& record) { return record.alive && record.name != "reference"; }

void inspect(Inspection& inspection, Comparison& comparison, BackendRecord& record) {
  if (record.watched.ok()) {
    inspection.judge_record(comparison.piece, record);
  } else {
    comparison.findings.push_back(refusal(record, record.watched));
  }
}

// Runs backends beside each other, each in a thread that waits for it. Of a single piece no choice
// is to be made, so it is looked into at once.
void run_all(const Subject& subject, std::vector<std::unique_ptr<Backend>>& backends,
             Inspection& inspection, Comparison& comparison, const ComparisonProgress& progress) {
  const bool single = subject.pieces.size() == 1;
  std::vector<std::vector<ComparisonFinding>> findings(backends.size());
  std::vector<std::future<void>> running;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    BackendRecord& record = comparison.backends[i];
    const bool watch = single && is_watched(record);
    running.push_back(std::async(std::launch::async, [&, i, watch] {
      run_backend(subject, *backends[i], watch, comparison.backends[i], findings[i]);
    }));
  }
  for (std::size_t i = 0; i < backends.size(); ++i) {
    BackendRecord& record = comparison.backends[i];
    progress(fmt::format("running {}", record.name));
    running[i].get();
    for (ComparisonFinding& one : findings[i]) comparison.findings.push_back(std::move(one));
    if (single && is_watched(record)) inspect(inspection, comparison, record);
  }
}

void look_into_all(const Subject& subject, std::vector<std::unique_ptr<Backend>>& backends,
                   Inspection& inspection, Comparison& comparison,
                   const ComparisonProgress& progress) {
  for (std::size_t i = 0; i < backends.size(); ++i) {
    BackendRecord& record = comparison.backends[i];
    if (!is_watched(record)) continue;
    progress(fmt::format("looking into {}", record.name));
    record.watched = backends[i]->run(make_job(subject, comparison.piece, true));
    inspect(inspection, comparison, record);
  }
}

Result<void> add_spreads(const Subject& subject, const Evaluator& evaluator, std::uint64_t seed,
                         Reaches known, Comparison& comparison,
                         const ComparisonProgress& progress) {
  for (std::size_t i = 0; i < subject.pieces.size(); ++i) {
    progress(fmt::format("what rounding allows, {} of {}", i + 1, subject.pieces.size()));
    Result<std::vector<Spread>> spread =
        rounding_spread(evaluator, subject.pieces[i], seed, std::move(known));
    if (!spread) return spread.error();
    comparison.spreads.push_back(*std::move(spread));
    known = {};
  }
  return {};
}

}  // namespace

std::string_view to_text(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"precision", "difference", "optimiser", "defect",
                                                "unsupported"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const Value* BackendRecord::output(std::size_t piece, const std::string& name) const {
  return piece < plain.size() ? plain[piece].find(name) : nullptr;
}

std::int64_t Comparison::unique() const {
  std::set<std::pair<std::string, std::vector<std::int64_t>>> patterns;
  for (const PairRow& pair : pairs) {
    if (pair.inconsistent()) patterns.emplace(pair.metric, pair.pattern);
  }
  return static_cast<std::int64_t>(patterns.size());
}

Result<Comparison> compare(const Subject& subject, std::vector<std::unique_ptr<Backend>>& backends,
                           std::uint64_t seed, const ComparisonProgress& progress) {
  Comparison comparison;
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(subject.model);
  if (!evaluator) return evaluator.error();
  for (const std::unique_ptr<Backend>& backend : backends) {
    comparison.backends.push_back(
        {backend->name(), backend->identity().framework, backend->identity().version});
  }
  Inspection inspection(subject, **evaluator, seed);
  run_all(subject, backends, inspection, comparison, progress);
  if (Result<void> done =
          add_spreads(subject, **evaluator, seed, inspection.take_reaches(), comparison, progress);
      !done) {
    return done.error();
  }
  comparison.piece = worst_piece(comparison, subject.model->graph);
  if (subject.pieces.size() > 1) look_into_all(subject, backends, inspection, comparison, progress);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const BackendRecord& record = comparison.backends[i];
    if (record.judged.empty()) continue;
    add_suspects(*subject.model, record, comparison.findings);
    add_change(subject, *backends[i], record, comparison);
  }
  comparison.pairs = compare_pairs(subject, comparison);
  return comparison;
}

}  // namespace assay
