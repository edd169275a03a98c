// Looks at the bytes of a TensorFlow graph that are not decoded, and at how much the rest takes.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/wire.h"

namespace google::protobuf {
class Descriptor;
}

namespace assay {

// How much memory messages take once decoded, about; throws FormatError ("limit") beyond `most`.
class DecodedSize {
 public:
  explicit DecodedSize(std::size_t most) : most_(most) {}
  std::size_t total() const { return total_; }

  void message(int fields) {  // that it may have
    add(kMessageBytes + kFieldBytes * static_cast<std::size_t>(fields));
  }
  void text(std::string_view bytes) { add(kTextBytes + bytes.size()); }
  void number() { add(kNumberBytes); }
  void packed(std::string_view bytes) { add(kNumberBytes * bytes.size()); }

 private:
  static constexpr std::size_t kMessageBytes = 64;  // of a message itself, beside
  static constexpr std::size_t kFieldBytes = 24;    // each field that it may have
  static constexpr std::size_t kTextBytes = 48;     // of a text beside its characters
  static constexpr std::size_t kNumberBytes = 8;

  void add(std::size_t bytes) {
    total_ += bytes;
    if (total_ > most_) fail();
  }
  [[noreturn]] void fail() const;

  std::size_t most_, total_ = 0;
};

// Throws FormatError where the bytes of a message are cut or malformed ("unreadable"), or nested
// too deeply or too large ("limit").
void scan_message(std::string_view bytes, const google::protobuf::Descriptor& type,
                  DecodedSize& size);

// Throws FormatError if a reader has stopped before the end of its message.
void require_whole(const WireReader& reader);

}  // namespace assay
