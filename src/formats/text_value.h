// Types, values and attributes as case files write them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "formats/text_cursor.h"
#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

using TextGraphs = std::map<std::string, std::shared_ptr<const Graph>>;  // by @name

std::int64_t parse_whole_number(TextCursor& cursor);
double parse_number(TextCursor& cursor);

// f32[2,n,?], f32 (rank unknown), seq(f32), opt(f32[2]), map(string,f32).
ValueType parse_type(TextCursor& cursor);

// What follows the = of "in X f32[2] = 1 2": elements up to the end or an arrow, {…} where a value
// is part of another. A tensor type without brackets is a scalar.
Value parse_value(TextCursor& cursor, const ValueType& type);

// 1, 1.0, 'text', [1,2], f32[2]={1 2}, a type, @graph, dtype(f16) (its number), floats[],
// strings[], ints[] (empty lists), sparse([3,3], i64[1]={4}, f32[1]={2}).
AttributeValue parse_attribute(TextCursor& cursor, const TextGraphs& graphs);

}  // namespace assay
