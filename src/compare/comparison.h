// One model on several backends: who disagrees, where it starts, and whether rounding explains it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "compare/criteria.h"
#include "compare/distance.h"
#include "compare/judge.h"
#include "compare/spread.h"
#include "compare/suspect.h"

namespace assay {

// What a comparison is about. Data with more instances than the model takes at once come in pieces.
struct Subject {
  std::shared_ptr<const Model> model;
  std::string path;  // where the model's file is
  ModelSource source() const { return source_of(model, path); }
  std::vector<std::vector<Value>> pieces;  // inputs, in the order of the graph's
  std::optional<Tensor> labels;            // a class an instance, or the true first output
  Criteria criteria{};                     // where they are not the bound
};

// What a backend that did not run a valid model is a finding of: "crash", "valid-refused", …
std::string_view finding_kind(Outcome outcome);

struct ComparisonFinding {
  std::string kind;  // inconsistency, nan, crash, hang, memory, optimiser, invalid-accepted, …
  std::string backend, node, op, detail;
  Verdict verdict = Verdict::defect;
  const Variant* variant = nullptr;
  std::string_view profile{};  // the other precision that explains it
  int signal = 0;
  std::vector<std::string> passes{};     // of the backend's optimiser, that cure it
  bool any_pass = true;                  // each of them alone does; else all together
  std::optional<BackendTest> suspect{};  // the smallest model that shows it
};

// What one backend did.
struct BackendRecord {
  std::string name, framework, version;
  std::vector<Answer> plain{};      // of each piece, unwatched
  Answer watched{};                 // of the piece that is looked into; hidden if all fits
  std::vector<Judgement> judged{};  // the watched values, each by its node's bound
  bool alive = true;                // it has answered every piece
  bool looked_into = true;          // and what it was asked of its inner values

  const Value* output(std::size_t piece, const std::string& name) const;
};

struct PairRow {
  std::string a, b, metric;
  double threshold = 0, largest = 0;
  std::int64_t triggering = 0, instances = 0;
  std::vector<std::int64_t> pattern;
  std::string output{};   // that the metric is about; the bound's is about all
  std::int64_t ties = 0;  // elements that differ where rounding decides
  // Why it is not inconsistent though instances trigger: decisions that rounding turned, by layer.
  std::vector<std::string> turned{};
  double relative = 0, absolute = 0;  // tolerances that the pair would need
  bool inconsistent() const { return triggering > 0 && turned.empty(); }
};

struct Comparison {
  std::vector<BackendRecord> backends;
  std::vector<std::vector<Spread>> spreads;  // of each piece, an output each
  std::vector<PairRow> pairs;
  std::vector<ComparisonFinding> findings;
  std::size_t piece = 0;        // the one that was looked into
  std::int64_t unique() const;  // inconsistencies with different patterns
};

// Inner values of some of the nodes, an element a backend; null: it has shown none.
using Shown = std::vector<const NamedValues*>;

using ComparisonProgress = std::function<void(const std::string& what)>;

struct ComparisonOptions {
  std::uint64_t seed = 0;
  ComparisonProgress progress = [](const std::string&) {};
  // Is told of all inner values, of as many nodes at a time as fit into memory.
  std::function<void(const Shown&)> shown = [](const Shown&) {};
};

// Never fails because of a backend: what goes wrong there is a finding.
Result<Comparison> compare(const Subject& subject, std::vector<std::unique_ptr<Backend>>& backends,
                           const ComparisonOptions& options);

// The same with backends that are still on their way, which are put into `backends`: while their
// frameworks are imported the reference computes. An error if one does not arrive.
Result<Comparison> compare(const Subject& subject, OpeningBackends opening,
                           std::vector<std::unique_ptr<Backend>>& backends,
                           const ComparisonOptions& options);

}  // namespace assay
