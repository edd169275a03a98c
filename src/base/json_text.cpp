#include "base/json_text.h"

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// Whether a text stands in JSON as it is; the library looks at others character by character.
bool is_plain(std::string_view text) {
  unsigned special = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    special |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte > 0x7e) |
               static_cast<unsigned>(byte == '"') | static_cast<unsigned>(byte == '\\');
  }
  return special == 0;
}

void write_scalar(const Json& value, std::string& text) {
  text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write_string(const std::string& value, std::string& text) {
  if (!is_plain(value)) return write_scalar(value, text);
  text += '"';
  text += value;
  text += '"';
}

void write(const Json& value, std::string& text) {
  if (value.is_string()) return write_string(value.get_ref<const std::string&>(), text);
  if (!value.is_structured()) return write_scalar(value, text);
  const bool object = value.is_object();
  text += object ? '{' : '[';
  bool first = true;
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (!first) text += ',';
    first = false;
    if (object) {
      write_string(member.key(), text);
      text += ':';
    }
    write(*member, text);
  }
  text += object ? '}' : ']';
}

}  // namespace

std::string to_json_text(const Json& document) {
  std::string text;
  write(document, text);
  return text;
}

}  // namespace assay
