#include "numeric/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fnmatch.h>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/origin.h"
#include "numeric/preprocess.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Error usage(const std::string& where, const std::string& message) {
  return {"usage", fmt::format("{}: {}", where, message), where};
}

std::optional<std::optional<double>> parse_end(const Json& end) {
  if (end.is_null()) return std::optional<double>{};
  if (end.is_boolean()) return end.get<bool>() ? 1.0 : 0.0;
  if (!end.is_number()) return std::nullopt;
  return end.get<double>();
}

Result<GivenRange> parse_range(const Json& value, const std::string& name,
                               const std::string& where) {
  if (value.is_null()) return GivenRange{};
  const auto wrong = [&](const char* what) {
    return usage(where, fmt::format("the range of '{}' {}", name, what));
  };
  if (!value.is_array() || value.size() != 2) return wrong("is not [low, high] or null");
  const auto low = parse_end(value[0]), high = parse_end(value[1]);
  if (!low || !high) return wrong("has an end that is no number");
  if ((*low && std::isnan(**low)) || (*high && std::isnan(**high))) return wrong("has a NaN");
  if (*low && *high && **low > **high) return wrong("ends below its beginning");
  return GivenRange{*low, *high};
}

// A list of ranges is one whose first element is itself a list, or a null beside others.
bool is_list(const Json& value) {
  return value.is_array() &&
         std::any_of(value.begin(), value.end(), [](const Json& one) { return one.is_array(); });
}

Result<std::vector<RangeRule>> parse_rules(const Json& map, const std::string& where) {
  std::vector<RangeRule> rules;
  if (!map.is_object()) return usage(where, "ranges are not an object of names");
  for (const auto& [name, value] : map.items()) {
    RangeRule rule{name, {}};
    const Json alone = Json::array({value});
    for (const Json& one : is_list(value) ? value : alone) {
      Result<GivenRange> range = parse_range(one, name, where);
      if (!range) return range.error();
      rule.ranges.push_back(*range);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

Interval in_type(const GivenRange& given, ElementType type) {
  const Interval whole = finite_range(type);
  return {given.low.value_or(whole.low), given.high.value_or(whole.high), false};
}

// The names by which a person may call an input: its own, that of what it comes from, the queue's.
struct CalledBy {
  const std::string* name;
  std::size_t index = 0;  // which range of a list
};
using Called = std::vector<CalledBy>;

Called names_of(const NamedType& input) {
  Called names = {{&input.name, 0}};
  const std::string* place = find_property(input.metadata, kOriginIndex);
  const std::size_t index = place ? static_cast<std::size_t>(std::stoul(*place)) : 0;
  if (const std::string* node = find_property(input.metadata, kOriginNode))
    names.push_back({node, index});
  if (const std::string* source = find_property(input.metadata, kOriginSource))
    names.push_back({source, index});
  return names;
}

// Finds the rule for a name; an exact name beats a glob, and the first rule wins.
class Matcher {
 public:
  explicit Matcher(const Ranges& ranges) : ranges_(&ranges) {
    for (const auto* rules : {&ranges.parameters, &ranges.inputs})
      for (const RangeRule& rule : *rules) lengths_ |= bit_of(rule.name);
  }

  const GivenRange* find(std::span<const CalledBy> names, bool parameter, bool scalar,
                         bool* exactly = nullptr) {
    const auto& own = parameter ? ranges_->parameters : ranges_->inputs;
    const auto& other = parameter ? ranges_->inputs : ranges_->parameters;
    const bool named = std::ranges::any_of(
        names, [&](const CalledBy& name) { return (bit_of(*name.name) & lengths_) != 0; });
    for (const auto* rules : {&own, &other}) {
      if (!named) break;
      for (const RangeRule& rule : *rules)
        for (const CalledBy& name : names)
          if (rule.name == *name.name && !rule.name.empty()) {
            if (exactly) *exactly = true;
            return used(rule, name.index);
          }
    }
    if (parameter && scalar) return nullptr;
    for (const RangeRule& rule : own)
      for (const CalledBy& name : names)
        if (rule.is_glob() && glob_fits(rule.name, *name.name)) return used(rule, name.index);
    return nullptr;
  }

  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto* rules : {&ranges_->inputs, &ranges_->parameters})
      for (const RangeRule& rule : *rules)
        if (!used_.contains(&rule) && !rule.is_glob()) names.push_back(rule.name);
    return names;
  }

 private:
  const GivenRange* used(const RangeRule& rule, std::size_t index) {
    used_.insert(&rule);
    return &rule.ranges[std::min(index, rule.ranges.size() - 1)];
  }

  // Of 10^5 nodes hardly any has a name as long as one of the rules'.
  static std::uint64_t bit_of(const std::string& name) {
    return std::uint64_t{1} << name.size() % 64;
  }

  const Ranges* ranges_;
  std::uint64_t lengths_ = 0;
  std::set<const RangeRule*> used_;
};

void add_root(Roots& result, const std::string& name, const ValueType& type,
              const GivenRange* given, bool parameter) {
  Root root{name, parameter, given != nullptr && (given->low || given->high), {}};
  Abstract value = anything(type);
  if (type.is_tensor() && has_numbers(type.element)) {
    root.range = in_type(given ? *given : GivenRange{}, type.element);
    value = uniform(type, root.range);
    // A byte has so few values that its type says enough.
    value.assumed = !root.given && (is_real(type.element) || bit_width(type.element) > 8);
  }
  value.roots = RootSet(static_cast<int>(result.roots.size()));
  result.values[name] = std::move(value);
  result.roots.push_back(std::move(root));
}

// What an optimiser keeps for itself holds what its steps make of it, unless someone says
// otherwise.
void narrow_slot(Roots& result, const NamedType& input) {
  const std::string* least = find_property(input.metadata, kOriginLeast);
  const std::string* most = find_property(input.metadata, kOriginMost);
  if (!least || !most) return;
  Root& root = result.roots.back();
  const Interval inside = meet(root.range, {std::stod(*least), std::stod(*most), false});
  if (!inside.has_number()) return;
  Abstract& value = result.values.at(root.name);
  root.range = inside;
  for (Cell& cell : value.cells) cell.range = inside;
}

std::optional<GivenRange> told_by_nodes(const Model& model, const NamedType& input, Roots& result) {
  const std::optional<PreparedInput> prepared = prepared_input(model, input);
  if (!prepared) return std::nullopt;
  result.found.push_back({input.name, prepared->range, prepared->by});
  return GivenRange{prepared->range.low, prepared->range.high};
}

void add_node_ranges(Roots& result, const Graph& graph, Matcher& matcher) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::array<CalledBy, 3> names = {
          {{&node.outputs[i], 0}, {&node.name, i}, {&origin_name(node), i}}};
      const GivenRange* given = node.outputs[i].empty() ? nullptr : matcher.find(names, true, true);
      if (given && given->low && given->high)
        result.overrides[node.outputs[i]] = {*given->low, *given->high, false};
    }
  }
}

}  // namespace

bool glob_fits(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

Result<Ranges> parse_ranges(const std::string& text, const std::string& where) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object())
    return usage(where, "this is no JSON object of ranges");
  Ranges ranges;
  for (const auto& [key, value] : document.items()) {
    if (key != "inputs" && key != "parameters")
      return usage(where, fmt::format("'{}' is neither inputs nor parameters", key));
    Result<std::vector<RangeRule>> rules = parse_rules(value, where);
    if (!rules) return rules.error();
    (key == "inputs" ? ranges.inputs : ranges.parameters) = *std::move(rules);
  }
  return ranges;
}

Roots apply_ranges(const Model& model, const Ranges& ranges) {
  Roots result;
  Matcher matcher(ranges);
  std::map<std::string, const NamedTensor*> initializers;
  for (const NamedTensor& one : model.graph.initializers) initializers[one.name] = &one;
  for (const NamedType& input : model.graph.inputs) {
    const bool valued = initializers.contains(input.name);
    const bool parameter = valued || is_parameter(input);
    const bool scalar = input.type.dims && input.type.dims->empty();
    bool exactly = false;
    const GivenRange* given = matcher.find(names_of(input), parameter, scalar, &exactly);
    const auto recorded = ranges.data.find(input.name);
    if (!given && recorded != ranges.data.end()) given = &recorded->second;
    if (!given && valued) continue;
    const std::optional<GivenRange> told =
        given || parameter ? std::nullopt : told_by_nodes(model, input, result);
    if (told) given = &*told;
    add_root(result, input.name, input.type, given, parameter);
    if (!exactly) narrow_slot(result, input);
    initializers.erase(input.name);
  }
  for (const NamedTensor& one : model.graph.initializers) {
    if (!initializers.contains(one.name)) continue;
    const GivenRange* given = matcher.find(Called{{&one.name, 0}}, true, one.tensor.rank() == 0);
    if (!given || !is_real(one.tensor.type())) continue;
    add_root(result, one.name, ValueType::tensor(one.tensor.type(), to_dims(one.tensor.shape())),
             given, true);
  }
  add_node_ranges(result, model.graph, matcher);
  result.unused = matcher.unused();
  return result;
}

}  // namespace assay
