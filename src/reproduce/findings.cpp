#include "reproduce/findings.h"

#include <algorithm>

#include "backends/layer_model.h"
#include "compare/suspect.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::size_t kLargestCopy = std::size_t{64} << 20;  // bytes of weights

std::size_t weight_bytes(const Graph& graph) {
  std::size_t bytes = 0;
  for (const NamedTensor& one : graph.initializers) bytes += one.tensor.byte_size();
  return bytes;
}

// The piece of the data that a backend gave no answer to.
std::size_t failed_piece(const Comparison& comparison, const std::string& backend) {
  for (const BackendRecord& record : comparison.backends) {
    if (record.name == backend && !record.alive) return record.plain.size();
  }
  return comparison.piece;
}

BackendTest whole(const Subject& subject, const Comparison& comparison, std::size_t piece) {
  BackendTest test{*subject.model};
  const Graph& graph = subject.model->graph;
  test.model.graph.name = "model";
  for (std::size_t i = 0; i < graph.inputs.size() && i < subject.pieces[piece].size(); ++i) {
    const Value& value = subject.pieces[piece][i];
    if (value.present()) test.inputs.push_back({graph.inputs[i].name, value});
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    test.outputs.push_back({graph.outputs[i].name, comparison.spreads[piece][i].value});
  }
  return test;
}

// The layer at which a backend says that it stopped, on what the reference gives it.
std::optional<BackendTest> layer_of(const Subject& subject, const std::string& name,
                                    std::size_t piece, std::uint64_t seed) {
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(subject.model);
  if (!evaluator) return std::nullopt;
  std::optional<BackendTest> test;
  EvaluateOptions options;
  options.seed = seed;
  options.observe = [&](const Evaluated& one) {
    if (one.layer() != name || test) return;
    test = cut_out(one.node.node, {one.inputs.begin(), one.inputs.end()}, *subject.model);
  };
  (void)(*evaluator)->run(subject.pieces[piece], options);
  return test;
}

}  // namespace

void suspect_whole_models(const Subject& subject, Comparison& comparison) {
  if (weight_bytes(subject.model->graph) > kLargestCopy) return;
  for (ComparisonFinding& finding : comparison.findings) {
    const bool unanswered = finding.kind == "crash" || finding.kind == "hang" ||
                            finding.kind == "memory" || finding.kind == "valid-refused" ||
                            finding.kind == "optimiser";
    const std::size_t piece = failed_piece(comparison, finding.backend);
    if (finding.suspect || !unanswered || piece >= comparison.spreads.size()) continue;
    if (has_layers(*subject.model) && !finding.node.empty()) {
      finding.suspect = layer_of(subject, finding.node, piece, 0);
    }
    if (!finding.suspect) finding.suspect = whole(subject, comparison, piece);
  }
}

std::vector<Reproduction> reproduce_findings(const std::vector<ComparisonFinding>& findings,
                                             const std::vector<std::string>& tests,
                                             std::vector<std::unique_ptr<Backend>>& backends,
                                             const ReproduceOptions& options) {
  std::vector<Reproduction> scripts(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const ComparisonFinding& finding = findings[i];
    if (i >= tests.size() || tests[i].empty() || !finding.suspect) continue;
    const auto backend = std::find_if(backends.begin(), backends.end(), [&](const auto& one) {
      return one->name() == finding.backend;
    });
    if (backend == backends.end()) continue;
    ReproduceOptions own = options;
    if (finding.variant) own.explanation = finding.variant->name;
    if (!finding.profile.empty()) own.explanation = finding.profile;
    scripts[i] = reproduce(*finding.suspect, **backend, tests[i], own);
  }
  return scripts;
}

}  // namespace assay
