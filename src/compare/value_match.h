// Which inner value of one file is which of another: by name, by position, by value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/arrangement.h"
#include "compare/trace.h"

namespace assay {

enum class MatchedBy : std::uint8_t { name, value, position };
std::string_view to_text(MatchedBy how);

struct ValuePair {
  std::size_t a = 0, b = 0;
  MatchedBy how = MatchedBy::name;
  Arrangement arrangement;
  bool agrees = false;    // within what rounding allows both
  double difference = 0;  // the largest of an element
  double room = 0;        // what rounding allows
};

struct ValueMatch {
  std::vector<ValuePair> pairs;  // in the order of A
  std::size_t total_a = 0, total_b = 0;
  // Of each value, whether it agrees or every path from it leads to one that does: a convolution
  // whose normalisation was folded into it in the other file is followed by equal values.
  std::vector<bool> healed_a, healed_b;
  std::size_t agreeing() const;
};

// Values that weights alone decide are left out: they are compared as weights. Equal values are
// paired first, so that a name which two exporters happened to give to different things does no
// harm; what is left is paired by name, then by position: after the same values, or among nodes of
// one operator and size.
ValueMatch match_values(const Trace& a, const Trace& b);

// The earliest pair that differs and from which a difference goes on.
std::optional<ValuePair> first_difference(const ValueMatch& match);

}  // namespace assay
