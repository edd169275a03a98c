#include "compare/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/isa.h"
#include "base/parallel.h"
#include "compare/agreement.h"
#include "compare/drawn.h"
#include "compare/pooled_reach.h"
#include "patterns/array.h"

namespace assay {
namespace {

constexpr std::int64_t kMostRuns = 5;     // one learns, the others follow
constexpr std::int64_t kGrain = 1 << 14;  // elements worth a thread
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_reals(const Value& value) { return value.is_tensor() && has_numbers(value.type()); }

// A number of [-1, 1] for each of the seeds, so that threads can share a tensor's elements. Words
// of 32 bits, of which a vector has many.
inline float unit_of(std::uint32_t seed) {
  std::uint32_t mixed = seed * 0x9e3779b9U;
  mixed = (mixed ^ (mixed >> 16)) * 0x85ebca6bU;
  mixed = (mixed ^ (mixed >> 13)) * 0xc2b2ae35U;
  return static_cast<float>(static_cast<std::int32_t>(mixed ^ (mixed >> 16))) * 0x1p-31F;
}

// A framework has tensors where the standard has optional ones.
Value plain(const Value& value) {
  const bool wrapped = value.kind() == Value::Kind::optional && value.elements().size() == 1;
  return wrapped ? Value(value.elements().front()) : value;
}

// The values that chance has a part in, by name.
class Chance {
 public:
  void follow(const Evaluated& evaluated) {
    const std::lock_guard lock(mutex_);
    const Node& node = evaluated.node.node;
    const bool touched =
        std::any_of(node.inputs.begin(), node.inputs.end(),
                    [&](const std::string& name) { return names_.contains(name); }) ||
        (!names_.empty() && !evaluated.node.subgraphs.empty());
    if (!touched && !is_drawn(evaluated.node, evaluated.inputs)) return;
    names_.insert(node.outputs.begin(), node.outputs.end());
    names_.erase("");
  }
  bool has(const std::string& name) const { return names_.contains(name); }

 private:
  std::mutex mutex_;  // runs may follow each other at the same time
  std::set<std::string> names_;
};

// How far each result of each node may lie from what was computed, by name; it takes one run in the
// slow reading to learn this, and the runs after it draw from what is known.
class Reaches {
 public:
  // Of an element that is exact, or that can become anything, the reach is 0: both stay. Others
  // reach half a unit farther than their errors, since a draw is rounded to the format: it would
  // else show no result but the best one of an operation that is rounded correctly, and two such
  // operations that somebody computes as one have no such result between them.
  const Buffer<float>& learn(const std::string& name, const Value& value) {
    if (too_large()) known_.clear();
    Buffer<float>& reach = known_[name];
    reach.resize(value.errors()->size());
    if (value.type() == ElementType::f32) {
      find_reaches(value.tensor().data<float>().data(), value, reach);
    } else {
      find_reaches(value.tensor().reals().data(), value, reach);
    }
    bytes_ += reach.size() * sizeof(float);
    return reach;
  }
  const Buffer<float>* find(const std::string& name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? nullptr : &found->second;
  }
  // Then little of it is kept, and every run is one in the slow reading.
  bool too_large() const { return bytes_ > memory_limit() / 16; }

 private:
  template <class T>
  static void find_reaches(const T* centers, const Value& value, Buffer<float>& reach) {
    const double unit = is_real(value.type()) ? rounding_of(value.type()).unit : 0;
    const double* const errors = value.errors()->data();
    parallel_for(static_cast<std::int64_t>(reach.size()), kGrain,
                 [&](std::int64_t begin, std::int64_t end) {
                   with_widest_vectors([=, to = reach.data()] {
                     for (std::int64_t i = begin; i < end; ++i)
                       to[i] = find_reach(static_cast<double>(centers[i]), errors[i], unit);
                   });
                 });
  }

  static float find_reach(double center, double error, double unit) {
    const float far = static_cast<float>(error + unit * std::abs(center));
    return error > 0 && error < kInfinity ? far : 0.0F;
  }

  std::unordered_map<std::string, Buffer<float>> known_;
  std::size_t bytes_ = 0;
};

void draw_each(const float* from, const float* reach, float* to, std::int64_t count,
               std::uint32_t seed) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float moved = from[i] + reach[i] * unit_of(seed + static_cast<std::uint32_t>(i));
    to[i] = std::isfinite(from[i]) ? moved : from[i];
  }
}

// In the center's own place, if nobody else holds it.
Tensor draw_around(Tensor center, const Buffer<float>& reach, std::uint32_t seed) {
  const float* const from = center.data<float>().data();
  Tensor drawn =
      center.unique() ? std::move(center) : Tensor::uninitialized(ElementType::f32, center.shape());
  float* const to = drawn.mutate<float>().data();
  parallel_for(drawn.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    with_widest_vectors([=, far = reach.data()] {
      draw_each(from + begin, far + begin, to + begin, end - begin,
                seed + static_cast<std::uint32_t>(begin));
    });
  });
  return drawn;
}

// A tensor drawn from what it may be.
Tensor draw(Tensor center, const Buffer<float>& reach, std::uint32_t seed) {
  if (center.type() == ElementType::f32) return draw_around(std::move(center), reach, seed);
  std::vector<double> elements = center.reals();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (std::isfinite(elements[i]))
      elements[i] += reach[i] * unit_of(seed + static_cast<std::uint32_t>(i));
  }
  return make_tensor(center.type(), center.shape(), elements);
}

// Runs in which each node's result lies somewhere in its own bound.
class RandomRuns {
 public:
  using Watcher = std::function<void(const Evaluated&, std::span<const Value> outputs)>;
  using Drawn = Result<std::vector<Value>>;
  RandomRuns(const Evaluator& evaluator, const std::vector<Value>& inputs, std::uint64_t seed)
      : evaluator_(evaluator), inputs_(inputs), seed_(seed) {}

  Watcher before, after;  // see each node as it was evaluated, and as it was drawn

  // The first, or one of those that are too large to remember: in the slow reading.
  Drawn learn() {
    const std::uint64_t start = next_;
    const auto reach_of = [&](const std::string& name, const Value& output) {
      return output.errors() ? &reaches_.learn(name, output) : nullptr;
    };
    Drawn drawn = run(Reading::bounded, next_, reach_of);
    numbers_ = next_ - start;
    return drawn;
  }
  bool learned() const { return !reaches_.too_large(); }
  // Of those that follow the first; each draws numbers of its own.
  Drawn again(int run_number) const {
    std::uint64_t next = static_cast<std::uint64_t>(run_number) * numbers_;
    return run(Reading::value, next,
               [&](const std::string& name, const Value&) { return reaches_.find(name); });
  }

 private:
  template <class ReachOf>
  Drawn run(Reading reading, std::uint64_t& next, const ReachOf& reach_of) const {
    EvaluateOptions options;
    options.seed = seed_;
    options.reading = reading;
    options.replace = [&](const Evaluated& evaluated, std::span<Value> outputs) {
      before(evaluated, outputs);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!has_reals(outputs[i])) continue;
        Tensor center = outputs[i].tensor();
        const Buffer<float>* reach = reach_of(evaluated.name(i), outputs[i]);
        if (!reach || reach->size() != static_cast<std::size_t>(center.size())) continue;
        outputs[i] = Value();  // holds the tensor no more
        const std::uint64_t first = seed_ + std::exchange(next, next + reach->size());
        outputs[i] = draw(std::move(center), *reach, static_cast<std::uint32_t>(first));
      }
      if (after) after(evaluated, outputs);
    };
    return evaluator_.run(inputs_, options);
  }

  const Evaluator& evaluator_;
  const std::vector<Value>& inputs_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0, numbers_ = 0;  // drawn so far, and in a run
  Reaches reaches_;
};

// What draws do to the outputs of a model.
struct Outputs {
  std::vector<Spread> spreads;
  std::vector<PooledReach> pooled;  // one each

  // Whether there are enough elements to learn from each other.
  bool pools(std::size_t i) const {
    const Spread& spread = spreads[i];
    return has_reals(spread.value) && is_real(spread.value.type()) &&
           spread.allowance.size() >= PooledReach::kMany;
  }
  std::int64_t runs() const {  // that are enough
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      if (!pools(i)) return kMostRuns;
    }
    return PooledReach::kFewRuns;
  }
};

void widen(const Tensor& drawn, Spread& spread, PooledReach& pooled) {
  const std::vector<double> center = spread.value.tensor().reals(), other = drawn.reals();
  for (std::size_t i = 0; i < center.size(); ++i) {
    if (center[i] == other[i] || (std::isnan(center[i]) && std::isnan(other[i]))) continue;
    const double distance = std::abs(center[i] - other[i]);
    // A decision that rounding can turn (an index, a class) can become anything.
    const bool decision = !is_real(spread.value.type());
    const double reach = decision || std::isnan(distance) ? kInfinity : kSpreadSafety * distance;
    spread.allowance[i] = std::max(spread.allowance[i], reach);
    pooled.add(i, distance);
  }
}

// Anything may be right: chance decides, or rounding even the shape.
void leave_open(Spread& spread) {
  spread.open = true;
  spread.allowance.assign(spread.allowance.size(), kInfinity);
}

void widen(const std::vector<Value>& drawn, Outputs& outputs) {
  for (std::size_t i = 0; i < outputs.spreads.size(); ++i) {
    Spread& spread = outputs.spreads[i];
    const Value other = plain(drawn[i]);
    if (!has_reals(spread.value)) {
      spread.open = spread.open || !agrees(spread.value, other, {}).agrees;
    } else if (other.is_tensor() && other.shape() == spread.value.shape()) {
      widen(other.tensor(), spread, outputs.pooled[i]);
    } else {
      leave_open(spread);
    }
  }
}

// Runs whose reach is too large to remember are taken one after the other, since memory is short.
// Otherwise, where there are not more threads than runs, each run has its own, which beats sharing
// the loops of one; nobody may then want to see the runs in turn.
Result<void> draw_all(RandomRuns& random, bool together, Outputs& outputs) {
  const std::int64_t runs = outputs.runs();
  for (std::int64_t run = 0; run < runs && (run == 0 || !random.learned()); ++run) {
    const RandomRuns::Drawn drawn = random.learn();
    if (!drawn) return drawn.error();
    widen(*drawn, outputs);
  }
  if (!random.learned()) return {};
  std::vector<RandomRuns::Drawn> all(static_cast<std::size_t>(runs), Error{});
  const std::int64_t grain = together && thread_count() < runs ? 1 : runs;
  parallel_for(runs - 1, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin) + 1; i <= static_cast<std::size_t>(end); ++i) {
      all[i] = random.again(static_cast<int>(i));
    }
  });
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (!all[i]) return all[i].error();
    widen(*all[i], outputs);
  }
  return {};
}

// An output may at least be off by what its own node allows: a draw that is rounded to the format
// rarely shows the neighbor that is nearly as good.
void allow_last_rounding(const Graph& graph, const std::string& name, const Value& bounded,
                         std::vector<Spread>& spreads) {
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    Spread& spread = spreads[i];
    const bool own = graph.outputs[i].name == name && is_real(bounded.type()) &&
                     spread.allowance.size() == bounded.errors()->size();
    for (std::size_t k = 0; own && k < spread.allowance.size(); ++k) {
      spread.allowance[k] = std::max(spread.allowance[k], (*bounded.errors())[k]);
    }
  }
}

// Where rounding moves most elements by as much as they are, a few draws do not show which of them
// can become large, as in the softmax of huge numbers: each may what any of them did.
void share_reach(Spread& spread) {
  const std::vector<double> values = spread.value.tensor().reals();
  std::size_t lost = 0;
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double allowance = spread.allowance[i];
    if (!std::isfinite(allowance)) continue;
    lost += allowance > 0 && allowance >= kSpreadSafety * std::abs(values[i]) ? 1 : 0;
    largest = std::max(largest, allowance);
  }
  if (2 * lost <= values.size()) return;
  for (double& allowance : spread.allowance) allowance = std::max(allowance, largest);
}

// Elements that no draw happened to move, among others that moved, may still be rounded otherwise.
void allow_unmoved(Spread& spread) {
  const bool moved = std::any_of(spread.allowance.begin(), spread.allowance.end(),
                                 [](double allowance) { return allowance > 0; });
  if (!moved || !is_real(spread.value.type())) return;
  const double two_units = 4 * rounding_of(spread.value.type()).unit;
  const std::vector<double> values = spread.value.tensor().reals();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double least = two_units * std::abs(values[i]);
    if (std::isfinite(least)) spread.allowance[i] = std::max(spread.allowance[i], least);
  }
}

void find_tolerances(Spread& spread) {
  const std::vector<double> values = spread.value.tensor().reals();
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(spread.allowance[i])) continue;
    spread.absolute = std::max(spread.absolute, spread.allowance[i]);
    // Of elements near zero a relative tolerance says nothing.
    if (std::abs(values[i]) < 1e-3 * largest) continue;
    spread.relative = std::max(spread.relative, spread.allowance[i] / std::abs(values[i]));
  }
}

}  // namespace

double Spread::excess(const Value& found, std::size_t* where) const {
  if (!has_reals(value)) return open || agrees(value, found, {}).agrees ? 0 : kInfinity;
  if (!found.is_tensor() || found.type() != value.type()) return kInfinity;
  if (found.shape() != value.shape()) return open ? 0 : kInfinity;
  const std::vector<double> center = value.tensor().reals(), other = found.tensor().reals();
  double worst = 0;
  for (std::size_t i = 0; i < center.size(); ++i) {
    if (center[i] == other[i] || (std::isnan(center[i]) && std::isnan(other[i]))) continue;
    if (allowance[i] == kInfinity) continue;
    const double distance = std::abs(center[i] - other[i]);
    const double ratio =
        std::isnan(distance) || allowance[i] == 0 ? kInfinity : distance / allowance[i];
    if (ratio <= worst) continue;
    worst = ratio;
    if (where) *where = i;
  }
  return worst;
}

Result<std::vector<Spread>> rounding_spread(const Evaluator& evaluator,
                                            const std::vector<Value>& inputs, std::uint64_t seed,
                                            const SpreadObserver& observer) {
  EvaluateOptions options;
  options.seed = seed;
  options.observe = observer.exact;
  const Result<std::vector<Value>> exact = evaluator.run(inputs, options);
  if (!exact) return exact.error();
  Outputs outputs;
  std::vector<Spread>& spreads = outputs.spreads;
  for (const Value& given : *exact) {
    Spread spread;
    Value value = plain(given);
    if (has_reals(value)) {
      spread.allowance.assign(static_cast<std::size_t>(value.tensor().size()), 0);
    }
    spread.value = std::move(value);
    outputs.pooled.emplace_back(spread.allowance.size());
    spreads.push_back(std::move(spread));
  }
  Chance chance;
  RandomRuns random(evaluator, inputs, seed);
  random.before = [&](const Evaluated& evaluated, std::span<const Value> outputs) {
    chance.follow(evaluated);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].is_tensor() || !outputs[i].errors()) continue;
      allow_last_rounding(evaluator.model().graph, evaluated.name(i), outputs[i], spreads);
    }
  };
  random.after = observer.drawn;
  if (Result<void> drawn = draw_all(random, !observer.drawn, outputs); !drawn) {
    return drawn.error();
  }
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    if (chance.has(evaluator.model().graph.outputs[i].name)) leave_open(spreads[i]);
    if (!has_reals(spreads[i].value)) continue;
    if (outputs.pools(i)) {
      outputs.pooled[i].widen(spreads[i].value.tensor(), outputs.runs(), spreads[i].allowance);
    }
    share_reach(spreads[i]);
    allow_unmoved(spreads[i]);
    find_tolerances(spreads[i]);
  }
  return std::move(spreads);
}

}  // namespace assay
