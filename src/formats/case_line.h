// Case lines: a Keras model with its weights, inputs and recorded output, one JSON object a line.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/value.h"
#include "tensor/buffer.h"

namespace assay {

struct LayerCase {
  std::string id;
  Model model;                // a node a layer, in float64
  std::vector<Value> inputs;  // in the order of the model's; absent ones are not recorded
  Tensor expected;            // what the framework gave; undefined if it is not recorded
};

// The lines of a file, still as text. A line stays valid as long as one copy of this does.
class CaseLines {
 public:
  std::size_t size() const { return lines_.size(); }
  std::string_view operator[](std::size_t i) const { return lines_[i]; }
  std::string where(std::size_t i) const;  // "cases.jsonl:3"

 private:
  friend Result<CaseLines> read_case_lines(const std::filesystem::path& path);
  std::shared_ptr<const Buffer<char>> bytes_;
  std::vector<std::string_view> lines_;
  std::string file_;
};

bool is_case_file(const std::string& path);  // .jsonl or .jsonl.gz
Result<CaseLines> read_case_lines(const std::filesystem::path& path);

// `line` must be one of a CaseLines: the reader looks a few bytes beyond its end.
Result<LayerCase> parse_case_line(std::string_view line, const std::string& where);

// "FILE#ID", which names one case of a file.
bool names_case(const std::string& path);
Result<LayerCase> read_named_case(const std::string& path);

}  // namespace assay
