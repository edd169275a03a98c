// Ranges: what is known of inputs and parameters before anything runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "numeric/abstract.h"

namespace assay {

// An end that is not given is the end of the element type's range.
struct GivenRange {
  std::optional<double> low, high;
};

// One line of a file of ranges: a name or a glob, and one range for each output that it names.
struct RangeRule {
  std::string name;
  std::vector<GivenRange> ranges;
  bool is_glob() const { return name.find_first_of("*?[") != std::string::npos; }
};

struct Ranges {
  std::vector<RangeRule> inputs, parameters;
  std::map<std::string, GivenRange> data;  // from recorded data, by the name of an input
};

// A file of ranges as the contract has it. Text that is no JSON, or no ranges, is an Error of kind
// "usage"; so is a range whose ends are in the wrong order.
Result<Ranges> parse_ranges(const std::string& text, const std::string& where);

// A root of the analysis: an input or a parameter, and its range.
struct Root {
  std::string name;
  bool parameter = false;
  bool given = false;  // by the user, by data or by the file; else it is the type's own range
  Interval range;
};

// A range that the model's own first nodes tell.
struct FoundRange {
  std::string name;
  Interval range;
  std::string by;
};

struct Roots {
  std::vector<Root> roots;
  std::map<std::string, Abstract> values;     // of inputs and of parameters without values
  std::map<std::string, Interval> overrides;  // of nodes that ranges name
  std::vector<std::string> unused;            // rules that name nothing
  std::vector<FoundRange> found;
};

// Applies the ranges to a model.
Roots apply_ranges(const Model& model, const Ranges& ranges);

// Whether a shell pattern (*, ?, [abc]) fits a whole name.
bool glob_fits(const std::string& pattern, const std::string& name);

}  // namespace assay
