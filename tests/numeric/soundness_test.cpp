// Random small graphs on random points of the ranges: no value ever lies outside of its abstract
// value, and no operation that was proved safe ever fails.
//
// ASSAY_SOUNDNESS_GRAPHS is how many; the long run of bench/soundness.py sets it.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "base/serial.h"
#include "numeric/analysis.h"
#include "numeric/drawn_graph.h"
#include "numeric/judge.h"
#include "numeric/search.h"
#include "ops/catalogue.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr int kPoints = 5;
constexpr Setting kSettings[] = {{TensorMode::partition, NumberMode::affine},
                                 {TensorMode::partition, NumberMode::interval},
                                 {TensorMode::smash, NumberMode::affine},
                                 {TensorMode::expand, NumberMode::affine}};

// A point may ask for more than the machine has: its run then ends.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::uint64_t graph_count() {
  const char* given = std::getenv("ASSAY_SOUNDNESS_GRAPHS");
  return given ? std::strtoull(given, nullptr, 10) : 4000;
}

// The cell that an element lies in.
const Cell& cell_of(const Abstract& x, std::int64_t flat, const Shape& shape) {
  if (x.cuts.size() != shape.size()) return x.cells.front();  // of no known rank
  std::int64_t at = 0, step = 1;
  for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) {
    const std::int64_t index = flat % shape[d];
    const auto& cuts = x.cuts[d];
    const auto cell = std::upper_bound(cuts.begin(), cuts.end(), index) - cuts.begin();
    at += cell * step;
    step *= static_cast<std::int64_t>(cuts.size()) + 1;
  }
  return x.cells[static_cast<std::size_t>(at)];
}

// What the analysis says of one node.
struct Claim {
  std::vector<Abstract> outputs;
  bool overflows = false, silent = false;  // silent: it says nothing of what is not finite
};

// What of a value contradicts what is known of it; nothing if all of it is inside.
std::string contradiction(const Abstract& x, const Value& value) {
  if (!x.is_tensor() || !value.is_tensor() || !has_numbers(value.type())) return {};
  const Shape& shape = value.shape();
  if (value.tensor().size() == 0) return {};
  if (x.ranked()) {
    if (x.rank() != shape.size()) return "another rank";
    for (std::size_t d = 0; d < shape.size(); ++d)
      if ((*x.type.dims)[d].known() && (*x.type.dims)[d].value != shape[d]) return "another extent";
  }
  const std::vector<double> elements = value.tensor().reals();
  const std::vector<double> exact = x.exact.defined() ? x.exact.reals() : std::vector<double>();
  if (!x.exact.defined() && x.cells.empty()) return {};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Interval range = x.exact.defined()
                               ? Interval::point(exact[i])
                               : cell_of(x, static_cast<std::int64_t>(i), shape).range;
    if (!range.contains(elements[i]))
      return "element " + std::to_string(i) + " is " + std::to_string(elements[i]) +
             " and not in " + to_text(range);
  }
  return {};
}

class Trial {
 public:
  Trial(const DrawnGraph& drawn, const Setting& setting, std::string id)
      : drawn_(drawn), model_(*drawn.model), setting_(setting), id_(std::move(id)) {
    roots_ = apply_ranges(model_, {});
    for (std::size_t i = 0; i < roots_.roots.size(); ++i) {
      Root& root = roots_.roots[i];
      const auto range = drawn.ranges.find(root.name);
      if (range == drawn.ranges.end()) continue;
      Abstract& value = roots_.values.at(root.name);
      value = uniform(value.type, range->second);
      value.roots = RootSet(static_cast<int>(i));
      root.given = true;
      root.range = range->second;
    }
  }

  // How many points could be evaluated at all.
  int run(Dice& dice) {
    analyse();
    const auto evaluator = Evaluator::make(drawn_.model);
    if (!evaluator) return 0;
    int evaluated = 0;
    for (int point = 0; point < kPoints && !::testing::Test::HasFailure(); ++point) {
      bool stopped = false;
      EvaluateOptions options;
      options.observe = [&](const Evaluated& seen) { stopped = stopped || !check(seen); };
      evaluated += (*evaluator)->run(drawn_.point(dice), options).has_value();
    }
    return evaluated;
  }

 private:
  void analyse() {
    AnalysisOptions options;
    options.setting = setting_;
    options.observe = [&](const Analyzed& seen) {
      Claim& claim = claims_[seen.path + seen.node.label()];
      claim.outputs.assign(seen.outputs.begin(), seen.outputs.end());
      claim.overflows = seen.overflows;
      claim.silent = seen.unknown || !seen.failure.empty() ||
                     std::any_of(seen.inputs.begin(), seen.inputs.end(),
                                 [](const Abstract& input) { return input.assumed; });
    };
    Analysis analysis(model_, std::move(options));
    analysis.inputs = roots_.values;
    analysis.run();
    judgement_ = judge(model_, roots_, setting_);
    LintOptions search;
    search.setting = setting_;
    search.search_seconds = 1e9;
    if (drawn_.finite()) LintSearch(model_, roots_, search).split(judgement_);
  }

  // Whether this point goes on: behind a danger, all is judged as if it had not happened.
  bool check(const Evaluated& seen) const {
    const auto found = claims_.find(seen.layer());
    if (found == claims_.end()) return true;
    const Claim& claim = found->second;
    for (std::size_t i = 0; i < seen.outputs.size() && i < claim.outputs.size(); ++i) {
      const std::string wrong = contradiction(claim.outputs[i], seen.outputs[i]);
      if (wrong.empty()) continue;
      const bool told = claim.overflows && !is_safe(judgement_, seen.layer());
      EXPECT_TRUE(told || claim.silent)
          << id_ << ": " << seen.node.node.op << ' ' << seen.layer() << ": " << wrong
          << (claim.overflows ? ", proved safe" : "") << drawn_.describe();
      return false;
    }
    return true;
  }

  const DrawnGraph& drawn_;
  const Model& model_;
  Setting setting_;
  std::string id_;
  Roots roots_;
  std::map<std::string, Claim> claims_;
  Assessment judgement_;
};

void count_nodes(const Model& model, std::map<std::string, int>& counts) {
  for (const Node& node : model.graph.nodes) ++counts[node.domain + ":" + node.op];
}

// Operators that say something of ranges, and all their cases.
std::map<std::string, std::vector<TextCase>> cases_by_operator() {
  std::map<std::string, std::vector<TextCase>> result;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cases")) {
    const auto cases = read_cases(entry.path());
    if (!cases) throw std::runtime_error(cases.error().message);
    for (const TextCase& one : *cases) {
      const Lookup found = find_operator(one.node.domain, one.node.op, opset_of(one));
      if (found.entry && found.entry->meaning.answers_interval)
        result[one.node.domain + ":" + one.node.op].push_back(one);
    }
  }
  return result;
}

TEST(Soundness, RelationsBetweenValues) {
  const SerialScope alone(true);
  const std::uint64_t count = graph_count();
  for (std::uint64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    const DrawnGraph drawn = draw_relations(seed);
    Dice dice(seed);
    Trial(drawn, kSettings[seed % std::size(kSettings)], std::to_string(seed)).run(dice);
  }
}

TEST(Soundness, EveryOperatorThatAnswersRanges) {
  set_memory_limit(kMostBytes);
  const SerialScope alone(true);
  const auto cases = cases_by_operator();
  const std::uint64_t count = graph_count();
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < count && !HasFailure();) {
    for (const auto& [op, own] : cases) {
      const TextCase& text_case = own[(seed * 7919 / cases.size()) % own.size()];
      const DrawnGraph drawn = draw_around(text_case, seed);
      Dice dice(seed);
      const std::string id = text_case.name + " #" + std::to_string(seed);
      if (Trial(drawn, kSettings[seed % std::size(kSettings)], id).run(dice) > 0)
        count_nodes(*drawn.model, seen);
      if (++seed >= count || HasFailure()) break;
    }
  }
  if (HasFailure()) return;
  auto least = cases.begin()->first;
  for (const auto& [op, own] : cases)
    if (seen[op] < seen[least]) least = op;
  std::printf("%llu graphs, %zu operators, least often %s: %d times\n",
              static_cast<unsigned long long>(count), cases.size(), least.c_str(), seen[least]);
  EXPECT_GE(seen[least], static_cast<int>(count / cases.size() / 4)) << least;
}

}  // namespace
}  // namespace assay
