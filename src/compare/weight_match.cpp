#include "compare/weight_match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "compare/weight_print.h"

namespace assay {
namespace {

constexpr std::int64_t kMostExtents = 64;  // wide integers up to here are extents, axes, indices
constexpr std::size_t kMostJoined = 200;   // weights that are tried in pairs and threes

using Indices = std::vector<std::size_t>;

// One file's weights, with what is known of them.
struct Side {
  explicit Side(const Trace& from) : trace(&from), done(from.weights.size()) {
    for (const Weight& weight : from.weights) {
      telling.push_back(is_telling(weight.tensor));
      prints.push_back(has_numbers(weight.tensor) ? print_of(weight.tensor) : 0);
    }
    readers.resize(from.weights.size());
    for (const InnerValue& value : from.values) {
      for (const std::size_t weight : value.weights) readers[weight].insert(value.op);
    }
  }
  Indices left() const {
    Indices indices;
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (!done[i] && telling[i]) indices.push_back(i);
    }
    return indices;
  }
  const Weight& operator[](std::size_t i) const { return trace->weights[i]; }

  const Trace* trace;
  std::vector<bool> done, telling;
  std::vector<std::uint64_t> prints;
  std::vector<std::set<std::string>> readers;  // operators
};

// How many characters two names have in common at their ends.
std::size_t common_end(const std::string& a, const std::string& b) {
  std::size_t count = 0;
  while (count < std::min(a.size(), b.size()) &&
         a[a.size() - 1 - count] == b[b.size() - 1 - count]) {
    ++count;
  }
  return count;
}

std::multiset<std::int64_t> extents_of(const Tensor& tensor) {
  std::multiset<std::int64_t> extents(tensor.shape().begin(), tensor.shape().end());
  extents.erase(1);
  return extents;
}

class Matcher {
 public:
  Matcher(const Trace& a, const Trace& b) : a_(a), b_(b) {}

  WeightMatch match() {
    pair_equal();
    pair_shared();
    pair_joined(a_, b_, false);
    pair_joined(b_, a_, true);
    pair_folded(a_, b_, false);
    pair_folded(b_, a_, true);
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) pair_rounded(type);
    pair_differing();
    pair_beside();
    result_.only_a = used_left(a_);
    result_.only_b = used_left(b_);
    result_.coverage = std::min(coverage(a_), coverage(b_));
    return std::move(result_);
  }

 private:
  void take(WeightPair pair) {
    const auto mark = [](Side& side, const Indices& indices) {
      bool used = false;
      for (const std::size_t i : indices) {
        side.done[i] = true;
        used = used || side[i].used;
      }
      return used;
    };
    const bool used_a = mark(a_, pair.a), used_b = mark(b_, pair.b);
    pair.used = used_a && used_b;
    result_.pairs.push_back(std::move(pair));
  }

  WeightPair hold_together(std::size_t i, std::size_t j, double room = 0) const {
    const Fit found = fit(a_[i].tensor, b_[j].tensor, room);
    WeightPair pair{{i}, {j}, WeightRelation::differing, found.arrangement};
    pair.difference = found.difference;
    if (found.difference == 0) {
      pair.relation = found.arrangement.plain() ? WeightRelation::same : WeightRelation::permuted;
    }
    return pair;
  }

  void take_equal(std::size_t i, std::size_t j) {
    WeightPair pair = hold_together(i, j);
    if (pair.relation == WeightRelation::differing) {
      pair.relation = WeightRelation::rearranged;
      pair.difference = 0;
    }
    take(std::move(pair));
  }

  // Of the same elements, those first whose names end alike, and those that are read on both sides.
  void pair_equal() {
    std::multimap<std::uint64_t, std::size_t> prints;
    for (const std::size_t j : b_.left()) prints.emplace(b_.prints[j], j);
    for (const std::size_t i : a_.left()) {
      const auto [begin, end] = prints.equal_range(a_.prints[i]);
      auto best = end;
      std::pair<bool, std::size_t> most{};
      for (auto one = begin; one != end; ++one) {
        if (b_[one->second].tensor.size() != a_[i].tensor.size()) continue;
        const std::pair rank(b_[one->second].used == a_[i].used,
                             common_end(a_[i].name, b_[one->second].name));
        if (best != end && rank <= most) continue;
        best = one;
        most = rank;
      }
      if (best == end) continue;
      take_equal(i, best->second);
      prints.erase(best);
    }
    pair_small_by_name();
  }

  // What tells nothing by its elements is known by its name alone.
  void pair_small_by_name() {
    std::map<std::string, std::size_t> names;
    for (std::size_t j = 0; j < b_.done.size(); ++j) names[b_[j].name] = j;
    for (std::size_t i = 0; i < a_.done.size(); ++i) {
      const auto found = names.find(a_[i].name);
      if (found == names.end() || a_.done[i] || b_.done[found->second] || a_.telling[i]) continue;
      const Tensor &left = a_[i].tensor, &right = b_[found->second].tensor;
      const bool comparable = has_numbers(left) && has_numbers(right) && is_real(left.type()) &&
                              is_real(right.type()) && left.size() == right.size();
      // Exporters count constants, so that one name can mean two things.
      if (comparable && a_.readers[i] == b_.readers[found->second]) {
        take(hold_together(i, found->second));
      }
    }
  }

  // One file has a weight twice that the other reads in two places.
  void pair_shared() {
    const auto share = [&](Side& many, const Side& one, bool swapped) {
      std::map<std::uint64_t, std::size_t> known;
      for (std::size_t j = 0; j < one.done.size(); ++j) {
        if (one.done[j] && one.telling[j]) known.emplace(one.prints[j], j);
      }
      for (const std::size_t i : many.left()) {
        const auto found = known.find(many.prints[i]);
        if (found == known.end() || one[found->second].tensor.size() != many[i].tensor.size()) {
          continue;
        }
        take_equal(swapped ? found->second : i, swapped ? i : found->second);
      }
    };
    share(a_, b_, false);
    share(b_, a_, true);
  }

  // Prints add up: a weight of `whole` that is two or three of `parts`.
  void pair_joined(Side& parts, Side& whole, bool swapped) {
    const Indices small = parts.left();
    if (small.size() > kMostJoined) return;
    for (const std::size_t j : whole.left()) {
      const Indices found = parts_of(parts, small, whole.prints[j], whole[j].tensor.size());
      if (found.empty()) continue;
      WeightPair pair{found, {j}, WeightRelation::joined};
      if (swapped) std::swap(pair.a, pair.b);
      take(std::move(pair));
    }
  }

  static Indices parts_of(const Side& parts, const Indices& small, std::uint64_t print,
                          std::int64_t size) {
    const auto missing = [&](std::size_t from, std::uint64_t rest, std::int64_t elements) {
      for (std::size_t k = from; k < small.size(); ++k) {
        const std::size_t i = small[k];
        if (parts.prints[i] == rest && parts[i].tensor.size() == elements && !parts.done[i])
          return k;
      }
      return small.size();
    };
    for (std::size_t x = 0; x < small.size(); ++x) {
      const std::uint64_t rest = print - parts.prints[small[x]];
      const std::int64_t elements = size - parts[small[x]].tensor.size();
      if (parts.done[small[x]] || elements <= 0) continue;
      if (const std::size_t y = missing(x + 1, rest, elements); y < small.size()) {
        return {small[x], small[y]};
      }
      for (std::size_t y = x + 1; y < small.size(); ++y) {
        const std::int64_t fewer = elements - parts[small[y]].tensor.size();
        if (parts.done[small[y]] || fewer <= 0) continue;
        const std::size_t z = missing(y + 1, rest - parts.prints[small[y]], fewer);
        if (z < small.size()) return {small[x], small[y], small[z]};
      }
    }
    return {};
  }

  // The telling weights that a value of the trace is made of.
  static Indices sources_of(const Side& side, std::size_t value) {
    std::set<std::size_t> seen, weights;
    Indices open = {value};
    while (!open.empty()) {
      const InnerValue& made = side.trace->values[open.back()];
      open.pop_back();
      for (const std::size_t weight : made.weights) {
        if (side.telling[weight]) weights.insert(weight);
      }
      for (const std::size_t read : made.values) {
        if (seen.insert(read).second) open.push_back(read);
      }
    }
    return {weights.begin(), weights.end()};
  }

  void pair_folded(Side& computing, Side& holding, bool swapped) {
    std::map<std::uint64_t, std::size_t> computed;
    const std::vector<InnerValue>& values = computing.trace->values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k].constant && is_telling(values[k].tensor)) {
        computed.emplace(print_of(values[k].tensor), k);
      }
    }
    for (const std::size_t j : holding.left()) {
      const auto found = computed.find(holding.prints[j]);
      if (found == computed.end()) continue;
      WeightPair pair{sources_of(computing, found->second), {j}, WeightRelation::folded};
      if (swapped) std::swap(pair.a, pair.b);
      take(std::move(pair));
    }
  }

  void pair_rounded(ElementType type) {
    std::multimap<std::uint64_t, std::size_t> prints;
    for (const std::size_t j : b_.left()) prints.emplace(print_of(b_[j].tensor, type), j);
    for (const std::size_t i : a_.left()) {
      const auto found = prints.find(print_of(a_[i].tensor, type));
      if (found == prints.end() || b_[found->second].tensor.size() != a_[i].tensor.size()) continue;
      const std::vector<double> elements = a_[i].tensor.reals();
      double largest = 0;
      for (const double element : elements) largest = std::max(largest, std::abs(element));
      const double step = std::ldexp(largest, -format_of(type).precision);
      WeightPair pair = hold_together(i, found->second, step);
      pair.relation = WeightRelation::rounded;
      pair.rounded_to = type;
      take(std::move(pair));
      prints.erase(found);
    }
  }

  // The same extents, and of these the most alike in name; then in the order of the file.
  void pair_differing() {
    std::vector<std::tuple<bool, std::size_t, std::size_t, std::size_t>> candidates;
    const Indices left = a_.left(), right = b_.left();
    for (std::size_t x = 0; x < left.size(); ++x) {
      const auto extents = extents_of(a_[left[x]].tensor);
      for (std::size_t y = 0; y < right.size(); ++y) {
        if (a_[left[x]].tensor.size() != b_[right[y]].tensor.size()) continue;
        if (extents != extents_of(b_[right[y]].tensor)) continue;
        candidates.emplace_back(a_[left[x]].used == b_[right[y]].used,
                                common_end(a_[left[x]].name, b_[right[y]].name), left[x], right[y]);
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& x, const auto& y) {
      return std::tie(std::get<0>(x), std::get<1>(x)) > std::tie(std::get<0>(y), std::get<1>(y));
    });
    for (const auto& [used, common, i, j] : candidates) {
      if (!a_.done[i] && !b_.done[j]) take(hold_together(i, j));
    }
  }

  // A bias of one element tells nothing, but the node that reads it reads a weight that does.
  void pair_beside() {
    std::map<std::size_t, std::size_t> partners;
    for (const WeightPair& pair : result_.pairs) {
      if (pair.a.size() == 1 && pair.b.size() == 1) partners[pair.a.front()] = pair.b.front();
    }
    std::map<std::size_t, const InnerValue*> readers;
    for (const InnerValue& value : b_.trace->values) {
      for (const std::size_t weight : value.weights) readers[weight] = &value;
    }
    for (const InnerValue& value : a_.trace->values) {
      for (const std::size_t weight : value.weights) {
        const auto partner = partners.find(weight);
        if (partner == partners.end()) continue;
        const auto reader = readers.find(partner->second);
        if (reader != readers.end()) pair_inputs_of(value, *reader->second);
      }
    }
  }

  void pair_inputs_of(const InnerValue& a, const InnerValue& b) {
    if (a.op != b.op || a.weights.size() != b.weights.size()) return;
    for (std::size_t k = 0; k < a.weights.size(); ++k) {
      const std::size_t i = a.weights[k], j = b.weights[k];
      const Tensor &left = a_[i].tensor, &right = b_[j].tensor;
      if (a_.done[i] || b_.done[j] || left.size() != right.size()) continue;
      const bool real = has_numbers(left) && has_numbers(right) && is_real(left.type());
      if (real && is_real(right.type())) take(hold_together(i, j));
    }
  }

  static Indices used_left(const Side& side) {
    Indices left = side.left();
    std::erase_if(left, [&](std::size_t i) { return !side[i].used; });
    return left;
  }

  static double coverage(const Side& side) {
    double all = 0, paired = 0;
    for (std::size_t i = 0; i < side.done.size(); ++i) {
      if (!side.telling[i] || !side[i].used) continue;
      all += static_cast<double>(side[i].tensor.size());
      if (side.done[i]) paired += static_cast<double>(side[i].tensor.size());
    }
    return all == 0 ? 1 : paired / all;
  }

  Side a_, b_;
  WeightMatch result_;
};

}  // namespace

std::string_view to_text(WeightRelation relation) {
  static constexpr std::string_view kNames[] = {"same",   "permuted", "rearranged", "joined",
                                                "folded", "rounded",  "differing"};
  return kNames[static_cast<std::size_t>(relation)];
}

std::size_t WeightMatch::count(bool equal, bool used) const {
  return static_cast<std::size_t>(std::count_if(
      pairs.begin(), pairs.end(),
      [&](const WeightPair& pair) { return pair.equal() == equal && pair.used == used; }));
}

bool is_telling(const Tensor& tensor) {
  if (!has_numbers(tensor) || tensor.size() < 2) return false;
  if (!is_real(tensor.type()) && bit_width(tensor.type()) > 8 && tensor.size() <= kMostExtents) {
    return false;
  }
  const std::vector<double> elements = tensor.reals();
  return std::any_of(elements.begin(), elements.end(),
                     [&](double element) { return element != elements.front(); });
}

WeightMatch match_weights(const Trace& a, const Trace& b) { return Matcher(a, b).match(); }

}  // namespace assay
