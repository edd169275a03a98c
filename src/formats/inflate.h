// Files that gzip has made smaller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

// The bytes before compression, as std::string or Buffer<char>; throws FormatError where the file
// is cut or broken ("unreadable"), or where there are more than `most` of them ("limit"). There is
// room for `behind` more.
template <class Bytes = std::string>
Bytes inflate(std::string_view compressed, std::size_t most, std::size_t behind = 0);

}  // namespace assay
