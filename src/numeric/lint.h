// Lint: whether any operation of a model can overflow, divide by zero or leave its domain, for any
// inputs and parameters in their ranges.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "numeric/ranges.h"
#include "numeric/transfer.h"
#include "semantics/infer_types.h"

namespace assay {

enum class LintVerdict : std::uint8_t { safe, warning, error, unreachable };
std::string_view to_text(LintVerdict verdict);

// Values of inputs and parameters, in their ranges, for which the reference really gives NaN or an
// infinity.
struct LintWitness {
  std::map<std::string, Tensor> values;
  std::string result;  // "-inf in output y of log"
};

// What makes the operation safe, as the analysis of the changed model or range proves: a change to
// the model, or the widest range of one input or parameter, or either.
struct LintFix {
  std::string rewrite;  // "clip", "log-softmax"; empty: none was found
  std::string text;     // "clip the input to [1e-07, 1]"
  std::string root;     // empty: no range of any is enough
  Interval range;
};

// An operation that float32 bears, and a shorter format does not.
struct HalfNode {
  std::string name, op, why;
};

struct HalfResult {
  ElementType type = ElementType::f16;
  std::vector<HalfNode> overflow;  // what is safe, or finite, in float32, and no longer is
  std::vector<HalfNode> flush;     // what is not 0 in float32, and now is
  std::vector<std::string> keep;   // in float32; none of them can be left out
  bool verified = false;           // with these, nothing fails that did not in float32
};

// One value on the way of a range.
struct LintStep {
  std::string name, op;  // of the operation that makes it; an input or a parameter has none
  Interval range;
};

struct LintNode {
  std::string name;
  std::string op;
  std::string check;  // "lint.log"; of a safe node, the check that it passed
  LintVerdict verdict = LintVerdict::safe;
  Interval range;  // of the argument that decides
  std::string why;
  std::vector<std::string> cause;  // the inputs and parameters that it depends on, if few
  std::size_t more_causes = 0;     // that are not named; where the path begins always is
  std::vector<LintStep> path;      // of an unsafe one: from such an input or parameter to it
  std::optional<LintWitness> witness;
  std::optional<LintFix> fix;
};

// What is known of one value of the main graph.
struct LintRange {
  std::string type;
  Interval range;
};

struct LintOptions {
  Setting setting;
  std::optional<ElementType> as;  // the format that takes the place of float32
  std::uint64_t seed = 0;
  double search_seconds = 1;                  // for witnesses and fixes together; 0: none
  bool keep_ranges = false;                   // of all values, for a map
  std::shared_ptr<const ModelTypes> types{};  // of the model, where they have been inferred
};

struct LintResult {
  std::vector<LintNode> nodes;  // those that something can be said about, in order
  std::size_t checked = 0, warnings = 0;
  std::vector<std::pair<std::string, std::string>> unknown;  // nodes without a rule, and why
  std::vector<std::string> unused;                           // ranges for names that do not exist
  std::map<std::string, LintRange> ranges;                   // by value; only if asked for
  std::vector<FoundRange> found;                             // ranges that the model itself tells
  std::optional<HalfResult> half;                            // if another format was asked for
};

Result<LintResult> lint(const Model& model, const Ranges& ranges, const LintOptions& options);

}  // namespace assay
