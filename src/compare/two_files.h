// Two files of one network, before and after a conversion: what became of weights and values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/value_match.h"
#include "compare/weight_match.h"

namespace assay {

enum class Blame : std::uint8_t { none, weights, operators, both };
std::string_view to_text(Blame blame);

// An output of A and the one of B that it is held against.
struct OutputPair {
  std::string a, b;
  Arrangement arrangement{};
  double excess = 0;      // the largest difference as a multiple of what rounding allows both
  double difference = 0;  // the largest difference
  double relative = 0;    // the largest relative difference
  std::string detail{};   // the worst element
  bool agrees() const { return excess <= 1; }
};

struct FileComparison {
  Trace a, b;
  WeightMatch weights;
  ValueMatch values;
  std::vector<OutputPair> outputs;
  std::size_t unpaired_outputs = 0;  // that only one file has
  std::optional<ValuePair> first;    // where the difference starts, if inner values show it
  // Value pairs that agree although their nodes read weights that differ: these data do not show
  // it.
  std::vector<std::pair<std::size_t, std::size_t>>
      silent;  // indices of values.pairs, weights.pairs
  Blame blame = Blame::none;

  bool agrees() const;  // the outputs do
  bool clean() const { return agrees() && silent.empty(); }
  bool ran() const { return a.refusal.ok() && b.refusal.ok(); }  // else there are only traces
  // Less than half of the weights, or without weights of the inner values, is in a pair, and the
  // outputs differ.
  bool one_network() const;
  std::string matched_text() const;  // how much of the two files was matched
};

using FilesProgress = std::function<void(const std::string& what)>;
// Weights are to blame if A with B's weights does what B does. Errors are those of the runs.
Result<FileComparison> compare_files(const Traced& a, const Traced& b, std::uint64_t seed,
                                     const FilesProgress& progress);

}  // namespace assay
