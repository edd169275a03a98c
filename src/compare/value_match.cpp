#include "compare/value_match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace assay {
namespace {

// Elements must differ among themselves by so many times what rounding does to them, and be so
// many, before a value can be told by its elements alone.
constexpr double kDistinct = 100;
constexpr std::int64_t kFewest = 4;

// What every arrangement of the same elements has in common.
struct Sketch {
  double mean = 0, smallest = 0, largest = 0;
  std::int64_t finite = 0;
};

Sketch sketch_of(const Tensor& tensor) {
  Sketch sketch;
  if (!has_numbers(tensor)) return sketch;
  double sum = 0;
  for (const double element : tensor.reals()) {
    if (!std::isfinite(element)) continue;
    sketch.smallest = sketch.finite ? std::min(sketch.smallest, element) : element;
    sketch.largest = sketch.finite ? std::max(sketch.largest, element) : element;
    sum += element;
    ++sketch.finite;
  }
  if (sketch.finite) sketch.mean = sum / static_cast<double>(sketch.finite);
  return sketch;
}

// The mean depends on the order of its sum a little.
bool near(const Sketch& a, const Sketch& b, double room) {
  room += 1e-9 * std::max(std::abs(a.largest), std::abs(a.smallest));
  return a.finite == b.finite && std::abs(a.mean - b.mean) <= room &&
         std::abs(a.smallest - b.smallest) <= room && std::abs(a.largest - b.largest) <= room;
}

class Matcher {
 public:
  Matcher(const Trace& a, const Trace& b) : a_(&a), b_(&b), taken_a_(a.values.size()) {
    taken_b_.resize(b.values.size());
    for (const InnerValue& value : a.values) sketches_a_.push_back(sketch_of(value.tensor));
    for (const InnerValue& value : b.values) sketches_b_.push_back(sketch_of(value.tensor));
  }

  ValueMatch match() {
    for (std::size_t i = 0; i < taken_a_.size(); ++i) result_.total_a += wanted(a_->values[i]);
    for (std::size_t i = 0; i < taken_b_.size(); ++i) result_.total_b += wanted(b_->values[i]);
    for (const bool agreeing : {true, false}) {
      pair_by_name(agreeing);
      if (agreeing) pair_by_value();
    }
    pair_by_inputs();
    pair_by_position();
    std::sort(result_.pairs.begin(), result_.pairs.end(),
              [](const ValuePair& x, const ValuePair& y) { return x.a < y.a; });
    return std::move(result_);
  }

 private:
  static bool wanted(const InnerValue& value) {
    return !value.constant && has_numbers(value.tensor);
  }
  // Extents and conditions that a file computes for itself tell nothing by being different.
  static bool alike(const InnerValue& a, const InnerValue& b) {
    return a.op == b.op && is_real(a.tensor.type()) && is_real(b.tensor.type());
  }
  double room(std::size_t i, std::size_t j) const {
    return a_->values[i].allowance + b_->values[j].allowance;
  }

  ValuePair hold_together(std::size_t i, std::size_t j, MatchedBy how) const {
    const Fit found = fit(a_->values[i].tensor, b_->values[j].tensor, room(i, j));
    return {i,         j, how, found.arrangement, found.difference <= room(i, j), found.difference,
            room(i, j)};
  }

  void take(ValuePair pair) {
    taken_a_[pair.a] = taken_b_[pair.b] = true;
    result_.pairs.push_back(std::move(pair));
  }

  void pair_by_name(bool agreeing) {
    std::map<std::string, std::size_t> names;
    for (std::size_t j = 0; j < taken_b_.size(); ++j) names[b_->values[j].name] = j;
    for (std::size_t i = 0; i < taken_a_.size(); ++i) {
      const auto found = names.find(a_->values[i].name);
      if (found == names.end() || taken_a_[i] || taken_b_[found->second]) continue;
      const InnerValue &left = a_->values[i], &right = b_->values[found->second];
      if (!wanted(left) || !wanted(right) || left.tensor.size() != right.tensor.size()) continue;
      const bool near_by = near(sketches_a_[i], sketches_b_[found->second], room(i, found->second));
      if (agreeing ? !near_by : !alike(left, right)) continue;
      ValuePair pair = hold_together(i, found->second, MatchedBy::name);
      if (pair.agrees || !agreeing) take(std::move(pair));
    }
  }

  bool telling(std::size_t i, std::size_t j) const {
    const Sketch& sketch = sketches_a_[i];
    return a_->values[i].tensor.size() >= kFewest &&
           sketch.largest - sketch.smallest > kDistinct * room(i, j);
  }

  // The next value of the same operator, if one agrees, else the next of any.
  void pair_by_value() {
    std::map<std::int64_t, std::vector<std::size_t>> sizes;
    for (std::size_t j = 0; j < taken_b_.size(); ++j) {
      if (wanted(b_->values[j])) sizes[b_->values[j].tensor.size()].push_back(j);
    }
    for (const bool same_operator : {true, false}) {
      for (std::size_t i = 0; i < taken_a_.size(); ++i) {
        if (taken_a_[i] || !wanted(a_->values[i])) continue;
        const auto candidates = sizes.find(a_->values[i].tensor.size());
        if (candidates != sizes.end()) pair_one_by_value(i, candidates->second, same_operator);
      }
    }
  }

  void pair_one_by_value(std::size_t i, const std::vector<std::size_t>& candidates,
                         bool same_operator) {
    for (const std::size_t j : candidates) {
      if (taken_b_[j] || !telling(i, j)) continue;
      if (same_operator && a_->values[i].op != b_->values[j].op) continue;
      if (!near(sketches_a_[i], sketches_b_[j], room(i, j))) continue;
      ValuePair pair = hold_together(i, j, MatchedBy::value);
      if (pair.agrees) return take(std::move(pair));
    }
  }

  // Where an operator was replaced, values of two operators follow the same ones.
  void pair_by_inputs() {
    std::map<std::size_t, std::size_t> partners;
    for (const ValuePair& pair : result_.pairs) partners[pair.a] = pair.b;
    std::map<std::pair<std::set<std::size_t>, std::int64_t>, std::size_t> waiting;
    for (std::size_t j = 0; j < taken_b_.size(); ++j) {
      const InnerValue& value = b_->values[j];
      if (taken_b_[j] || !wanted(value) || !is_real(value.tensor.type())) continue;
      waiting.emplace(
          std::pair(std::set(value.values.begin(), value.values.end()), value.tensor.size()), j);
    }
    for (std::size_t i = 0; i < taken_a_.size(); ++i) {
      const InnerValue& value = a_->values[i];
      if (taken_a_[i] || !wanted(value) || value.values.empty()) continue;
      std::set<std::size_t> inputs;
      for (const std::size_t read : value.values) {
        const auto partner = partners.find(read);
        inputs.insert(partner == partners.end() ? taken_b_.size() : partner->second);
      }
      const auto found = waiting.find({inputs, value.tensor.size()});
      if (found == waiting.end() || !is_real(value.tensor.type())) continue;
      partners[i] = found->second;
      take(hold_together(i, found->second, MatchedBy::position));
      waiting.erase(found);
    }
  }

  // Of what is left, the first of an operator and size in one file is the first in the other.
  void pair_by_position() {
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::size_t>> waiting;
    for (std::size_t j = taken_b_.size(); j-- > 0;) {
      if (taken_b_[j] || !wanted(b_->values[j])) continue;
      if (!is_real(b_->values[j].tensor.type())) continue;
      waiting[{b_->values[j].op, b_->values[j].tensor.size()}].push_back(j);
    }
    for (std::size_t i = 0; i < taken_a_.size(); ++i) {
      if (taken_a_[i] || !wanted(a_->values[i])) continue;
      const auto found = waiting.find({a_->values[i].op, a_->values[i].tensor.size()});
      if (found == waiting.end() || found->second.empty()) continue;
      const std::size_t j = found->second.back();
      found->second.pop_back();
      take(hold_together(i, j, MatchedBy::position));
    }
  }

  const Trace *a_, *b_;
  std::vector<bool> taken_a_, taken_b_;
  std::vector<Sketch> sketches_a_, sketches_b_;
  ValueMatch result_;
};

// Whether every path from a value leads to one that agrees.
std::vector<bool> healed(const Trace& trace, const std::vector<bool>& agrees) {
  std::vector<std::vector<std::size_t>> readers(trace.values.size());
  for (std::size_t i = 0; i < trace.values.size(); ++i) {
    for (const std::size_t read : trace.values[i].values) readers[read].push_back(i);
  }
  std::vector<bool> result = agrees;
  for (std::size_t i = trace.values.size(); i-- > 0;) {
    if (result[i] || readers[i].empty()) continue;
    result[i] = std::all_of(readers[i].begin(), readers[i].end(),
                            [&](std::size_t reader) { return result[reader]; });
  }
  return result;
}

}  // namespace

std::string_view to_text(MatchedBy how) {
  static constexpr std::string_view kNames[] = {"name", "value", "position"};
  return kNames[static_cast<std::size_t>(how)];
}

std::size_t ValueMatch::agreeing() const {
  return static_cast<std::size_t>(
      std::count_if(pairs.begin(), pairs.end(), [](const ValuePair& pair) { return pair.agrees; }));
}

ValueMatch match_values(const Trace& a, const Trace& b) {
  ValueMatch match = Matcher(a, b).match();
  std::vector<bool> agrees_a(a.values.size()), agrees_b(b.values.size());
  for (const ValuePair& pair : match.pairs) {
    agrees_a[pair.a] = agrees_b[pair.b] = pair.agrees;
  }
  match.healed_a = healed(a, agrees_a);
  match.healed_b = healed(b, agrees_b);
  return match;
}

std::optional<ValuePair> first_difference(const ValueMatch& match) {
  for (const ValuePair& pair : match.pairs) {
    if (!pair.agrees && !match.healed_a[pair.a] && !match.healed_b[pair.b]) return pair;
  }
  return std::nullopt;
}

}  // namespace assay
