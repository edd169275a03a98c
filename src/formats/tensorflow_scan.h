// Looks at the bytes of a TensorFlow graph before they are decoded.
#pragma once

#include <cstddef>
#include <string_view>

namespace google::protobuf {
class Descriptor;
}

namespace assay {

// How much memory the messages take once decoded, about; throws FormatError where the bytes are cut
// or malformed ("unreadable"), nested too deeply, or would take more than `most` ("limit").
std::size_t scan_message(std::string_view bytes, const google::protobuf::Descriptor& type,
                         std::size_t most);

}  // namespace assay
