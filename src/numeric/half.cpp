#include "numeric/half.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "graph/origin.h"
#include "numeric/search.h"
#include "numeric/shown_name.h"
#include "semantics/evaluator.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

constexpr int kMostRounds = 60;

// The operations that fail; nothing if the model cannot be run at all.
using Fails = std::function<std::optional<std::vector<std::string>>(const Model&)>;

// Grows the set that stays in float32 until nothing fails, then leaves out what is not needed.
class KeepSearch {
 public:
  KeepSearch(const Model& model, const HalfOptions& options, Fails fails)
      : model_(&model), options_(&options), fails_(std::move(fails)) {}

  void run(HalfResult& result) {
    std::set<std::string> keep;
    for (int round = 0; round < kMostRounds && has_time() && !result.verified; ++round) {
      const Retyped changed = retyped(*model_, options_->type, keep);
      const auto failing = fails_(changed.model);
      if (!failing) return;
      result.verified = failing->empty();
      if (!result.verified && !grow(changed, *failing, keep)) return;
    }
    if (!result.verified) return;
    for (const std::string& one : std::vector<std::string>(keep.rbegin(), keep.rend())) {
      if (!has_time()) break;
      std::set<std::string> fewer = keep;
      fewer.erase(one);
      const auto failing = fails_(retyped(*model_, options_->type, fewer).model);
      if (failing && failing->empty()) keep = std::move(fewer);
    }
    result.keep.assign(keep.begin(), keep.end());
  }

 private:
  bool has_time() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return passed.count() < options_->seconds;
  }

  // A conversion that fails is that of its readers; what fails in float32 gets a bad operand.
  static bool grow(const Retyped& changed, const std::vector<std::string>& failing,
                   std::set<std::string>& keep) {
    const std::size_t before = keep.size();
    for (const std::string& name : failing) {
      if (const auto cast = changed.casts.find(name); cast != changed.casts.end()) {
        keep.insert(cast->second.begin(), cast->second.end());
      } else if (!keep.insert(name).second) {
        const auto makers = changed.makers.find(name);
        if (makers != changed.makers.end())
          keep.insert(makers->second.begin(), makers->second.end());
      }
    }
    return keep.size() > before;
  }

  const Model* model_;
  const HalfOptions* options_;
  Fails fails_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Below half of the smallest number, everything rounds to 0.
double flush_limit(ElementType type) {
  const FloatFormat& format = format_of(type);
  return std::ldexp(1.0, format.min_exponent - format.precision);
}

void add_flushed_constants(const Model& model, ElementType type, HalfResult& result) {
  const auto add = [&](const std::string& name, const char* op, const Tensor& tensor) {
    if (tensor.type() != ElementType::f32) return;
    std::int64_t flushed = 0;
    for (double x : tensor.reals()) flushed += x != 0 && std::fabs(x) <= flush_limit(type) ? 1 : 0;
    if (flushed > 0)
      result.flush.push_back(
          {name, op, fmt::format("{} of {} elements become 0", flushed, tensor.size())});
  };
  for (const NamedTensor& one : model.graph.initializers) add(one.name, "", one.tensor);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    for (const Attribute& attribute : node.attributes)
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value); tensor && node.inputs.empty())
        add(operation_name(node, i), origin_op(node).c_str(), *tensor);
  }
}

// Operations all of whose results are too small.
void add_flushed_ranges(const Model& model, const Roots& roots, const HalfOptions& options,
                        HalfResult& result) {
  AnalysisOptions watched;
  watched.setting = options.setting;
  watched.overrides = roots.overrides;
  watched.observe = [&](const Analyzed& seen) {
    for (const Abstract& output : seen.outputs) {
      if (!output.real() || output.type.element != ElementType::f32 || output.exact.defined())
        continue;
      const Interval all = hull_of(output);
      const double size = std::max(std::fabs(all.low), std::fabs(all.high));
      if (!all.has_number() || size > flush_limit(options.type) || size == 0) continue;
      result.flush.push_back({shown_name(seen.node.node, seen.name()), origin_op(seen.node.node),
                              fmt::format("every result lies in {}", to_text(all))});
    }
  };
  Analysis analysis(model, std::move(watched));
  analysis.inputs = roots.values;
  analysis.run();
}

bool all_finite(const Value& value) {
  if (!value.is_tensor() || !is_real(value.type())) return true;
  const std::vector<double> elements = value.tensor().reals();
  return std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); });
}

// What one run does: operations that make infinities or NaN out of finite numbers, and the largest
// size of what each operation gives.
struct RunTrace {
  std::map<std::string, HalfNode> broken;
  std::map<std::string, std::pair<double, std::string>> sizes;  // with the operator
};

Result<RunTrace> trace(const Model& model, std::span<const Value> inputs, std::uint64_t seed) {
  RunTrace result;
  const auto evaluator = Evaluator::make(std::make_shared<const Model>(model));
  if (!evaluator) return evaluator.error();
  EvaluateOptions options;
  options.seed = seed;
  options.observe = [&](const Evaluated& seen) {
    if (!seen.node.subgraphs.empty()) return;  // the nodes in there are seen, too
    const std::string name = shown_name(seen.node.node, seen.layer());
    const bool fine = std::all_of(seen.inputs.begin(), seen.inputs.end(), all_finite);
    for (const Value& value : seen.outputs) {
      if (!value.is_tensor() || !is_real(value.type())) continue;
      double size = 0;
      std::int64_t broken = 0;
      for (double x : value.tensor().reals()) {
        broken += std::isfinite(x) ? 0 : 1;
        size = std::max(size, std::fabs(x));
      }
      auto& largest = result.sizes[name];
      largest = {std::max(largest.first, size), origin_op(seen.node.node)};
      if (fine && broken > 0)
        result.broken[name] = {
            name, origin_op(seen.node.node),
            fmt::format("{} of {} results are infinite or NaN", broken, value.tensor().size())};
    }
  };
  const auto outputs = (*evaluator)->run(inputs, options);
  if (!outputs) return outputs.error();
  return result;
}

}  // namespace

HalfResult lint_as(const Model& model, const Roots& roots, const HalfOptions& options) {
  HalfResult result;
  result.type = options.type;
  const Assessment before = judge(model, roots, options.setting);
  const auto failing = [&](const Model& changed) {
    std::vector<LintNode> found;
    for (LintNode& node : judge(changed, roots, options.setting).nodes)
      if (is_unsafe(node) && is_safe(before, node.name)) found.push_back(std::move(node));
    return found;
  };
  for (const LintNode& node : failing(retyped(model, options.type, {}).model))
    result.overflow.push_back({node.name, node.op, node.why});
  add_flushed_constants(model, options.type, result);
  add_flushed_ranges(model, roots, options, result);
  KeepSearch(model, options, [&](const Model& changed) {
    std::optional<std::vector<std::string>> names(std::in_place);
    for (const LintNode& node : failing(changed)) names->push_back(node.name);
    return names;
  }).run(result);
  return result;
}

Result<HalfResult> run_as(const Model& model, std::span<const Value> inputs,
                          const HalfOptions& options) {
  HalfResult result;
  result.type = options.type;
  const Result<RunTrace> before = trace(model, inputs, options.seed);
  if (!before) return before.error();
  const Result<RunTrace> first =
      trace(retyped(model, options.type, {}).model, inputs, options.seed);
  if (!first) return first.error();
  // An operation is lost if it gives nothing but zeros, and gave more.
  const auto lost = [&](const RunTrace& after) {
    std::vector<HalfNode> found;
    for (const auto& [name, size] : after.sizes) {
      const auto was = before->sizes.find(name);
      if (was != before->sizes.end() && was->second.first > 0 && size.first == 0)
        found.push_back(
            {name, size.second, fmt::format("results up to {:g} become 0", was->second.first)});
    }
    return found;
  };
  for (const auto& [name, node] : first->broken)
    if (!before->broken.contains(name)) result.overflow.push_back(node);
  result.flush = lost(*first);
  KeepSearch(model, options, [&](const Model& changed) {
    std::optional<std::vector<std::string>> names;
    const Result<RunTrace> after = trace(changed, inputs, options.seed);
    if (!after) return names;
    names.emplace();
    for (const auto& [name, node] : after->broken)
      if (!before->broken.contains(name)) names->push_back(name);
    for (const HalfNode& node : lost(*after)) names->push_back(node.name);
    return names;
  }).run(result);
  return result;
}

}  // namespace assay
