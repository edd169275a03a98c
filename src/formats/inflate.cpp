#include "formats/inflate.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <zlib.h>

#include "formats/failure.h"

namespace assay {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;  // a gzip header is expected, and nothing else
constexpr std::size_t kFirstBlock = 1 << 16;

struct End {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

void feed(z_stream& stream, std::string_view& rest) {
  if (stream.avail_in > 0) return;
  const std::size_t size = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  stream.avail_in = static_cast<uInt>(size);
  rest.remove_prefix(size);
}

}  // namespace

std::string inflate(std::string_view compressed, std::size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) throw FormatError("internal", "zlib does not start");
  const std::unique_ptr<z_stream, End> ended(&stream);
  std::string bytes;
  while (true) {
    if (bytes.size() >= most) {
      throw FormatError("limit", "more than 2 GiB lie in the compressed file");
    }
    const std::size_t size = bytes.size();
    bytes.resize(std::min(most, std::max(kFirstBlock, 2 * size)));
    const std::size_t room =
        std::min<std::size_t>(bytes.size() - size, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + size);
    stream.avail_out = static_cast<uInt>(room);
    int state = Z_OK;
    while (state == Z_OK && stream.avail_out > 0) {
      feed(stream, compressed);
      state = ::inflate(&stream, Z_NO_FLUSH);
      // Several parts may follow each other in one file.
      if (state == Z_STREAM_END && (stream.avail_in > 0 || !compressed.empty())) {
        state = inflateReset(&stream);
      }
    }
    bytes.resize(size + room - stream.avail_out);
    if (state == Z_STREAM_END) return bytes;
    if (state != Z_OK) throw FormatError("unreadable", "the gzip file is cut or broken");
  }
}

}  // namespace assay
