// Operators of the catalogue as pages: for a terminal, and for the reference in docs/.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/catalogue.h"

namespace assay {

// Entries of one operator, the newest last: there are several where versions mean different things.
using Entries = std::vector<const Operator*>;
// By domain and name.
using Operators = std::map<std::pair<std::string_view, std::string_view>, Entries>;
// Rules that cases show to be kept, by operator: "Softmax" has "Softmax.axis-range".
using Rules = std::map<std::string, std::set<std::string>, std::less<>>;

std::vector<int> versions_of(const Entries& entries);
std::vector<std::string> readings_of(const Entries& entries);
std::string_view to_text(Role role);

std::string list_page(const Operators& operators);  // a line each
std::string operator_page(const Entries& entries);  // all about one
std::string markdown_page(const Operators& operators, const Rules& rules);

}  // namespace assay
