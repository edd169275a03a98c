// The protobuf wire format, read field by field without copies, and written.
// It serves what the generated classes cannot: looking at a file's structure before it is decoded,
// and the few messages (sequences, optionals, maps) that they do not have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t integer = 0;  // of a varint or a fixed field
  std::string_view bytes;     // of a field of bytes
};

// Reads the fields of one message in order.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message), all_(message) {}

  // The next field; nullopt at the end, or where the bytes are no field: then failure() says why.
  std::optional<WireField> next() {
    WireField field;
    return next(field) ? std::optional(field) : std::nullopt;
  }
  bool next(WireField& field);  // the same; false instead of nullopt
  const std::string& failure() const { return failure_; }
  std::size_t position() const { return all_.size() - rest_.size(); }

 private:
  // These are false where the bytes do not have it.
  bool varint(std::uint64_t& value);
  template <std::size_t kBytes>
  bool fixed(std::uint64_t& value);
  bool fail(std::string reason);

  std::string_view rest_, all_;
  std::string failure_;
};

// The varint at the start of `bytes`, from which it is removed; nullopt if there is none.
std::optional<std::uint64_t> take_varint(std::string_view& bytes);

// Adds the numbers of a packed field, which are of one type; false where they do not end with it.
bool unpack(std::string_view bytes, WireType type, std::vector<std::uint64_t>& numbers);

void put_varint(std::string& message, std::uint64_t value);
void put_integer(std::string& message, std::uint32_t number, std::int64_t value);
void put_bytes(std::string& message, std::uint32_t number, std::string_view bytes);

}  // namespace assay
