// Values as reports show them: elements in JSON, statistics for people, arrays in .npz files.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/terminal.h"
#include "graph/value.h"
#include "report/numbers.h"
#include "tensor/npy.h"

namespace assay {

inline constexpr std::int64_t kMostInline = 1000;  // elements that a JSON document shows

// {dtype, shape, values?, …}: a number that JSON lacks is the string "NaN", "Infinity",
// "-Infinity".
nlohmann::ordered_json to_json(const Value& value);
nlohmann::ordered_json to_json(const Tensor& tensor);

// Cells of a row of a table: type and shape, then elements if they are few, else statistics.
std::vector<std::string> value_cells(const Value& value, const Style& style);

// Adds the arrays of a value: of a sequence each element as name[0], name[1], …
void add_arrays(const std::string& name, const Value& value, std::vector<NpzEntry>& arrays);

}  // namespace assay
