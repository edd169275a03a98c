#include "localize/rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "base/isa.h"
#include "base/parallel.h"

namespace assay {
namespace {

constexpr double kEpsilon = 1e-7;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How far apart two elements are; NaN if one of them alone is, or both are, not a number.
template <class T>
double apart(T first, T second) {
  const double difference = std::abs(static_cast<double>(first) - second);
  return first == second ? 0 : difference;
}

constexpr std::size_t kLanes = 16;

// Sums side by side: one after the other each would wait for the one before.
template <class T>
double add_apart(const T* first, const T* second, std::size_t count) {
  double sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) sums[k] += apart(first[i + k], second[i + k]);
  }
  double sum = 0;
  for (; i < count; ++i) sum += apart(first[i], second[i]);
  for (const double one : sums) sum += one;
  return sum;
}

template <class T>
double mean_difference(std::span<const T> first, std::span<const T> second) {
  double sum =
      with_widest_vectors([=] { return add_apart(first.data(), second.data(), first.size()); });
  if (std::isnan(sum)) {  // seldom, and the loop without branches is the faster one
    sum = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (std::isnan(first[i]) && std::isnan(second[i])) continue;
      const double one = apart(first[i], second[i]);
      sum += std::isnan(one) ? kInfinity : one;
    }
  }
  return first.empty() ? 0 : sum / static_cast<double>(first.size());
}

// Infinity where types or shapes differ, or only one of two elements is a number.
double mean_difference(const Value& a, const Value& b) {
  if (!a.is_tensor() || !b.is_tensor()) return 0;
  if (a.type() != b.type() || a.shape() != b.shape()) return kInfinity;
  if (!has_numbers(a.type())) {
    return identical(a.tensor(), b.tensor()) ? 0 : kInfinity;
  }
  if (a.type() == ElementType::f32) {
    return mean_difference(a.tensor().data<float>(), b.tensor().data<float>());
  }
  const std::vector<double> first = a.tensor().reals(), second = b.tensor().reals();
  return mean_difference(std::span(first), std::span(second));
}

void highlight(std::vector<LayerRate>& layers) {
  std::vector<double> rates;
  for (const LayerRate& layer : layers) rates.push_back(layer.rate);
  if (rates.empty()) return;
  std::sort(rates.begin(), rates.end());
  const double quartile =
      rates[rates.size() * 3 / 4 == rates.size() ? rates.size() - 1 : rates.size() * 3 / 4];
  for (LayerRate& layer : layers) layer.highlighted = layer.rate > quartile;
}

}  // namespace

void Deltas::add(const NamedValues& a, const NamedValues& b) {
  std::map<std::string_view, const Value*> second;
  for (const auto& [name, value] : b) second.emplace(name, &value);
  struct Pair {
    const Value *first, *second;
    double* delta;
  };
  std::vector<Pair> pairs;
  for (const auto& [name, value] : a) {
    const auto other = second.find(name);
    if (other != second.end()) pairs.push_back({&value, other->second, &deltas_[name]});
  }
  parallel_for(
      static_cast<std::int64_t>(pairs.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          *pairs[i].delta = mean_difference(*pairs[i].first, *pairs[i].second);
        }
      });
}

std::vector<LayerRate> rate_map(const Graph& graph, const Deltas& deltas) {
  std::map<std::string, double> passed;  // by value: its own, or what a hidden one was fed
  std::vector<LayerRate> layers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    LayerRate layer{display_name(node, i), node.op};
    double before = 0;
    for (const std::string& input : node.inputs) {
      const auto fed = passed.find(input);
      if (fed != passed.end()) before = std::max(before, fed->second);
    }
    bool shown = false;
    for (const std::string& output : node.outputs) {
      const auto delta = deltas.by_name().find(output);
      if (delta == deltas.by_name().end()) continue;
      shown = true;
      layer.delta = std::max(layer.delta, delta->second);
    }
    // What a backend does not show (it was folded away) passes on what fed it.
    for (const std::string& output : node.outputs) passed[output] = shown ? layer.delta : before;
    if (!shown) continue;
    layer.rate = std::isinf(layer.delta) && std::isinf(before)
                     ? 0
                     : (layer.delta - before) / (before + kEpsilon);
    layers.push_back(std::move(layer));
  }
  highlight(layers);
  return layers;
}

PairMaps::PairMaps(std::vector<std::string> backends) : backends_(std::move(backends)) {}

void PairMaps::add(const std::vector<const NamedValues*>& shown) {
  for (std::size_t a = 0; a < shown.size(); ++a) {
    for (std::size_t b = a + 1; b < shown.size(); ++b) {
      if (shown[a] && shown[b]) deltas_[{a, b}].add(*shown[a], *shown[b]);
    }
  }
}

std::vector<PairMap> PairMaps::finish(const Graph& graph) const {
  std::vector<PairMap> maps;
  for (const auto& [pair, deltas] : deltas_) {
    maps.push_back({backends_[pair.first], backends_[pair.second], rate_map(graph, deltas)});
  }
  return maps;
}

}  // namespace assay
