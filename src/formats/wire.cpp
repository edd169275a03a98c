#include "formats/wire.h"

#include <utility>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::uint64_t kLargestFieldNumber = (1U << 29) - 1;

}  // namespace

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::nullopt_t WireReader::fail(std::string reason) {
  failure_ = std::move(reason);
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::varint() {
  const auto value = take_varint(rest_);
  if (!value) fail("a number does not end");
  return value;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return fail("it ends inside a number");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(bytes);
  return value;
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto tag = varint();
  if (!tag) return std::nullopt;
  if (*tag >> 3 == 0 || *tag >> 3 > kLargestFieldNumber) return fail("a field has no valid number");
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  const auto type = static_cast<unsigned>(*tag & 7);
  std::optional<std::uint64_t> integer;
  switch (type) {
    case 0:
      integer = varint();
      break;
    case 1:
      integer = fixed(8);
      break;
    case 2:
      integer = varint();
      break;
    case 5:
      integer = fixed(4);
      break;
    default:
      return fail(fmt::format("field {} has the unknown wire type {}", field.number, type));
  }
  if (!integer) return std::nullopt;
  field.type = static_cast<WireType>(type);
  if (field.type != WireType::bytes) {
    field.integer = *integer;
    return field;
  }
  if (*integer > rest_.size()) {
    return fail(
        fmt::format("field {} needs {} bytes, {} are left", field.number, *integer, rest_.size()));
  }
  field.bytes = rest_.substr(0, *integer);
  rest_.remove_prefix(*integer);
  return field;
}

void put_varint(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void put_integer(std::string& message, std::uint32_t number, std::int64_t value) {
  put_varint(message, std::uint64_t{number} << 3);
  put_varint(message, static_cast<std::uint64_t>(value));
}

void put_bytes(std::string& message, std::uint32_t number, std::string_view bytes) {
  put_varint(message, std::uint64_t{number} << 3 | 2);
  put_varint(message, bytes.size());
  message += bytes;
}

}  // namespace assay
