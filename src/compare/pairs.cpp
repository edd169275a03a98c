#include "compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/labels.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One instance of the first output on both sides: elements, the reference's, and what is allowed.
struct Instance {
  std::vector<double> a, b, truth, allowance;
};

bool is_plain(const Value* value) {
  return value && value->is_tensor() && value->type() != ElementType::string &&
         domain_of(value->type()) != Domain::complex;
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
  }
  return instances;
}

// |a - b| as a multiple of what both together are allowed.
double bound_distance(const Instance& one) {
  double worst = 0;
  for (std::size_t i = 0; i < one.a.size(); ++i) {
    if (one.a[i] == one.b[i] || (std::isnan(one.a[i]) && std::isnan(one.b[i]))) continue;
    const double room = 2 * one.allowance[i], distance = std::abs(one.a[i] - one.b[i]);
    if (room == kInfinity) continue;
    worst = std::max(worst, std::isnan(distance) || room == 0 ? kInfinity : distance / room);
  }
  return worst;
}

std::vector<Instance> all_instances(const Subject& subject, const Comparison& comparison,
                                    const BackendRecord& a, const BackendRecord& b) {
  std::vector<Instance> all;
  const std::string& name = subject.model->graph.outputs.front().name;
  for (std::size_t piece = 0; piece < comparison.spreads.size(); ++piece) {
    const Value *left = a.output(piece, name), *right = b.output(piece, name);
    const Spread& spread = comparison.spreads[piece].front();
    const bool same = is_plain(left) && is_plain(right) && is_plain(&spread.value) &&
                      left->shape() == right->shape() && left->shape() == spread.value.shape();
    if (!same) continue;
    const bool apart = subject.labels.has_value() || subject.pieces.size() > 1;
    for (Instance& one : instances_of(*left, *right, spread, apart)) all.push_back(std::move(one));
  }
  return all;
}

void count(Metric metric, const std::vector<double>& distances, PairRow& row) {
  row.metric = to_text(metric);
  row.threshold = threshold_of(metric);
  row.pattern = pattern_of(metric, distances);
}

void add_distance(double distance, PairRow& row) {
  ++row.instances;
  row.largest = std::max(row.largest, distance);
}

PairRow bound_row(PairRow row, const std::vector<Instance>& instances) {
  row.metric = "bound";
  row.threshold = 1;
  std::vector<std::int64_t> pattern(2, 0);
  for (const Instance& one : instances) {
    const double distance = bound_distance(one);
    add_distance(distance, row);
    row.triggering += distance > 1;
    ++pattern[distance > 1 ? 1 : 0];
  }
  row.pattern = pattern;
  return row;
}

PairRow mad_row(PairRow row, const std::vector<Instance>& instances, const Tensor* truth,
                bool labelled) {
  std::vector<double> distances;
  std::size_t next = 0;
  const std::vector<double> given = truth ? truth->reals() : std::vector<double>();
  for (const Instance& one : instances) {
    std::vector<double> real = one.truth;
    if (labelled && are_classes(*truth)) {  // a class: its one-hot vector
      std::fill(real.begin(), real.end(), 0);
      const auto label = static_cast<std::size_t>(given[distances.size()]);
      if (label < real.size()) real[label] = 1;
    } else if (labelled) {
      const auto begin = given.begin() + static_cast<std::ptrdiff_t>(next);
      real.assign(begin, begin + static_cast<std::ptrdiff_t>(real.size()));
      next += real.size();
    }
    const double distance = mad_distance(one.a, one.b, real);
    distances.push_back(distance);
    add_distance(distance, row);
    row.triggering += distance > kMadThreshold && (labelled || bound_distance(one) > 1);
  }
  count(Metric::mad, distances, row);
  return row;
}

PairRow class_row(PairRow row, const std::vector<Instance>& instances, const Tensor& labels) {
  std::vector<double> distances;
  for (const Instance& one : instances) {
    const std::int64_t label = labels.integer(static_cast<std::int64_t>(distances.size()));
    const double distance = class_distance(one.a, one.b, label);
    distances.push_back(distance);
    add_distance(distance, row);
    row.triggering += distance > kClassThreshold;
  }
  count(Metric::class_rank, distances, row);
  return row;
}

// The tolerances that would let the pair pass.
void add_needs(const std::vector<Instance>& instances, PairRow& row) {
  for (const Instance& one : instances) {
    for (std::size_t i = 0; i < one.a.size(); ++i) {
      const double distance = std::abs(one.a[i] - one.b[i]);
      if (!(distance > 0)) continue;
      row.absolute = std::max(row.absolute, distance);
      row.relative = std::max(row.relative, distance / std::abs(one.b[i]));
    }
  }
}

}  // namespace

std::vector<PairRow> compare_pairs(const Subject& subject, const Comparison& comparison) {
  std::vector<PairRow> rows;
  const Tensor* labels = subject.labels ? &*subject.labels : nullptr;
  for (std::size_t i = 0; i < comparison.backends.size(); ++i) {
    for (std::size_t j = i + 1; j < comparison.backends.size(); ++j) {
      const BackendRecord &a = comparison.backends[i], &b = comparison.backends[j];
      if (!a.alive || !b.alive || subject.model->graph.outputs.empty()) continue;
      const std::vector<Instance> instances = all_instances(subject, comparison, a, b);
      PairRow row;
      row.a = a.name;
      row.b = b.name;
      add_needs(instances, row);
      rows.push_back(bound_row(row, instances));
      rows.push_back(mad_row(row, instances, labels, labels != nullptr));
      if (labels && are_classes(*labels)) rows.push_back(class_row(row, instances, *labels));
    }
  }
  return rows;
}

}  // namespace assay
