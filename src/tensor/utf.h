// UTF-8 to code points and back, strict in both directions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// nullopt for what is not well-formed: overlong forms, surrogates, beyond U+10FFFF, cut off.
std::optional<std::u32string> decode_utf8(std::string_view text);
// nullopt for surrogates and what is beyond U+10FFFF.
std::optional<std::string> encode_utf8(std::u32string_view code_points);

}  // namespace assay
