// The localisation map: what a page shows of every node of a compared model.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "compare/comparison.h"

namespace assay {

inline constexpr int kReportSchema = 1;  // of the document that a page embeds

// Adds to the document of `assay compare --json` what a page needs beside it: `schema`, `model`
// (what was compared) and `map`, with a row a node of the main graph: attributes, origin, values on
// each backend, difference images, judgements, rates. Names are cut where they are very long.
void add_comparison_map(const Model& model, const std::string& file, const Comparison& comparison,
                        nlohmann::ordered_json& document);

}  // namespace assay
