// Attributes of a node in a few words.
#pragma once

#include <string>

#include "graph/graph.h"

namespace assay {

std::string attribute_text(const AttributeValue& value);

}  // namespace assay
