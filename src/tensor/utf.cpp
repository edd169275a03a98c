#include "tensor/utf.h"

#include <cstdint>

namespace assay {
namespace {

bool is_scalar_value(char32_t c) { return c < 0xD800 || (c >= 0xE000 && c <= 0x10FFFF); }

}  // namespace

std::optional<std::u32string> decode_utf8(std::string_view text) {
  // The smallest code point of each length: below it, the form is overlong.
  constexpr char32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i++]);
    const int more = lead < 0x80 ? 0 : lead < 0xC0 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (more < 0 || lead >= 0xF8 || text.size() - i < static_cast<std::size_t>(more)) {
      return std::nullopt;
    }
    char32_t c = more == 0 ? lead : lead & (0x3Fu >> more);
    for (int k = 0; k < more; ++k) {
      const auto next = static_cast<std::uint8_t>(text[i++]);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      c = c << 6 | (next & 0x3Fu);
    }
    if (c < kSmallest[more] || !is_scalar_value(c)) return std::nullopt;
    result.push_back(c);
  }
  return result;
}

std::optional<std::string> encode_utf8(std::u32string_view code_points) {
  std::string result;
  result.reserve(code_points.size());
  for (const char32_t c : code_points) {
    if (!is_scalar_value(c)) return std::nullopt;
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    if (more == 0) {
      result.push_back(static_cast<char>(c));
      continue;
    }
    result.push_back(static_cast<char>((0xFF00u >> (more + 1) & 0xFF) | c >> (6 * more)));
    for (int k = more - 1; k >= 0; --k) {
      result.push_back(static_cast<char>(0x80 | (c >> (6 * k) & 0x3F)));
    }
  }
  return result;
}

}  // namespace assay
