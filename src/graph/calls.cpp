#include "graph/calls.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {
namespace {

using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;
using FunctionIndex = std::map<FunctionKey, std::size_t>;
enum class State : std::uint8_t { fresh, open, done };

void collect_calls(const std::vector<Node>& nodes, const FunctionIndex& index, int depth,
                   std::vector<std::size_t>& calls) {
  for (const Node& node : nodes) {
    const auto found = index.find({node.domain, node.op, node.overload});
    if (found != index.end()) calls.push_back(found->second);
    if (depth >= kMaxNesting) continue;  // reported as Graph.nesting
    for_each_subgraph(node, [&](const std::string&, const Graph& graph) {
      collect_calls(graph.nodes, index, depth + 1, calls);
    });
  }
}

std::string full_name(const Function& function) {
  std::string name =
      function.domain.empty() ? function.name : function.domain + "." + function.name;
  return function.overload.empty() ? name : name + ":" + function.overload;
}

// Depth first over the calls, with its own stack; each call back into an open function is a cycle.
void find_recursion(const Model& model, const std::vector<std::vector<std::size_t>>& calls,
                    std::vector<StructureFinding>& findings) {
  std::vector<State> state(calls.size(), State::fresh);
  for (std::size_t root = 0; root < calls.size(); ++root) {
    if (state[root] != State::fresh) continue;
    std::vector<std::pair<std::size_t, std::size_t>> open{{root, 0}};
    state[root] = State::open;
    while (!open.empty()) {
      auto& [function, next] = open.back();
      if (next == calls[function].size()) {
        state[function] = State::done;
        open.pop_back();
        continue;
      }
      const std::size_t callee = calls[function][next++];
      if (state[callee] == State::fresh) {
        state[callee] = State::open;
        open.emplace_back(callee, 0);
      } else if (state[callee] == State::open) {
        std::string chain;
        auto start = std::ranges::find(open, callee, &std::pair<std::size_t, std::size_t>::first);
        for (; start != open.end(); ++start) {
          chain += in_quotes(full_name(model.functions[start->first])) + " -> ";
        }
        const std::string name = full_name(model.functions[callee]);
        findings.push_back(
            {name, "the function calls itself: " + chain + in_quotes(name), "Graph.recursion"});
      }
    }
  }
}

}  // namespace

std::vector<StructureFinding> check_calls(const Model& model) {
  std::vector<StructureFinding> findings;
  FunctionIndex index;
  for (std::size_t i = 0; i < model.functions.size(); ++i) {
    const Function& function = model.functions[i];
    const FunctionKey key{function.domain, function.name, function.overload};
    if (!index.try_emplace(key, i).second) {
      findings.push_back({full_name(function), "the function is defined twice", "Graph.function"});
    }
  }
  std::vector<std::vector<std::size_t>> calls(model.functions.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    collect_calls(model.functions[i].nodes, index, 0, calls[i]);
    std::ranges::sort(calls[i]);
    calls[i].erase(std::unique(calls[i].begin(), calls[i].end()), calls[i].end());
  }
  find_recursion(model, calls, findings);
  return findings;
}

}  // namespace assay
