// Every version that means something else is shown by example: the versions of an operator fall
// into spans of one meaning, each span has an example of its own, and each change of meaning has an
// example on which the versions before and after it part.
//
// A meaning changes where another entry begins, where the standard's table changes in more than the
// types it allows, and where an example is evaluated or refused otherwise than one version before.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catalogue/corpus.h"
#include "compare/case_file.h"
#include "ops/catalogue.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::uint64_t kSeed = 7;

using Name = std::pair<std::string_view, std::string_view>;  // domain, operator

// The corpus and what its case files refuse and allow, by operator.
std::map<Name, std::vector<Specimen>> examples() {
  std::map<Name, std::vector<Specimen>> found;
  const auto add = [&](Specimen specimen) {
    const Lookup lookup = find_operator(specimen.node.domain, specimen.node.op, specimen.opset);
    found[{lookup.schema->domain, lookup.schema->name}].push_back(std::move(specimen));
  };
  for (const Specimen& specimen : corpus()) add(specimen);
  for (const auto& file : find_case_files("tests/cases")) {
    const auto cases = read_cases(file);
    EXPECT_TRUE(cases) << file;
    if (!cases) continue;
    for (const TextCase& one : *cases)
      for (const auto* changes : {&one.refusals, &one.legal})
        for (const TextChange& change : *changes) {
          Specimen specimen{one.name, change.node, static_cast<int>(opset_of(one)), {}};
          for (const NamedValue& input : change.inputs) specimen.inputs.push_back(input.value);
          add(std::move(specimen));
        }
  }
  return found;
}

bool same_formals(std::span<const FormalParameter> a, std::span<const FormalParameter> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.arity == y.arity && x.homogeneous == y.homogeneous && x.min_arity == y.min_arity;
  });
}

bool same_attribute(const AttributeFormal& a, const AttributeFormal& b) {
  return a.name == b.name && a.kind == b.kind && a.required == b.required &&
         a.has_default == b.has_default && a.real == b.real && a.integer == b.integer &&
         a.text == b.text && std::ranges::equal(a.reals, b.reals) &&
         std::ranges::equal(a.integers, b.integers) && std::ranges::equal(a.texts, b.texts);
}

// Whether the standard's table says of both the same, but for the types.
bool same_table(const Schema& a, const Schema& b) {
  return same_formals(a.inputs, b.inputs) && same_formals(a.outputs, b.outputs) &&
         std::ranges::equal(a.attributes, b.attributes, same_attribute);
}

// What comes of an example at a version.
struct Outcome {
  Result<std::vector<Value>> values;

  // "Abs.type" of a refusal, else empty.
  std::string rule() const {
    if (values) return {};
    const std::string& message = values.error().message;
    const std::size_t open = message.rfind('(');
    return open == std::string::npos ? values.error().kind : message.substr(open);
  }
  bool wrong_type() const { return rule().ends_with(".type)") || rule().ends_with(".same-type)"); }
};

bool same_value(const Value& a, const Value& b) {
  if (a.is_tensor() != b.is_tensor() || a.kind() != b.kind()) return false;
  return !a.is_tensor() || (a.type() == b.type() && identical(a.tensor(), b.tensor()));
}

// Which types a version takes is not a change of what it computes.
bool part(const Outcome& a, const Outcome& b) {
  if (a.wrong_type() || b.wrong_type()) return false;
  if (!a.values || !b.values) return a.rule() != b.rule();
  return !std::ranges::equal(*a.values, *b.values, same_value);
}

bool has_graph(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& one) {
    return std::holds_alternative<std::shared_ptr<const Graph>>(one.value);
  });
}

// The nodes of a graph change with the versions as well, which says nothing of the one around them:
// it is told by what it refuses itself.
bool by_itself(const Node& node, const Outcome& a, const Outcome& b) {
  const std::string own = "(" + node.op + ".";
  return !has_graph(node) || a.rule().starts_with(own) || b.rule().starts_with(own);
}

// The versions of one operator, oldest first, and what is known of each.
struct History {
  std::vector<const Schema*> schemas;
  std::vector<bool> stated;  // a change by entry or table, against the one before
  std::vector<std::vector<const Specimen*>> at;  // the examples of each version
  std::vector<std::set<std::size_t>> parted;  // versions of the examples that part it from before

  std::size_t index(int opset) const {
    std::size_t i = schemas.size() - 1;
    while (i > 0 && schemas[i]->since_version > opset) --i;
    return i;
  }
  bool changes(std::size_t i) const { return i == 0 || stated[i] || !parted[i].empty(); }
  std::size_t first_of_span(std::size_t i) const {
    while (!changes(i)) --i;
    return i;
  }
};

void compare_versions(const Specimen& specimen, History& history) {
  const std::size_t own = history.index(specimen.opset);
  history.at[own].push_back(&specimen);
  std::vector<Outcome> outcomes;
  for (const Schema* schema : history.schemas) {
    outcomes.push_back({evaluate_node(specimen.node, schema->since_version, specimen.inputs,
                                      Reading::value, nullptr, kSeed)});
  }
  for (std::size_t i = 1; i < outcomes.size(); ++i) {
    const Outcome &before = outcomes[i - 1], &after = outcomes[i];
    if (part(before, after) && by_itself(specimen.node, before, after))
      history.parted[i].insert(own);
  }
}

History history_of(Name name, const std::vector<Specimen>& specimens) {
  History history;
  for (const Schema& schema : schemas())
    if (schema.domain == name.first && schema.name == name.second)
      history.schemas.push_back(&schema);
  const std::size_t versions = history.schemas.size();
  history.at.resize(versions);
  history.parted.resize(versions);
  history.stated.resize(versions, false);
  const auto entry = [&](std::size_t i) {
    return find_operator(name.first, name.second, history.schemas[i]->since_version).entry;
  };
  for (std::size_t i = 1; i < versions; ++i) {
    history.stated[i] =
        entry(i) != entry(i - 1) || !same_table(*history.schemas[i], *history.schemas[i - 1]);
  }
  for (const Specimen& specimen : specimens) compare_versions(specimen, history);
  return history;
}

std::string span_text(const History& history, std::size_t first) {
  std::string text = fmt::format("{}", history.schemas[first]->since_version);
  for (std::size_t i = first + 1; i < history.schemas.size() && !history.changes(i); ++i)
    text += fmt::format(", {}", history.schemas[i]->since_version);
  return text;
}

void expect_shown(Name name, const History& history) {
  for (std::size_t i = 0; i < history.schemas.size(); ++i) {
    if (!history.changes(i)) continue;
    bool any = false;
    for (std::size_t k = i; k < history.schemas.size() && (k == i || !history.changes(k)); ++k)
      any = any || !history.at[k].empty();
    EXPECT_TRUE(any) << name.first << " " << name.second << ": no case of version "
                     << span_text(history, i);
    if (i == 0) continue;
    const std::size_t before = history.first_of_span(i - 1);
    const bool parted =
        std::any_of(history.parted[i].begin(), history.parted[i].end(), [&](std::size_t own) {
          const std::size_t span = history.first_of_span(own);
          return span == i || span == before;
        });
    EXPECT_TRUE(parted) << name.first << " " << name.second << ": no case tells version "
                        << history.schemas[i]->since_version << " from "
                        << history.schemas[i - 1]->since_version;
  }
}

TEST(Versions, EachMeaningHasACaseAndEachChangeOneThatShowsIt) {
  for (const auto& [name, specimens] : examples()) expect_shown(name, history_of(name, specimens));
}

}  // namespace
}  // namespace assay
