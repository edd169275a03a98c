// JPEG, by libjpeg.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <jerror.h>

#include <jpeglib.h>

#include "ops/image_codecs.h"

namespace assay {
namespace {

// The library calls back on errors and must not return: it jumps. What needs destructors lives
// outside of the functions that are jumped over.
struct Jpeg {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = "";
  bool truncated = false;

  Jpeg() = default;
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;
  ~Jpeg() { jpeg_destroy_decompress(&info); }
};

constexpr int kMostScans = 200;

[[noreturn]] void on_error(j_common_ptr info) {
  auto* jpeg = static_cast<Jpeg*>(info->client_data);
  info->err->format_message(info, jpeg->message);
  std::longjmp(jpeg->jump, 1);
}

void on_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF)
    static_cast<Jpeg*>(info->client_data)->truncated = true;
}

void on_progress(j_common_ptr info) {
  auto* jpeg = static_cast<Jpeg*>(info->client_data);
  if (jpeg->info.input_scan_number <= kMostScans) return;
  std::snprintf(jpeg->message, sizeof jpeg->message, "it has too many scans");
  std::longjmp(jpeg->jump, 1);
}

bool open(Jpeg& jpeg, Bytes file) {
  jpeg.info.err = jpeg_std_error(&jpeg.errors);
  jpeg.errors.error_exit = on_error;
  jpeg.errors.emit_message = on_message;
  jpeg.info.client_data = &jpeg;
  if (setjmp(jpeg.jump) != 0) return false;
  jpeg_create_decompress(&jpeg.info);
  jpeg.progress.progress_monitor = on_progress;
  jpeg.info.progress = &jpeg.progress;
  jpeg_mem_src(&jpeg.info, file.data(), file.size());
  jpeg_read_header(&jpeg.info, TRUE);
  const J_COLOR_SPACE space = jpeg.info.jpeg_color_space;
  const bool four = space == JCS_CMYK || space == JCS_YCCK;
  jpeg.info.out_color_space = four ? JCS_CMYK : JCS_RGB;
  return true;
}

bool read_rows(Jpeg& jpeg, std::uint8_t* pixels, std::size_t stride) {
  if (setjmp(jpeg.jump) != 0) return false;
  jpeg_start_decompress(&jpeg.info);
  while (jpeg.info.output_scanline < jpeg.info.output_height) {
    JSAMPROW row = pixels + jpeg.info.output_scanline * stride;
    jpeg_read_scanlines(&jpeg.info, &row, 1);
  }
  jpeg_finish_decompress(&jpeg.info);
  return true;
}

// Adobe's files hold the four colors inverted.
void from_cmyk(const std::vector<std::uint8_t>& cmyk, bool inverted, Picture& picture) {
  for (std::size_t i = 0; i < picture.rgb.size() / 3; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const int color = inverted ? cmyk[4 * i + c] : 255 - cmyk[4 * i + c];
      const int black = inverted ? cmyk[4 * i + 3] : 255 - cmyk[4 * i + 3];
      picture.rgb[3 * i + c] = static_cast<std::uint8_t>((color * black + 127) / 255);
    }
}

}  // namespace

Picture decode_jpeg(Bytes file) {
  Jpeg jpeg;
  Picture picture;
  if (!open(jpeg, file)) refuse_image(jpeg.message);
  picture.resize(jpeg.info.image_width, jpeg.info.image_height);
  const auto width = static_cast<std::size_t>(picture.width);
  if (jpeg.info.out_color_space == JCS_CMYK) {
    std::vector<std::uint8_t> cmyk(4 * picture.rgb.size() / 3);
    if (!read_rows(jpeg, cmyk.data(), 4 * width)) refuse_image(jpeg.message);
    from_cmyk(cmyk, jpeg.info.saw_Adobe_marker != 0, picture);
  } else if (!read_rows(jpeg, picture.rgb.data(), 3 * width)) {
    refuse_image(jpeg.message);
  }
  if (jpeg.truncated) refuse_image("it ends too early");
  return picture;
}

}  // namespace assay
