#include "compare/comparison.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/serial.h"
#include "compare/change.h"
#include "compare/labels.h"
#include "compare/look.h"
#include "compare/pairs.h"
#include "compare/turned.h"
#include "semantics/nonfinite.h"

namespace assay {
namespace {

Job make_job(const Subject& subject, std::size_t piece, bool hidden) {
  Job job{subject.source()};
  job.hidden = hidden;
  job.inputs = named_inputs(subject.model->graph, subject.pieces[piece]);
  return job;
}

ComparisonFinding refusal(const BackendRecord& record, const Answer& answer) {
  ComparisonFinding finding;
  finding.kind = finding_kind(answer.outcome);
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
  std::vector<NamedValues> feeds;
  for (const std::vector<Value>& piece : subject.pieces) {
    feeds.push_back(named_inputs(subject.model->graph, piece));
  }
  backend.run_each(Job{subject.source()}, feeds, [&](Answer answer) {
    record.alive = answer.ok();
    if (record.alive) {
      record.plain.push_back(std::move(answer));
    } else {
      findings.push_back(refusal(record, answer));
    }
    return record.alive;
  });
}

// What one backend does while the reference computes.
struct BackendRun {
  std::vector<ComparisonFinding> findings{};
  std::optional<Answer> look{};  // the first, if it is clear beforehand what to look at
  std::future<void> done{};
};

// How many bytes of inner values may be here at once: each backend's, and what judging makes of
// them.
std::uint64_t most_bytes(std::size_t backends) { return memory_limit() / (8 * (backends + 1)); }

// What to look at, which is known once the reference has evaluated every node. Those who wait for
// it get nothing if it does not come to that.
class LookPlan {
 public:
  LookPlan(const Graph& graph, std::size_t backends)
      : graph_(graph), most_(most_bytes(backends)), sizes_(graph.nodes.size()) {}
  ~LookPlan() { tell({}); }

  void observe(const Evaluated& one) {
    sizes_.observe(one);
    if (one.path.empty() && ++seen_ == graph_.nodes.size()) settle();
  }
  const std::vector<Look>& settle() {
    tell(plan_looks(graph_, sizes_.bytes(), most_));
    return future_.get();
  }
  std::shared_future<std::vector<Look>> get() const { return future_; }

 private:
  void tell(const std::vector<Look>& looks) {
    if (!told_) promise_.set_value(looks);
    told_ = true;
  }

  const Graph& graph_;
  std::uint64_t most_;
  ValueSizes sizes_;
  std::size_t seen_ = 0;
  std::promise<std::vector<Look>> promise_;
  std::shared_future<std::vector<Look>> future_ = promise_.get_future().share();
  bool told_ = false;
};

Job make_look(const Subject& subject, std::size_t piece, const Look& look) {
  Job job = make_job(subject, piece, true);
  job.watched = look.watched;
  return job;
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

// What inner values are judged by.
struct Watched {
  const Subject& subject;
  const Evaluator& evaluator;
  std::uint64_t seed;
  Crowd& judging;  // the threads of the backends
};

// The inner values that a backend has shown, each by the bound of its node.
void judge_look(const Watched& watched, std::size_t piece, const Look& look, const Answer& answer,
                const Backend& backend, BackendRecord& record) {
  if (!answer.ok() || record.name == "reference") return;
  const Subject& subject = watched.subject;
  const std::map<std::string, Tensor> shown = tensors_of(answer);
  const std::vector<bool> only = nodes_to_judge(subject.model->graph, look, shown);
  Result<std::vector<Judgement>> judged = judge(watched.evaluator, subject.pieces[piece], shown,
                                                watched.seed, profile_of(backend), &only);
  if (!judged) return;
  std::move(judged->begin(), judged->end(), std::back_inserter(record.judged));
}

// Starts what run_plain does on every backend, each in a thread that waits for it. With a single
// piece there is no choice which one to look into, so that follows at once.
void run_all(const Watched& watched, std::vector<std::unique_ptr<Backend>>& backends,
             const std::shared_future<std::vector<Look>>& looks, Comparison& comparison,
             std::vector<BackendRun>& runs) {
  for (const std::unique_ptr<Backend>& backend : backends) {
    comparison.backends.push_back(
        {backend->name(), backend->identity().framework, backend->identity().version});
  }
  const Subject& subject = watched.subject;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    runs[i].done = std::async(std::launch::async, [&, looks, i] {
      const Crowd::Member member(watched.judging);
      BackendRecord& record = comparison.backends[i];
      run_plain(subject, *backends[i], record, runs[i].findings);
      // Several looks are several because memory is short: then one thing after the other.
      if (subject.pieces.size() > 1 || !record.alive || looks.get().size() != 1) return;
      const Look& look = looks.get().front();
      runs[i].look = backends[i]->run(make_look(subject, 0, look));
      judge_look(watched, 0, look, *runs[i].look, *backends[i], record);
    });
  }
}

// What rounding by any of the backends does to the outputs, piece by piece.
Result<void> allow_rounding(const Watched& watched, const Arithmetic& together,
                            const ComparisonOptions& options, LookPlan& plan,
                            Comparison& comparison) {
  const Subject& subject = watched.subject;
  for (std::size_t i = 0; i < subject.pieces.size(); ++i) {
    options.progress(fmt::format("what rounding allows, {} of {}", i + 1, subject.pieces.size()));
    const ArithmeticScope scope(&together);
    SpreadObserver observer;
    if (i == 0) observer.exact = [&](const Evaluated& one) { plan.observe(one); };
    Result<std::vector<Spread>> spread =
        rounding_spread(watched.evaluator, subject.pieces[i], options.seed, observer);
    if (!spread) return spread.error();
    comparison.spreads.push_back(*std::move(spread));
    apply(subject.criteria, subject.model->graph, comparison.spreads.back());
  }
  return {};
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
    finding.profile = one.profile;
    finding.verdict = one.verdict;
    finding.suspect = cut_out(one.node, one.inputs, model);
    findings.push_back(std::move(finding));
  }
}

// Outputs that change beyond rounding when inner values are asked for: a pass of the backend's
// optimiser is at work in one of the two runs, unless the backend never says the same twice.
void add_change(const Subject& subject, Backend& backend, const BackendRecord& record,
                Comparison& comparison) {
  const Graph& graph = subject.model->graph;
  const Answer& plain = record.plain[comparison.piece];
  const std::vector<Spread>& spreads = comparison.spreads[comparison.piece];
  const auto watched = change_between(spreads, graph, plain, record.watched);
  if (!watched) return;
  const Answer again = backend.run(make_job(subject, comparison.piece, false));
  const auto repeated = change_between(spreads, graph, plain, again);
  const Change& change = repeated ? *repeated : *watched;
  ComparisonFinding finding;
  finding.kind = repeated ? "nondeterminism" : "optimiser";
  finding.backend = record.name;
  finding.node = change.output;
  finding.verdict = repeated ? Verdict::defect : Verdict::optimiser;
  finding.detail =
      fmt::format("output {} changes when {}, {}", change.output,
                  repeated ? "the same is run again" : "inner values are watched",
                  change.form ? std::string("in type or shape")
                              : fmt::format("at element {} by {:.3g} times what rounding allows",
                                            change.element, change.excess));
  comparison.findings.push_back(std::move(finding));
}

// Whether the user's tolerances hold for every output, so that inner values do not matter.
bool tolerated(const Subject& subject, const Comparison& comparison, const BackendRecord& record) {
  const Graph& graph = subject.model->graph;
  const bool given =
      std::all_of(graph.outputs.begin(), graph.outputs.end(),
                  [&](const NamedType& output) { return subject.criteria.tolerates(output.name); });
  return given && excess_of(comparison, graph, record, comparison.piece) <= 1;
}

// Asks a backend for the values of a look and judges them, unless that has been done ahead; none if
// it does not answer.
std::optional<Answer> look_at(const Watched& watched, const Look& look, Backend& backend,
                              Comparison& comparison, BackendRecord& record, BackendRun& run) {
  const std::size_t piece = comparison.piece;
  std::optional<Answer> ahead = std::exchange(run.look, std::nullopt);
  const bool judged = ahead.has_value();
  Answer answer = ahead ? *std::move(ahead) : backend.run(make_look(watched.subject, piece, look));
  if (!answer.ok()) {
    record.looked_into = false;
    comparison.findings.push_back(refusal(record, answer));
    return std::nullopt;
  }
  if (!judged) judge_look(watched, piece, look, answer, backend, record);
  return answer;
}

void look_inside(const Watched& watched, const std::vector<Look>& looks,
                 std::vector<std::unique_ptr<Backend>>& backends, std::vector<BackendRun>& runs,
                 const ComparisonOptions& options, Comparison& comparison) {
  for (std::size_t number = 0; number < looks.size(); ++number) {
    std::vector<std::optional<Answer>> answers(backends.size());
    Shown shown(backends.size(), nullptr);
    for (std::size_t i = 0; i < backends.size(); ++i) {
      BackendRecord& record = comparison.backends[i];
      if (!record.alive || !record.looked_into) continue;
      options.progress(
          fmt::format("looking into {}, {} of {}", record.name, number + 1, looks.size()));
      answers[i] = look_at(watched, looks[number], *backends[i], comparison, record, runs[i]);
      if (!answers[i]) continue;
      shown[i] = &answers[i]->hidden;
      if (number > 0) answers[i]->values.clear();  // the same outputs again
    }
    options.shown(shown);
    for (std::size_t i = 0; i < backends.size(); ++i) {
      if (!answers[i] || number > 0) continue;
      if (looks.size() > 1) answers[i]->hidden.clear();
      comparison.backends[i].watched = *std::move(answers[i]);
    }
  }
}

bool is_suspected(const Comparison& comparison, const std::string& backend) {
  return std::any_of(comparison.findings.begin(), comparison.findings.end(),
                     [&](const ComparisonFinding& one) { return one.backend == backend; });
}

// A pair that lies apart, of which no node of either side is wrong: decisions that rounding turned
// explain it, where all inner values are at hand.
void explain_by_decisions(const Subject& subject, const Evaluator& evaluator, std::uint64_t seed,
                          Comparison& comparison) {
  const auto record_of = [&](const std::string& name) {
    return std::find_if(comparison.backends.begin(), comparison.backends.end(),
                        [&](const BackendRecord& one) { return one.name == name; });
  };
  for (PairRow& row : comparison.pairs) {
    const auto a = record_of(row.a), b = record_of(row.b);
    const bool open = row.inconsistent() && subject.pieces.size() == 1 && !subject.labels &&
                      !a->watched.hidden.empty() && !b->watched.hidden.empty() &&
                      !is_suspected(comparison, row.a) && !is_suspected(comparison, row.b);
    if (!open) continue;
    const Result<std::vector<std::string>> turned = turned_layers(
        evaluator, subject.pieces.front(), tensors_of(a->watched), tensors_of(b->watched), seed);
    if (turned) row.turned = *turned;
  }
}

// Backends that are there once `wait` has returned.
struct Arriving {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Backend>>& backends;
  std::function<Result<void>()> wait;
};

// What the backends have done, looked into where it is farthest away.
void conclude(const Watched& watched, const Arriving& arriving, const std::vector<Look>& looks,
              std::vector<BackendRun>& runs, const ComparisonOptions& options,
              Comparison& comparison) {
  const Subject& subject = watched.subject;
  const Graph& graph = subject.model->graph;
  std::vector<std::unique_ptr<Backend>>& backends = arriving.backends;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    options.progress(fmt::format("running {}", arriving.names[i]));
    runs[i].done.get();
    std::move(runs[i].findings.begin(), runs[i].findings.end(),
              std::back_inserter(comparison.findings));
  }
  comparison.piece = worst_piece(comparison, graph);
  look_inside(watched, looks, backends, runs, options, comparison);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const BackendRecord& record = comparison.backends[i];
    if (!record.alive || !record.looked_into || record.name == "reference") continue;
    if (!tolerated(subject, comparison, record)) {
      add_suspects(*subject.model, record, comparison.findings);
    }
    add_change(subject, *backends[i], record, comparison);
  }
  comparison.pairs = compare_pairs(subject, comparison);
  explain_by_decisions(subject, watched.evaluator, watched.seed, comparison);
}

Result<Comparison> compare_arriving(const Subject& subject, const Arriving& arriving,
                                    const ComparisonOptions& options) {
  Comparison comparison;
  const std::size_t count = arriving.names.size();
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(subject.model);
  if (!evaluator) return evaluator.error();
  Crowd judging;
  const Watched watched{subject, **evaluator, options.seed, judging};
  std::vector<BackendRun> runs(count);
  LookPlan plan(subject.model->graph, count);  // gone before those who wait for it
  std::future<Result<void>> started = std::async(std::launch::async, [&]() -> Result<void> {
    if (Result<void> there = arriving.wait(); !there) return there;
    run_all(watched, arriving.backends, plan.get(), comparison, runs);
    return {};
  });
  const auto wait = [&] { return started.valid() ? started.get() : Result<void>(); };
  std::optional<Arithmetic> together = joined_profile(arriving.names);
  if (!together) {
    if (Result<void> there = wait(); !there) return there.error();
    together = joined_profile(arriving.backends);
  }
  const Result<void> allowed = allow_rounding(watched, *together, options, plan, comparison);
  if (Result<void> there = wait(); !there) return there.error();
  if (!allowed) return allowed.error();
  if (Result<void> right = check_labels(subject.labels, subject.criteria, comparison.spreads);
      !right) {
    return right.error();
  }
  conclude(watched, arriving, plan.settle(), runs, options, comparison);
  return comparison;
}

}  // namespace

std::string_view finding_kind(Outcome outcome) {
  switch (outcome) {
    case Outcome::hung:
      return "hang";
    case Outcome::memory:
      return "memory";
    case Outcome::crashed:
      return "crash";
    default:
      return outcome == Outcome::unsupported ? "unsupported" : "valid-refused";
  }
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
                           const ComparisonOptions& options) {
  std::vector<std::string> names;
  for (const std::unique_ptr<Backend>& backend : backends) names.push_back(backend->name());
  return compare_arriving(subject, {names, backends, [] { return Result<void>(); }}, options);
}

Result<Comparison> compare(const Subject& subject, OpeningBackends opening,
                           std::vector<std::unique_ptr<Backend>>& backends,
                           const ComparisonOptions& options) {
  if (Result<void> checked = opening.check(); !checked) return checked.error();
  const auto wait = [&]() -> Result<void> {
    Result<std::vector<std::unique_ptr<Backend>>> opened = opening.finish();
    if (!opened) return opened.error();
    backends = *std::move(opened);
    return {};
  };
  return compare_arriving(subject, {opening.names(), backends, wait}, options);
}

}  // namespace assay
