#include "graph/names.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::size_t kLongestShown = 400;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The length of the well-formed UTF-8 character at the start of `text`; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

}  // namespace

// How many characters at the start are ASCII, in words of eight: of a name of nothing else, all.
static std::size_t ascii_length(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const auto is_ascii = [](const char* at, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    return (word & kHighBits) == 0;
  };
  constexpr std::size_t kWord = sizeof kHighBits;
  std::size_t length = 0;
  for (; length + kWord <= text.size(); length += kWord) {
    if (!is_ascii(text.data() + length, kWord)) return length;
  }
  const std::size_t rest = text.size() - length;
  const bool whole = text.size() >= kWord ? is_ascii(text.data() + text.size() - kWord, kWord)
                                          : rest == 0 || is_ascii(text.data(), rest);
  return whole ? text.size() : length;
}

bool is_utf8(std::string_view text) {
  text.remove_prefix(ascii_length(text));
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    result += length == 0 ? "\uFFFD" : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

static bool is_plain(std::string_view name) {
  return name.size() < kLongestShown &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string printable(std::string&& name) {
  return is_plain(name) ? std::move(name) : printable(std::string_view(name));
}

std::string printable(std::string_view name) {
  if (is_plain(name)) return std::string(name);
  std::string result;
  while (!name.empty() && result.size() < kLongestShown) {
    const std::size_t length = character_length(name);
    const auto byte = static_cast<unsigned char>(name[0]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += name.substr(0, length);
    }
    name.remove_prefix(length == 0 ? 1 : length);
  }
  return name.empty() ? result : result + "…";
}

std::string one_line(std::string text) {
  const auto is_control = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; };
  if (std::none_of(text.begin(), text.end(), is_control)) return text;
  std::string result;
  for (const char c : text) {
    result +=
        is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return result;
}

std::string in_quotes(std::string_view name) { return "'" + printable(name) + "'"; }

}  // namespace assay
