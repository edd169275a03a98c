#include "compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/agreement.h"
#include "compare/labels.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One instance of one output on both sides: elements, the reference's, and how far both together
// may lie apart.
struct Instance {
  std::vector<double> a, b, truth, room;
  bool comparable = true;  // else the sides have nothing in common that could be measured
};

bool is_plain(const Value* value) {
  return value && value->is_tensor() && has_numbers(value->type());
}

// An output whose first axis counts instances is taken apart; any other is one instance.
std::vector<Instance> instances_of(const Value& a, const Value& b, const Spread& spread,
                                   bool apart) {
  const std::vector<double> left = a.tensor().reals(), right = b.tensor().reals(),
                            truth = spread.value.tensor().reals();
  const auto count = static_cast<std::size_t>(
      apart && !a.shape().empty() ? std::max<std::int64_t>(a.shape()[0], 1) : 1);
  const std::size_t size = left.size() / count;
  std::vector<Instance> instances;
  for (std::size_t k = 0; k < count; ++k) {
    const auto cut = [&](const std::vector<double>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(k * size);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    instances.push_back({cut(left), cut(right), cut(truth), cut(spread.allowance)});
    if (spread.given) continue;
    for (double& room : instances.back().room) room *= 2;  // each side has its own
  }
  return instances;
}

// What cannot be measured element by element is equal, or is not.
Instance whole(const Value* a, const Value* b, const Spread& spread) {
  Instance one;
  one.comparable = spread.open || (a && b && agrees(*a, *b, {}).agrees);
  return one;
}

// |a - b| as a multiple of what both together are allowed.
double bound_distance(const Instance& one) {
  if (!one.comparable) return kInfinity;
  double worst = 0;
  for (std::size_t i = 0; i < one.a.size(); ++i) {
    if (one.a[i] == one.b[i] || (std::isnan(one.a[i]) && std::isnan(one.b[i]))) continue;
    const double room = one.room[i], distance = std::abs(one.a[i] - one.b[i]);
    if (room == kInfinity) continue;
    worst = std::max(worst, std::isnan(distance) || room == 0 ? kInfinity : distance / room);
  }
  return worst;
}

std::int64_t count_ties(const Instance& one) {
  std::int64_t ties = 0;
  for (std::size_t i = 0; i < one.a.size(); ++i) {
    const bool same = one.a[i] == one.b[i] || (std::isnan(one.a[i]) && std::isnan(one.b[i]));
    ties += !same && one.room[i] == kInfinity;
  }
  return ties;
}

// The pieces of a pair, each with the instances of each output.
using Pieces = std::vector<std::vector<std::vector<Instance>>>;

Pieces take_apart(const Subject& subject, const Comparison& comparison, const BackendRecord& a,
                  const BackendRecord& b) {
  const std::vector<NamedType>& outputs = subject.model->graph.outputs;
  const bool apart = subject.labels.has_value() || subject.pieces.size() > 1;
  Pieces pieces;
  for (std::size_t piece = 0; piece < comparison.spreads.size(); ++piece) {
    std::vector<std::vector<Instance>>& here = pieces.emplace_back();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Value *left = a.output(piece, outputs[i].name),
                  *right = b.output(piece, outputs[i].name);
      const Spread& spread = comparison.spreads[piece][i];
      const bool same = is_plain(left) && is_plain(right) && is_plain(&spread.value) &&
                        left->type() == right->type() && left->shape() == right->shape() &&
                        left->shape() == spread.value.shape();
      here.push_back(same ? instances_of(*left, *right, spread, apart)
                          : std::vector<Instance>{whole(left, right, spread)});
    }
  }
  return pieces;
}

std::vector<Instance> all_of(const Pieces& pieces, std::size_t output) {
  std::vector<Instance> all;
  for (const auto& piece : pieces) {
    for (const Instance& one : piece[output]) {
      if (!one.truth.empty() || !one.comparable) all.push_back(one);
    }
  }
  return all;
}

void finish(Metric metric, const std::vector<double>& distances, PairRow& row) {
  row.metric = to_text(metric);
  row.instances = static_cast<std::int64_t>(distances.size());
  for (const double distance : distances) row.largest = std::max(row.largest, distance);
  row.pattern = pattern_of(metric, distances, row.threshold);
}

// An instance is as far away as its worst output. An output that does not come apart like the first
// belongs to every instance of its piece.
PairRow bound_row(PairRow row, const Pieces& pieces) {
  row.threshold = 1;
  std::vector<double> distances;
  for (const auto& outputs : pieces) {
    std::vector<double> here(outputs.front().size(), 0);
    for (const std::vector<Instance>& instances : outputs) {
      for (std::size_t k = 0; k < instances.size(); ++k) {
        const double distance = bound_distance(instances[k]);
        row.ties += count_ties(instances[k]);
        if (instances.size() == here.size()) {
          here[k] = std::max(here[k], distance);
        } else {
          for (double& one : here) one = std::max(one, distance);
        }
      }
    }
    distances.insert(distances.end(), here.begin(), here.end());
  }
  for (const double distance : distances) row.triggering += distance > 1;
  finish(Metric::bound, distances, row);
  return row;
}

PairRow mad_row(PairRow row, const std::vector<Instance>& instances, const Tensor* labels) {
  row.threshold = kMadThreshold;
  std::vector<double> distances;
  std::size_t next = 0;
  const std::vector<double> given = labels ? labels->reals() : std::vector<double>();
  for (const Instance& one : instances) {
    std::vector<double> real = one.truth;
    if (labels && are_classes(*labels)) {  // a class: its one-hot vector
      std::fill(real.begin(), real.end(), 0);
      const auto label = static_cast<std::size_t>(given[distances.size()]);
      if (label < real.size()) real[label] = 1;
    } else if (labels) {
      const auto begin = given.begin() + static_cast<std::ptrdiff_t>(next);
      real.assign(begin, begin + static_cast<std::ptrdiff_t>(real.size()));
      next += real.size();
    }
    const double distance = mad_distance(one.a, one.b, real);
    distances.push_back(distance);
    row.triggering += distance > kMadThreshold && (labels || bound_distance(one) > 1);
  }
  finish(Metric::mad, distances, row);
  return row;
}

PairRow class_row(PairRow row, const std::vector<Instance>& instances, const Tensor& labels) {
  row.threshold = kClassThreshold;
  std::vector<double> distances;
  for (const Instance& one : instances) {
    const std::int64_t label = labels.integer(static_cast<std::int64_t>(distances.size()));
    distances.push_back(class_distance(one.a, one.b, label));
    row.triggering += distances.back() > kClassThreshold;
  }
  finish(Metric::class_rank, distances, row);
  return row;
}

// How far apart the allowances alone can put two vectors; the square of that is what an angle can
// be. Elements that rounding decides are left out on both sides.
double allowed(Metric metric, const Instance& one) {
  double room = 0, size = 0;
  for (std::size_t i = 0; i < one.truth.size(); ++i) {
    if (std::isfinite(one.room[i])) room += one.room[i] * one.room[i];
    if (std::isfinite(one.truth[i])) size += one.truth[i] * one.truth[i];
  }
  const double ratio = size > 0 ? std::sqrt(room / size) : 0;
  return metric == Metric::l2 ? ratio : ratio * ratio + 0x1p-50;
}

PairRow vector_row(Metric metric, PairRow row, const std::vector<Instance>& instances) {
  std::vector<double> distances;
  for (Instance one : instances) {
    for (std::size_t i = 0; i < one.a.size(); ++i) {
      if (one.room[i] == kInfinity) one.b[i] = one.a[i];
    }
    const double distance = !one.comparable        ? kInfinity
                            : metric == Metric::l2 ? l2_distance(one.a, one.b, one.truth)
                                                   : cosine_distance(one.a, one.b);
    const double threshold = allowed(metric, one);
    row.threshold = std::max(row.threshold, threshold);
    row.triggering += distance > threshold;
    distances.push_back(distance);
  }
  finish(metric, distances, row);
  return row;
}

// The tolerances that would let the pair pass.
void add_needs(const Pieces& pieces, PairRow& row) {
  for (const auto& outputs : pieces) {
    for (const std::vector<Instance>& instances : outputs) {
      for (const Instance& one : instances) {
        for (std::size_t i = 0; i < one.a.size(); ++i) {
          const double distance = std::abs(one.a[i] - one.b[i]);
          if (!(distance > 0)) continue;
          row.absolute = std::max(row.absolute, distance);
          row.relative = std::max(row.relative, distance / std::abs(one.b[i]));
        }
      }
    }
  }
}

PairRow row_of(Metric metric, PairRow row, const Pieces& pieces, std::size_t output,
               const Tensor* labels) {
  if (metric == Metric::bound) return bound_row(std::move(row), pieces);
  const std::vector<Instance> instances = all_of(pieces, output);
  if (metric == Metric::mad) return mad_row(std::move(row), instances, labels);
  if (metric == Metric::class_rank) return class_row(std::move(row), instances, *labels);
  return vector_row(metric, std::move(row), instances);
}

// What is asked for: each metric with the output that it is about.
std::vector<std::pair<Metric, std::size_t>> metrics_of(const Subject& subject) {
  const std::vector<NamedType>& outputs = subject.model->graph.outputs;
  const bool classes = subject.labels && are_classes(*subject.labels);
  std::vector<std::pair<Metric, std::size_t>> wanted;
  for (const auto& [name, metrics] : subject.criteria.metrics) {
    std::size_t output = 0;
    while (!name.empty() && outputs[output].name != name) ++output;
    for (const Metric metric : metrics) {
      // Labels are about the first output.
      wanted.emplace_back(metric, metric == Metric::class_rank ? 0 : output);
    }
  }
  if (!wanted.empty()) return wanted;
  wanted = {{Metric::bound, 0}, {Metric::mad, 0}};
  if (classes) wanted.emplace_back(Metric::class_rank, 0);
  return wanted;
}

}  // namespace

std::vector<PairRow> compare_pairs(const Subject& subject, const Comparison& comparison) {
  std::vector<PairRow> rows;
  const std::vector<NamedType>& outputs = subject.model->graph.outputs;
  const Tensor* labels = subject.labels ? &*subject.labels : nullptr;
  for (std::size_t i = 0; i < comparison.backends.size(); ++i) {
    for (std::size_t j = i + 1; j < comparison.backends.size(); ++j) {
      const BackendRecord &a = comparison.backends[i], &b = comparison.backends[j];
      if (!a.alive || !b.alive || outputs.empty()) continue;
      const Pieces pieces = take_apart(subject, comparison, a, b);
      PairRow row;
      row.a = a.name;
      row.b = b.name;
      add_needs(pieces, row);
      for (const auto& [metric, output] : metrics_of(subject)) {
        rows.push_back(row_of(metric, row, pieces, output, output == 0 ? labels : nullptr));
        if (metric != Metric::bound) rows.back().output = outputs[output].name;
      }
    }
  }
  return rows;
}

}  // namespace assay
