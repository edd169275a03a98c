#include "formats/inflate.h"

#include <algorithm>
#include <cstring>
#include <libdeflate.h>
#include <memory>

#include "formats/failure.h"
#include "tensor/buffer.h"

namespace assay {
namespace {

constexpr std::size_t kLeastRoom = 1 << 16;
constexpr std::size_t kMostBelieved = 1 << 26;

struct Free {
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};

// The file ends with the size of its last part, modulo 2^32; whether that is true is seen later.
std::size_t announced_size(std::string_view compressed) {
  std::uint32_t size = 0;
  if (compressed.size() < sizeof size) return 0;
  std::memcpy(&size, compressed.data() + compressed.size() - sizeof size, sizeof size);
  return size;
}

}  // namespace

template <class Bytes>
Bytes inflate(std::string_view compressed, std::size_t most, std::size_t behind) {
  const std::unique_ptr<libdeflate_decompressor, Free> engine(libdeflate_alloc_decompressor());
  if (!engine) throw FormatError("limit", "out of memory");
  std::size_t room =
      std::min(most, std::clamp(announced_size(compressed), kLeastRoom, kMostBelieved));
  Bytes bytes;
  bytes.reserve(room + behind);
  std::size_t size = 0;
  do {  // several parts may follow each other in one file
    bytes.resize(room);
    std::size_t taken = 0, made = 0;
    switch (libdeflate_gzip_decompress_ex(engine.get(), compressed.data(), compressed.size(),
                                          bytes.data() + size, room - size, &taken, &made)) {
      case LIBDEFLATE_SUCCESS:
        compressed.remove_prefix(taken);
        size += made;
        break;
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        if (room == most) throw FormatError("limit", "more than 2 GiB lie in the compressed file");
        room = std::min(most, 2 * room);
        break;
      default:
        throw FormatError("unreadable", "the gzip file is cut or broken");
    }
  } while (!compressed.empty());
  bytes.resize(size);
  return bytes;
}

template std::string inflate(std::string_view, std::size_t, std::size_t);
template Buffer<char> inflate(std::string_view, std::size_t, std::size_t);

}  // namespace assay
