// Where a node or an input of an imported model comes from: a layer or an operation of a framework
// that stands as several nodes here keeps its name and kind in their metadata.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace assay {

inline constexpr std::string_view kOriginNode = "assay.origin.node";        // its name
inline constexpr std::string_view kOriginOp = "assay.origin.op";            // what it is there
inline constexpr std::string_view kOriginUnknown = "assay.origin.unknown";  // why it has no meaning
// Of an input: "input", "parameter", or "source" for what comes out of a queue or an iterator.
inline constexpr std::string_view kOriginPart = "assay.origin.part";
inline constexpr std::string_view kOriginSource = "assay.origin.source";  // the queue's name
inline constexpr std::string_view kOriginIndex = "assay.origin.index";    // which of its outputs
// Of a node on one side of a branch whose sides are both computed here: "p=1 q=0", where p and q
// are the values that decide.
inline constexpr std::string_view kOriginWhen = "assay.origin.when";
// Of a parameter that only an optimiser changes: the ends of what it holds.
inline constexpr std::string_view kOriginLeast = "assay.origin.least";
inline constexpr std::string_view kOriginMost = "assay.origin.most";

const std::string* find_property(const Properties& properties, std::string_view key);

// What a node of which this is the origin has as its metadata.
Properties origin_of(const std::string& name, const std::string& op);

// The names by which a person knows a node: those of its origin, else its own.
const std::string& origin_name(const Node& node);
const std::string& origin_op(const Node& node);
bool is_parameter(const NamedType& input);

}  // namespace assay
