// Names that come from files, made fit for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace assay {

bool is_utf8(std::string_view text);
// The text with every byte that is not UTF-8 replaced by U+FFFD.
std::string to_utf8(std::string_view text);
// The name with control characters and broken UTF-8 as \xNN, and cut where it is very long.
std::string printable(std::string_view name);
std::string printable(std::string&& name);     // which it is already, mostly
std::string in_quotes(std::string_view name);  // the same between ' and '
// A text that may hold parts of a file, with control characters as \xNN: one line, whole.
std::string one_line(std::string text);

}  // namespace assay
