#include "graph/dependencies.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "base/check.h"
#include "graph/order.h"

namespace assay {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

Dependencies::Dependencies(const std::vector<Node>& nodes) : needs_(nodes.size()) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].outputs) {
      if (!name.empty()) producers_.try_emplace(name, i);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto add = [&](const std::string& name) {
      if (const auto found = producer(name)) needs_[i].push_back(*found);
    };
    std::ranges::for_each(nodes[i].inputs, add);
    for_each_subgraph(nodes[i], [&](const std::string&, const Graph& graph) {
      std::ranges::for_each(captured_names(graph), add);
    });
    std::ranges::sort(needs_[i]);
    needs_[i].erase(std::unique(needs_[i].begin(), needs_[i].end()), needs_[i].end());
  }
  find_components();
}

std::optional<std::size_t> Dependencies::producer(std::string_view name) const {
  const auto found = producers_.find(name);
  return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

// Tarjan's strongly connected components, with a stack of its own because a chain of nodes may be
// a million long.
void Dependencies::find_components() {
  const std::size_t count = needs_.size();
  std::vector<std::size_t> index(count, kNone), low(count), next(count, 0), open, calls;
  component_.assign(count, kNone);
  std::size_t counter = 0, components = 0;
  for (std::size_t root = 0; root < count; ++root) {
    if (index[root] == kNone) calls.push_back(root);
    while (!calls.empty()) {
      const std::size_t node = calls.back();
      if (index[node] == kNone) {
        index[node] = low[node] = counter++;
        open.push_back(node);
      }
      if (next[node] < needs_[node].size()) {
        const std::size_t needed = needs_[node][next[node]++];
        if (index[needed] == kNone) {
          calls.push_back(needed);
        } else if (component_[needed] == kNone) {
          low[node] = std::min(low[node], index[needed]);
        }
        continue;
      }
      calls.pop_back();
      if (!calls.empty()) low[calls.back()] = std::min(low[calls.back()], low[node]);
      if (low[node] != index[node]) continue;
      for (std::size_t member = kNone; member != node; open.pop_back()) {
        member = open.back();
        component_[member] = components;
      }
      ++components;
    }
  }
}

bool Dependencies::in_one_cycle(std::size_t a, std::size_t b) const {
  return component_[a] == component_[b];
}

std::vector<std::size_t> Dependencies::path(std::size_t from, std::size_t to) const {
  ASSAY_CHECK(in_one_cycle(from, to));
  std::unordered_map<std::size_t, std::size_t> came_from{{from, from}};
  std::deque<std::size_t> queue{from};
  while (!queue.empty() && !came_from.contains(to)) {
    const std::size_t node = queue.front();
    queue.pop_front();
    for (const std::size_t needed : needs_[node]) {
      if (in_one_cycle(needed, from) && came_from.try_emplace(needed, node).second) {
        queue.push_back(needed);
      }
    }
  }
  std::vector<std::size_t> path{to};
  while (path.back() != from) path.push_back(came_from.at(path.back()));
  std::ranges::reverse(path);
  return path;
}

}  // namespace assay
