// The catalogue: every operator, looked up by domain, name and opset.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ops/operator.h"
#include "ops/schema.h"

namespace assay {

std::string full_name(const Operator& entry);  // with its domain, if that is not the default
std::span<const Operator> catalogue();         // sorted by domain, name, first version

// An entry with the schema version that applies; entry is null if the catalogue has none.
struct Lookup {
  const Operator* entry = nullptr;
  const Schema* schema = nullptr;
};
Lookup find_operator(std::string_view domain, std::string_view name, std::int64_t opset);

// A domain outside the standard whose entries a later folder has (layers/keras). To be called
// before the first look-up; a second call for the same domain changes nothing.
using DomainLookup = Lookup (*)(std::string_view name, std::int64_t opset);
void add_domain(std::string_view domain, DomainLookup find);

// The node with the standard's default for each attribute that it leaves out.
Node complete(const Node& node, const Schema& schema);

// Everything that must hold before a node is evaluated: number of inputs and outputs, types, kinds
// of attributes, then the entry's own preconditions.
void check_node(Check& check, const Operator& entry, const Schema& schema);

}  // namespace assay
