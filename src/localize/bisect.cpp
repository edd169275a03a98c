#include "localize/bisect.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/install.h"
#include "backends/release_list.h"

namespace assay {
namespace {

// The backend of a release; the framework's own file where that release is the one it pins.
std::string name_at(const BackendName& base, const std::string& release) {
  const std::string pinned = fmt::format("{}=={}", base.environment.package, release);
  const auto& packages = base.environment.packages;
  std::string name = base.environment.name;
  if (std::find(packages.begin(), packages.end(), pinned) == packages.end()) {
    name += "-" + release;
  }
  return base.mode.empty() ? name : name + "-" + base.mode;
}

ReleaseVerdict verdict_of(const std::vector<Spread>& spreads, const Graph& graph,
                          const Answer& answer) {
  if (answer.outcome == Outcome::unsupported || answer.outcome == Outcome::memory) {
    return ReleaseVerdict::untold;
  }
  if (!answer.ok()) return ReleaseVerdict::bad;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value* value = answer.find(graph.outputs[i].name);
    if (value && spreads[i].excess(*value) > 1) return ReleaseVerdict::bad;
  }
  return ReleaseVerdict::good;
}

// What each piece's answer says; the first that is not good says it for all.
template <class F>
ReleaseTrial judge_pieces(const Subject& subject, const Comparison& comparison, F&& answer_of) {
  ReleaseTrial trial{"", ReleaseVerdict::good};
  for (std::size_t piece = 0; piece < subject.pieces.size(); ++piece) {
    const Answer answer = answer_of(piece);
    trial.verdict = verdict_of(comparison.spreads[piece], subject.model->graph, answer);
    trial.detail = answer.message;
    if (trial.verdict != ReleaseVerdict::good) break;
  }
  return trial;
}

ReleaseTrial try_release(const Subject& subject, const Comparison& comparison,
                         const std::string& name, const BackendOptions& options,
                         const ComparisonProgress& progress) {
  const auto untold = [](const Error& error) {
    return ReleaseTrial{"", ReleaseVerdict::untold, error.message};
  };
  const Result<BackendName> parsed = parse_backend(name);
  if (!parsed) return untold(parsed.error());
  const Result<void> installed = install(parsed->environment, [&](const std::string& what) {
    progress(fmt::format("{}: {}", name, what));
  });
  if (!installed) return untold(installed.error());
  progress(fmt::format("running {}", name));
  const Result<std::unique_ptr<Backend>> backend = open_backend(name, options);
  if (!backend) return untold(backend.error());
  return judge_pieces(subject, comparison, [&](std::size_t piece) {
    Job job{subject.source()};
    job.inputs = named_inputs(subject.model->graph, subject.pieces[piece]);
    return (*backend)->run(job);
  });
}

// Releases that the comparison has run.
std::map<std::string, ReleaseVerdict> known_verdicts(const Subject& subject,
                                                     const Comparison& comparison,
                                                     const BackendName& base,
                                                     const std::vector<std::string>& releases) {
  std::map<std::string, ReleaseVerdict> known;
  for (const BackendRecord& record : comparison.backends) {
    const std::string version = record.version.substr(0, record.version.find('+'));
    const bool among = std::find(releases.begin(), releases.end(), version) != releases.end();
    if (!among || record.name != name_at(base, version)) continue;
    if (!record.alive) {
      for (const ComparisonFinding& finding : comparison.findings) {
        const bool refusal = finding.kind != "unsupported" && finding.kind != "memory";
        if (finding.backend == record.name && refusal) known[version] = ReleaseVerdict::bad;
      }
      continue;
    }
    known[version] = judge_pieces(subject, comparison, [&](std::size_t piece) {
                       return record.plain[piece];
                     }).verdict;
  }
  return known;
}

}  // namespace

Result<ReleaseRange> parse_range(const std::string& backend, const std::string& text) {
  const auto dots = text.find("..");
  const std::string from = text.substr(0, dots);
  const std::string to = dots == std::string::npos ? "" : text.substr(dots + 2);
  if (release_numbers(from).size() < 2 || release_numbers(to).size() < 2) {
    return Error{"usage", fmt::format("{}: expected releases such as 1.19..1.31", text), text};
  }
  const Result<BackendName> base = parse_backend(backend);
  if (!base) return base.error();
  if (!base->environment.command.empty() || !base->environment.uses.empty()) {
    return Error{"usage", fmt::format("backend {} has no releases of its own", backend), backend};
  }
  return ReleaseRange{*base, from, to};
}

Result<ReleaseSearch> bisect_releases(const Subject& subject, const Comparison& comparison,
                                      const ReleaseRange& range, const BackendOptions& options,
                                      const ComparisonProgress& progress) {
  const BackendName& base = range.backend;
  progress(fmt::format("listing the releases of {}", base.environment.package));
  const Result<std::vector<std::string>> releases =
      list_releases(base.environment, range.from, range.to);
  if (!releases) return releases.error();
  return find_releases(*releases, known_verdicts(subject, comparison, base, *releases),
                       [&](const std::string& release) {
                         return try_release(subject, comparison, name_at(base, release), options,
                                            progress);
                       });
}

}  // namespace assay
