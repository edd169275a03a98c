#include "numeric/judge.h"

#include <algorithm>

#include "graph/origin.h"
#include "numeric/checks/check.h"
#include "numeric/checks/node_checks.h"

namespace assay {
namespace {

// The path and the name that a person knows the node by.
std::string shown_name(const Analyzed& seen) {
  const std::string* origin = find_property(seen.node.node.metadata, kOriginNode);
  return origin ? *origin : seen.name();
}

// The worst that the functions of a node's body can meet; `checked` tells whether a check is about
// any of them.
struct Found {
  bool checked = false;
  std::string check;
  Interval range = Interval::no_number(false);
  std::optional<Danger> danger;
};

void examine(const Applied& applied, const NumericCheck& check, Found& found) {
  std::optional<Danger> danger = check.judge(applied);
  const Interval& argument = check.function == Operation::divide ? applied.b : applied.a;
  if (!found.checked || (danger && !found.danger)) found.check = check.id;
  found.checked = true;
  if (!found.danger)
    found.range = danger                     ? danger->argument
                  : found.range.has_number() ? hull(found.range, argument)
                                             : argument;
  if (danger && (!found.danger || (danger->certain && !found.danger->certain))) {
    found.range = danger->argument;
    found.check = check.id;
    found.danger = std::move(danger);
  }
}

Found examine(const Analyzed& seen) {
  Found found;
  const bool integers = !seen.outputs.empty() && seen.outputs[0].is_tensor() &&
                        !is_real(seen.outputs[0].type.element) &&
                        std::none_of(seen.inputs.begin(), seen.inputs.end(),
                                     [](const Abstract& x) { return x.real(); });
  for (Applied applied : seen.applied) {
    if (integers) applied.smallest = 1;  // an integer divisor between -1 and 1 is 0
    for (const NumericCheck& check : numeric_checks())
      if (check.function == applied.function) examine(applied, check, found);
  }
  const auto whole = [&](std::optional<Danger> danger, const char* id) {
    if (!danger || found.danger) return;
    found.checked = true;
    found.check = id;
    found.range = danger->argument;
    found.danger = std::move(danger);
  };
  whole(judge_index(seen), "lint.index");
  whole(judge_overflow(seen), "lint.overflow");
  whole(judge_nan(seen), "lint.nan");
  return found;
}

void merge(LintNode& into, LintNode&& other) {
  if (other.verdict == LintVerdict::warning && into.verdict != LintVerdict::warning)
    into = std::move(other);
}

class Judge {
 public:
  explicit Judge(const Roots& roots) : roots_(&roots) {}

  void operator()(const Analyzed& seen) {
    const std::string name = shown_name(seen);
    if (seen.unknown && unknown_.insert(name).second)
      result.unknown.emplace_back(name, seen.reason);
    Found found = examine(seen);
    if (!found.checked && !seen.unreachable) return;
    LintNode node;
    node.name = name;
    node.op = origin_op(seen.node.node);
    node.check = found.check;
    node.range = found.range;
    node.verdict = found.danger ? LintVerdict::warning : LintVerdict::safe;
    node.why = found.danger ? found.danger->why : "every argument is in the domain";
    if (seen.unreachable) {
      node.verdict = LintVerdict::unreachable;
      node.why = "no value gets here";
    }
    std::set<int> depends, mixed;
    for (const Abstract& input : seen.inputs)
      depends.insert(input.roots.begin(), input.roots.end());
    for (const Abstract& output : seen.outputs)
      mixed.insert(output.mixed.begin(), output.mixed.end());
    for (int root : depends)
      node.cause.push_back(roots_->roots[static_cast<std::size_t>(root)].name);
    // An operation of a framework may stand as several nodes: they share a name and a verdict.
    const auto [place, fresh] = places_.try_emplace(name, result.nodes.size());
    if (fresh) {
      result.nodes.push_back(std::move(node));
      result.roots.push_back(std::move(depends));
      result.mixed.push_back(std::move(mixed));
    } else {
      result.roots[place->second].insert(depends.begin(), depends.end());
      result.mixed[place->second].insert(mixed.begin(), mixed.end());
      merge(result.nodes[place->second], std::move(node));
    }
  }

  Assessment result;

 private:
  const Roots* roots_;
  std::map<std::string, std::size_t> places_;
  std::set<std::string> unknown_;
};

}  // namespace

Assessment judge(const Model& model, const Roots& roots, const Setting& setting) {
  Judge judge(roots);
  AnalysisOptions options;
  options.setting = setting;
  options.overrides = roots.overrides;
  options.observe = [&](const Analyzed& seen) { judge(seen); };
  Analysis analysis(model, std::move(options));
  analysis.inputs = roots.values;
  analysis.run();
  return std::move(judge.result);
}

bool is_safe(const Assessment& judgement, const std::string& name) {
  const auto found = std::find_if(judgement.nodes.begin(), judgement.nodes.end(),
                                  [&](const LintNode& node) { return node.name == name; });
  return found == judgement.nodes.end() || found->verdict != LintVerdict::warning;
}

}  // namespace assay
