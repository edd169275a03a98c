// Decoders of image files. Each takes a whole file in memory and throws EvaluationError if it
// cannot be decoded or is unreasonably large.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using Bytes = std::span<const std::uint8_t>;

// Red, green and blue of each pixel, row by row from the top; a transparency is left out.
struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  // Makes room for a picture of this size, if it is a size that pictures have.
  void resize(std::int64_t new_width, std::int64_t new_height);
  std::uint8_t* row(std::int64_t y) { return rgb.data() + 3 * width * y; }
  std::uint8_t* pixel(std::int64_t x, std::int64_t y) { return row(y) + 3 * x; }
};

[[noreturn]] void refuse_image(std::string_view why);

Picture decode_bmp(Bytes file);
Picture decode_jpeg(Bytes file);
Picture decode_jpeg2000(Bytes file);
Picture decode_png(Bytes file);
Picture decode_pnm(Bytes file);
Picture decode_tiff(Bytes file);
Picture decode_webp(Bytes file);

// By the first bytes of the file.
Picture decode_image(Bytes file);

}  // namespace assay
