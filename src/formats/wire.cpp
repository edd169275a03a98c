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

template <std::size_t kBytes>
static std::uint64_t fixed_at(const char* at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kBytes; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  return value;
}

bool unpack(std::string_view bytes, WireType type, std::vector<std::uint64_t>& numbers) {
  if (type == WireType::varint) {
    while (!bytes.empty()) {
      const auto number = take_varint(bytes);
      if (!number) return false;
      numbers.push_back(*number);
    }
    return true;
  }
  const std::size_t length = type == WireType::fixed32 ? 4 : 8;
  if (bytes.size() % length != 0) return false;
  numbers.reserve(numbers.size() + bytes.size() / length);
  for (std::size_t i = 0; i < bytes.size(); i += length) {
    const char* at = bytes.data() + i;
    numbers.push_back(type == WireType::fixed32 ? fixed_at<4>(at) : fixed_at<8>(at));
  }
  return true;
}

bool WireReader::fail(std::string reason) {
  failure_ = std::move(reason);
  return false;
}

// Nearly all are keys and lengths of one byte.
inline bool WireReader::varint(std::uint64_t& value) {
  const auto first = rest_.empty() ? 0xFF : static_cast<unsigned char>(rest_.front());
  if (first < 0x80) {
    value = first;
    rest_.remove_prefix(1);
    return true;
  }
  const auto taken = take_varint(rest_);
  if (!taken) return fail("a number does not end");
  value = *taken;
  return true;
}

template <std::size_t kBytes>
bool WireReader::fixed(std::uint64_t& value) {
  if (rest_.size() < kBytes) return fail("it ends inside a number");
  value = fixed_at<kBytes>(rest_.data());
  rest_.remove_prefix(kBytes);
  return true;
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  std::uint64_t tag = 0, number = 0;
  if (!varint(tag)) return false;
  if (tag >> 3 == 0 || tag >> 3 > kLargestFieldNumber) return fail("a field has no valid number");
  field = {static_cast<std::uint32_t>(tag >> 3), static_cast<WireType>(tag & 7), 0, {}};
  switch (field.type) {
    case WireType::fixed64:
      return fixed<8>(field.integer);
    case WireType::fixed32:
      return fixed<4>(field.integer);
    case WireType::varint:
    case WireType::bytes:
      break;
    default:
      return fail(fmt::format("field {} has the unknown wire type {}", field.number, tag & 7));
  }
  if (!varint(number)) return false;
  if (field.type == WireType::varint) {
    field.integer = number;
    return true;
  }
  if (number > rest_.size()) {
    return fail(
        fmt::format("field {} needs {} bytes, {} are left", field.number, number, rest_.size()));
  }
  field.bytes = std::string_view(rest_.data(), number);
  rest_.remove_prefix(number);
  return true;
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
