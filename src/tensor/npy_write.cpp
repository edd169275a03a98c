#include <algorithm>

#include <fmt/format.h>

#include "tensor/npy_format.h"
#include "tensor/utf.h"

namespace assay {
namespace {

std::string make_header(std::string_view descr, const Shape& shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() == 1) extents.pop_back();                 // "3,"
  if (shape.size() > 1) extents.resize(extents.size() - 2);  // "3, 4"
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, extents);
  // Version 1.0 has two bytes for the length. Data starts at a multiple of 64.
  const bool wide = dictionary.size() + 128 > 0xFFFF;
  const std::size_t start = wide ? 12 : 10;
  dictionary.resize((start + dictionary.size() + 1 + 63) / 64 * 64 - start - 1, ' ');
  dictionary += '\n';
  std::string header =
      wide ? std::string("\x93NUMPY\x02\x00", 8) : std::string("\x93NUMPY\x01\x00", 8);
  for (std::size_t i = 0; i < start - 8; ++i) {
    header += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
  }
  return header + dictionary;
}

// numpy's own type; empty for those that it lacks.
std::string descr_of(ElementType type) {
  const bool standard_float =
      type == ElementType::f16 || type == ElementType::f32 || type == ElementType::f64;
  const int bits = bit_width(type);
  char kind = 0;
  switch (domain_of(type)) {
    case Domain::real:
      kind = standard_float ? 'f' : '\0';
      break;
    case Domain::signed_integer:
      kind = 'i';
      break;
    case Domain::unsigned_integer:
      kind = 'u';
      break;
    case Domain::boolean:
      kind = 'b';
      break;
    case Domain::complex:
      kind = 'c';
      break;
    default:
      break;
  }
  if (kind == 0 || bits < 8) return {};
  return fmt::format("{}{}{}", bits == 8 ? '|' : '<', kind, bits / 8);
}

// One element's bits in each byte or pair of bytes.
std::string raw_elements(const Tensor& tensor) {
  const ElementType type = tensor.type();
  if (bit_width(type) >= 8) return to_file_bytes(tensor);
  std::string bytes(static_cast<std::size_t>(tensor.size()), '\0');
  const std::uint64_t mask = (std::uint64_t{1} << bit_width(type)) - 1;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::uint64_t code = is_real(type) ? to_bits(type, tensor.real(i))
                                             : static_cast<std::uint64_t>(tensor.integer(i)) & mask;
    bytes[static_cast<std::size_t>(i)] = static_cast<char>(code);
  }
  return bytes;
}

struct TextElements {
  char kind;           // 'U', or 'S' if a string is no UTF-8
  std::size_t length;  // characters an element, at least one
};

TextElements survey(std::span<const std::string> texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    const std::optional<std::u32string> decoded = decode_utf8(text);
    if (!decoded) {
      for (const std::string& other : texts) longest = std::max(longest, other.size());
      return {'S', longest};
    }
    longest = std::max(longest, decoded->size());
  }
  return {'U', longest};
}

Result<NpyParts> make_text_parts(const Tensor& tensor, std::string_view where) {
  const std::span<const std::string> texts = tensor.data<std::string>();
  if (std::ranges::any_of(texts, [](const std::string& t) { return t.ends_with('\0'); })) {
    return Error{"invalid",
                 fmt::format("{}: numpy cannot hold a string that ends in a zero byte", where),
                 std::string(where)};
  }
  const auto [kind, length] = survey(texts);
  const std::size_t width = kind == 'U' ? 4 * length : length;
  std::size_t total = 0;
  if (__builtin_mul_overflow(texts.size(), width, &total) || total > memory_limit()) {
    return npy_limit_error(where, fmt::format("{} strings of {} bytes each exceed the memory limit",
                                              texts.size(), width));
  }
  NpyParts parts;
  parts.header =
      make_header(fmt::format("{}{}{}", kind == 'U' ? '<' : '|', kind, length), tensor.shape());
  parts.own_payload.resize(total);
  auto out = parts.own_payload.begin();
  for (const std::string& text : texts) {
    if (kind == 'U') {
      const std::u32string decoded = decode_utf8(text).value();
      const auto* bytes = reinterpret_cast<const char*>(decoded.data());
      std::copy_n(bytes, 4 * decoded.size(), out);
    } else {
      std::ranges::copy(text, out);
    }
    out += static_cast<std::ptrdiff_t>(width);
  }
  return parts;
}

}  // namespace

Result<NpyParts> make_npy_parts(const Tensor& tensor, std::string_view where) {
  ASSAY_CHECK(tensor.defined());
  const ElementType type = tensor.type();
  if (type == ElementType::string) return make_text_parts(tensor, where);
  NpyParts parts;
  const std::string descr = descr_of(type);
  if (descr.empty()) {
    parts.header = make_header(bit_width(type) <= 8 ? "|V1" : "|V2", tensor.shape());
    parts.own_payload = raw_elements(tensor);
  } else {
    parts.header = make_header(descr, tensor.shape());
    if (type == ElementType::f16) {
      parts.own_payload = to_file_bytes(tensor);
    } else {
      parts.tensor_payload = {static_cast<const char*>(tensor.raw()), tensor.byte_size()};
    }
  }
  return parts;
}

}  // namespace assay
