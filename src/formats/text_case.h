// Case files: what an operator does, by example; one text file an operator, under tests/cases/.
//
//   case padding-not-counted                       # all below belongs to it, until the next one
//   opset 22                                       # optional: else the newest
//   domain ai.onnx.ml                              # optional: else the standard's own
//   node AveragePool kernel_shape=[2] pads=[1,0]   # attributes as in formats/text_value.h
//   in   X f32[1,1,2] = 4 6                        # in order; `in -` is an input that is not given
//   in   W f32[64] = 0.5 ...                       # the last element is repeated
//   out  Y f32[1,1,2] = 4 5                        # `out -` is an output that nobody wants
//   tolerance 1e-6 1e-7                            # relative, absolute
//   variant padding-is-counted Y f32[1,1,2] = 2 5  # what this variant gives instead
//   refuse kernel_shape=[0] -> AveragePool.positive  # with this change it breaks this rule
//   refuse pads=- in X f32[1,2] = 1 2 -> AveragePool.rank  # `pads=-` takes the attribute away
//   legal strides=[3]                              # with this change it is accepted
//
// Values: numbers, nan, inf, true, 'text', (1,2) for complex; seq(f32) = [f32[2]={1 2} f32[1]={3}];
// opt(f32[2]) = {1 2} or none; map(string,f32) = {'a':1 'b':2}. A line that ends in \ goes on.
// Subgraphs stand before the node that takes them, as then_branch=@then:
//
//   graph then(a f32[2], b) -> (y f32[2]) {
//     c = f32[2]={1 2}
//     y, z = Op(a, c) axis=1
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

struct NamedValue {
  std::string name;  // "" where the value is absent
  Value value{};
};

struct TextVariant {
  std::string name, output;
  Value value;
  int line = 0;
};

// The node and the inputs with a change made.
struct TextChange {
  Node node;
  std::vector<NamedValue> inputs;
  std::string rule;  // of a refusal
  std::string text;  // the line, for messages
  int line = 0;
};

struct TextCase {
  std::string file, name;
  int line = 0;
  std::optional<std::int64_t> opset;  // of the node's domain; else the newest
  Node node;                          // its inputs and outputs named as below
  std::vector<NamedValue> inputs, outputs;
  std::optional<std::pair<double, double>> tolerance;  // relative, absolute
  std::vector<TextVariant> variants;
  std::vector<TextChange> refusals, legal;
};

// Errors say file:line and what was expected there.
Result<std::vector<TextCase>> read_cases(const std::filesystem::path& path);
Result<std::vector<TextCase>> parse_cases(std::string_view text, const std::string& file);

// The opset that a case is of: its own, or the newest of its domain.
std::int64_t opset_of(const TextCase& text_case);

// A model of the one node, whose inputs and outputs are the case's.
Model to_model(const TextCase& text_case);

// An ONNX backend test: a model, its inputs, and what the standard says of them.
struct BackendTest {
  Model model;
  std::vector<NamedValue> inputs{}, outputs{};           // in the order of the graph's
  std::optional<std::pair<double, double>> tolerance{};  // relative, absolute
};
BackendTest to_test(const TextCase& text_case);

// Writes model.onnx, test_data_set_0/{input,output}_N.pb and, for a tolerance, data.json into the
// folder, which is made.
Result<void> write_backend_test(const BackendTest& test, const std::filesystem::path& folder);

}  // namespace assay
