#include "compare/look.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "graph/dependencies.h"
#include "graph/order.h"

namespace assay {
namespace {

std::uint64_t bytes_of(std::span<const Value> values) {
  std::uint64_t bytes = 0;
  for (const Value& value : values) {
    if (value.is_tensor()) bytes += value.tensor().byte_size();
  }
  return bytes;
}

std::vector<std::string> names_read(const Node& node) {
  std::vector<std::string> names = node.inputs;
  for_each_subgraph(node, [&](const std::string&, const Graph& graph) {
    for (std::string& name : captured_names(graph)) names.push_back(std::move(name));
  });
  std::erase(names, "");
  return names;
}

std::vector<std::string> watched_in(const Graph& graph, const Look& look) {
  std::set<std::string> names;
  for (std::size_t i = look.first; i < look.last; ++i) {
    const Node& node = graph.nodes[i];
    names.insert(node.outputs.begin(), node.outputs.end());
    for (std::string& name : names_read(node)) names.insert(std::move(name));
    names.insert(display_name(node, i) + "/");
  }
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace

void ValueSizes::observe(const Evaluated& evaluated) {
  inner_ += bytes_of(evaluated.outputs);
  if (!evaluated.path.empty()) return;
  bytes_[evaluated.node.position] += inner_;
  inner_ = 0;
}

std::vector<Look> plan_looks(const Graph& graph, const std::vector<std::uint64_t>& bytes,
                             std::uint64_t most) {
  if (std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) <= most) {
    return {{0, graph.nodes.size(), {}}};
  }
  std::vector<Look> looks;
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (looks.empty() || taken + bytes[i] > most) {
      looks.push_back({i, i, {}});
      taken = 0;
    }
    looks.back().last = i + 1;
    taken += bytes[i];
  }
  for (Look& look : looks) look.watched = watched_in(graph, look);
  return looks;
}

std::vector<bool> nodes_to_judge(const Graph& graph, const Look& look,
                                 const std::map<std::string, Tensor>& shown) {
  const Dependencies dependencies(graph.nodes);
  std::vector<bool> wanted(graph.nodes.size(), false);
  std::vector<std::size_t> open;
  for (std::size_t i = look.first; i < look.last; ++i) open.push_back(i);
  for (const std::size_t i : open) wanted[i] = true;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (const std::string& name : names_read(graph.nodes[node])) {
      const auto producer = dependencies.producer(name);
      if (!producer || wanted[*producer] || shown.contains(name)) continue;
      wanted[*producer] = true;
      open.push_back(*producer);
    }
  }
  return wanted;
}

}  // namespace assay
