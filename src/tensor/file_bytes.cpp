// The bytes of tensors in files: little-endian, elements narrower than a byte packed low bits
// first.
#include <array>
#include <bit>
#include <cstring>

#include "tensor/float_format.h"
#include "tensor/tensor.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "files and memory share a byte order");

bool same_in_memory(ElementType type) {
  return static_cast<std::size_t>(bit_width(type)) == 8 * storage_size(type);
}

// Bytes that `count` elements take; nullopt beyond 2^64.
std::optional<std::size_t> packed_size(ElementType type, std::int64_t count) {
  std::size_t bits = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count),
                             static_cast<std::size_t>(bit_width(type)), &bits)) {
    return std::nullopt;
  }
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// A stream of codes of one width, the first in the lowest bits.
template <class CodeOf>
std::string pack(int width, std::int64_t count, std::size_t bytes, CodeOf code_of) {
  std::string packed;
  packed.reserve(bytes);
  std::uint32_t pending = 0;
  int pending_bits = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    pending |= static_cast<std::uint32_t>(code_of(i)) << pending_bits;
    for (pending_bits += width; pending_bits >= 8; pending_bits -= 8) {
      packed.push_back(static_cast<char>(pending & 0xFF));
      pending >>= 8;
    }
  }
  if (pending_bits > 0) packed.push_back(static_cast<char>(pending));
  return packed;
}

template <class Consume>
void unpack(int width, std::int64_t count, std::string_view bytes, Consume consume) {
  const std::uint32_t mask = (1u << width) - 1;
  std::uint32_t pending = 0;
  int pending_bits = 0;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (; pending_bits < width; pending_bits += 8) {
      pending |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[next++]))
                 << pending_bits;
    }
    consume(i, pending & mask);
    pending >>= width;
    pending_bits -= width;
  }
}

// The values of every pattern of the formats of at most 8 bits.
const std::array<float, 256>& small_float_table(ElementType type) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, kElementTypeCount> all{};
    for (int t = 0; t < kElementTypeCount; ++t) {
      const auto format = static_cast<ElementType>(t);
      if (!is_real(format) || bit_width(format) > 8) continue;
      for (std::uint64_t code = 0; code < 256; ++code) {
        all[t][code] = narrow(from_bits(format, code));
      }
    }
    return all;
  }();
  return tables[static_cast<std::size_t>(type)];
}

float decode_f16(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7FFFu;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  const std::uint32_t rebias = magnitude >= 0x7C00u ? 224u << 23 : 112u << 23;
  const std::uint32_t bits = magnitude < 0x400u ? subnormal : (magnitude << 13) + rebias;
  return std::bit_cast<float>(static_cast<std::uint32_t>(half & 0x8000u) << 16 | bits);
}

float decode_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

template <class Decode>
void decode_halves(std::string_view bytes, std::span<float> out, Decode decode) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + 2 * i, sizeof(half));
    out[i] = decode(half);
  }
}

void decode_reals(ElementType type, std::string_view bytes, std::span<float> out) {
  if (type == ElementType::f16) return decode_halves(bytes, out, decode_f16);
  if (type == ElementType::bf16) return decode_halves(bytes, out, decode_bf16);
  const std::array<float, 256>& table = small_float_table(type);
  unpack(
      bit_width(type), static_cast<std::int64_t>(out.size()), bytes,
      [&](std::int64_t i, std::uint32_t code) { out[static_cast<std::size_t>(i)] = table[code]; });
}

template <class T>
void decode_integers(ElementType type, std::string_view bytes, std::span<T> out) {
  const int unused = 8 - bit_width(type);
  unpack(bit_width(type), static_cast<std::int64_t>(out.size()), bytes,
         [&](std::int64_t i, std::uint32_t code) {
           out[static_cast<std::size_t>(i)] =
               static_cast<T>(static_cast<T>(code << unused) >> unused);
         });
}

void copy_plain(ElementType type, std::string_view bytes, Tensor& out) {
  if (bytes.empty()) return;
  if (type != ElementType::boolean) {
    std::memcpy(out.mutable_raw(), bytes.data(), bytes.size());
    return;
  }
  const std::span<bool> flags = out.mutate<bool>();
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = bytes[i] != 0;
}

}  // namespace

std::string to_file_bytes(const Tensor& tensor) {
  const ElementType type = tensor.type();
  ASSAY_CHECK(tensor.defined() && type != ElementType::string);
  if (same_in_memory(type)) {
    return tensor.size() == 0
               ? std::string()
               : std::string(static_cast<const char*>(tensor.raw()), tensor.byte_size());
  }
  const int width = bit_width(type);
  const std::size_t bytes = packed_size(type, tensor.size()).value();
  if (is_real(type)) {
    const std::span<const float> values = tensor.data<float>();
    return pack(width, tensor.size(), bytes, [&](std::int64_t i) {
      return to_bits(type, widen(values[static_cast<std::size_t>(i)]));
    });
  }
  const auto* values = static_cast<const std::uint8_t*>(tensor.raw());
  const std::uint32_t mask = (1u << width) - 1;
  return pack(width, tensor.size(), bytes, [&](std::int64_t i) { return values[i] & mask; });
}

std::optional<Tensor> from_file_bytes(ElementType type, Shape shape, std::string_view bytes) {
  if (type == ElementType::undefined || type == ElementType::string) return std::nullopt;
  const std::optional<std::int64_t> count = checked_element_count(shape);
  if (!count || packed_size(type, *count) != bytes.size()) return std::nullopt;
  Tensor tensor = Tensor::uninitialized(type, std::move(shape));
  if (same_in_memory(type)) {
    copy_plain(type, bytes, tensor);
  } else if (is_real(type)) {
    decode_reals(type, bytes, tensor.mutate<float>());
  } else if (domain_of(type) == Domain::signed_integer) {
    decode_integers(type, bytes, tensor.mutate<std::int8_t>());
  } else {
    decode_integers(type, bytes, tensor.mutate<std::uint8_t>());
  }
  return tensor;
}

}  // namespace assay
