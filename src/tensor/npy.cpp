#include "tensor/npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include <fmt/format.h>

#include "tensor/npy_format.h"
#include "tensor/utf.h"

namespace assay {
namespace {

// An element type for numbers and booleans; nullopt for text, bytes, void and the unknown.
std::optional<ElementType> element_type_of(const NpyType& type) {
  struct Row {
    char kind;
    std::size_t size;
    ElementType type;
  };
  static constexpr Row kRows[] = {
      {'f', 2, ElementType::f16},    {'f', 4, ElementType::f32},
      {'f', 8, ElementType::f64},    {'i', 1, ElementType::i8},
      {'i', 2, ElementType::i16},    {'i', 4, ElementType::i32},
      {'i', 8, ElementType::i64},    {'u', 1, ElementType::u8},
      {'u', 2, ElementType::u16},    {'u', 4, ElementType::u32},
      {'u', 8, ElementType::u64},    {'b', 1, ElementType::boolean},
      {'c', 8, ElementType::c64},    {'c', 16, ElementType::c128},
      {'f', 1, ElementType::f8e5m2},  // the name that ml_dtypes gives its float8_e5m2
  };
  for (const Row& row : kRows) {
    if (row.kind == type.kind && row.size == type.size) return row.type;
  }
  return std::nullopt;
}

bool is_text(const NpyType& type) {
  return type.kind == 'U' || type.kind == 'S' || type.kind == 'V';
}

// Column-major elements in row-major order.
std::string to_row_major(std::string_view bytes, const Shape& shape, std::size_t width) {
  std::string result(bytes.size(), '\0');
  if (bytes.empty()) return result;
  std::vector<std::size_t> strides;
  std::size_t stride = width;
  for (const std::int64_t extent : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::size_t>(extent);
  }
  Shape index(shape.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += width) {
    std::memcpy(result.data() + to, bytes.data() + from, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

// How many bytes are swapped as one number.
std::size_t swapped_width(const NpyType& type) {
  if (type.kind == 'U') return 4;
  if (type.kind == 'c') return type.size / 2;
  return type.kind == 'S' || type.kind == 'V' ? 1 : type.size;
}

void swap_bytes(std::string& bytes, std::size_t width) {
  for (auto i = bytes.begin(); i != bytes.end(); i += static_cast<std::ptrdiff_t>(width)) {
    std::reverse(i, i + static_cast<std::ptrdiff_t>(width));
  }
}

std::optional<std::string> decode_element(const NpyType& type, std::string_view bytes) {
  if (type.kind == 'V') return std::string(bytes);
  if (type.kind == 'S') return std::string(bytes.substr(0, bytes.find_last_not_of('\0') + 1));
  std::u32string text(bytes.size() / 4, U'\0');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  text.resize(text.find_last_not_of(U'\0') + 1);
  return encode_utf8(text);
}

Result<Tensor> decode_text(const NpyHeader& header, std::string_view bytes,
                           std::string_view where) {
  Tensor tensor(ElementType::string, header.shape);
  const std::span<std::string> texts = tensor.mutate<std::string>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::optional<std::string> text =
        decode_element(header.type, bytes.substr(i * header.type.size, header.type.size));
    if (!text) return npy_error(where, "a string holds what is no Unicode character");
    texts[i] = *std::move(text);
  }
  return tensor;
}

Result<Tensor> decode_elements(const NpyHeader& header, std::string_view bytes,
                               std::string_view where) {
  std::string own;
  const std::size_t swapped = swapped_width(header.type);
  if (header.fortran_order && header.shape.size() > 1) {
    own = to_row_major(bytes, header.shape, header.type.size);
    bytes = own;
  }
  if (header.type.byte_order == '>' && swapped > 1) {
    if (own.empty()) own = bytes;
    swap_bytes(own, swapped);
    bytes = own;
  }
  if (is_text(header.type)) return decode_text(header, bytes, where);
  std::optional<Tensor> tensor =
      from_file_bytes(element_type_of(header.type).value(), header.shape, bytes);
  ASSAY_CHECK(tensor.has_value());
  return *std::move(tensor);
}

Result<Tensor> parse_checked(std::string_view bytes, std::string_view where) {
  const Result<NpyHeader> header = parse_npy_header(bytes, where);
  if (!header) return header.error();
  const NpyType& type = header->type;
  if (!is_text(type) && !element_type_of(type)) {
    return npy_error(where, fmt::format("the type '{}{}' is not supported", type.kind, type.size));
  }
  // A type of no bytes would let a short file ask for any number of strings.
  if (type.size == 0) return npy_error(where, "its elements have no bytes");
  const std::optional<std::int64_t> count = checked_element_count(header->shape);
  std::size_t needed = 0;
  if (!count || __builtin_mul_overflow(static_cast<std::size_t>(*count), type.size, &needed)) {
    return npy_error(where, fmt::format("the shape {} is absurd", to_text(header->shape)));
  }
  const std::string_view data = bytes.substr(header->data_offset);
  if (data.size() != needed) {
    return npy_error(where, fmt::format("its shape {} takes {} bytes, but {} are there",
                                        to_text(header->shape), needed, data.size()));
  }
  return decode_elements(*header, data, where);
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return npy_error(path, fmt::format("cannot be opened ({})", std::strerror(errno)));
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  std::string bytes;
  while (file) {
    const std::size_t have = bytes.size();
    if (have > memory_limit()) return npy_limit_error(path, "the file exceeds the memory limit");
    bytes.resize(have + std::max(kChunk, have));
    file.read(bytes.data() + have, static_cast<std::streamsize>(bytes.size() - have));
    bytes.resize(have + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return npy_error(path, "cannot be read");
  return bytes;
}

}  // namespace

Result<Tensor> parse_npy(std::string_view bytes, std::string_view where) {
  try {
    return parse_checked(bytes, where);
  } catch (const MemoryLimitError& error) {
    return npy_limit_error(where, error.what());
  } catch (const std::bad_alloc&) {
    return npy_limit_error(where, "the memory does not suffice");
  }
}

Result<Tensor> read_npy(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  return bytes ? parse_npy(*bytes, path) : Result<Tensor>(bytes.error());
}

Result<void> write_npy(const std::string& path, const Tensor& tensor) {
  const Result<NpyParts> parts = make_npy_parts(tensor, path);
  if (!parts) return parts.error();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return npy_error(path, fmt::format("cannot be written ({})", std::strerror(errno)));
  const std::string_view payload = parts->payload();
  file.write(parts->header.data(), static_cast<std::streamsize>(parts->header.size()));
  file.write(payload.data(), static_cast<std::streamsize>(payload.size()));
  file.close();
  if (!file) return npy_error(path, "cannot be written");
  return {};
}

std::optional<Tensor> from_raw_elements(const Tensor& raw, ElementType type) {
  const auto bits = static_cast<std::size_t>(bit_width(type));
  if (raw.type() != ElementType::string || bits == 0) return std::nullopt;
  const std::size_t width = (bits + 7) / 8;
  std::string bytes;
  for (const std::string& element : raw.data<std::string>()) {
    if (element.size() != width) return std::nullopt;
    bytes += element;
  }
  if (bits >= 8) return from_file_bytes(type, raw.shape(), bytes);
  Tensor tensor = Tensor::uninitialized(type, raw.shape());
  visit_storage(type, [&]<class T>(T*) {
    if constexpr (std::is_arithmetic_v<T>) {
      const std::span<T> out = tensor.mutate<T>();
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto code = static_cast<unsigned char>(bytes[i]);
        out[i] = static_cast<T>(is_real(type) ? from_bits(type, code)
                                : domain_of(type) == Domain::signed_integer
                                    ? static_cast<double>(wrap_signed(type, code))
                                    : static_cast<double>(wrap_unsigned(type, code)));
      }
    }
  });
  return tensor;
}

}  // namespace assay
