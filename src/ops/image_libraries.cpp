// TIFF, WebP and JPEG 2000, by their libraries.
#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <memory>

#include <openjpeg.h>
#include <tiffio.h>
#include <webp/decode.h>

#include "ops/image_codecs.h"

namespace assay {
namespace {

// A file in memory as the libraries read it.
struct Stream {
  Bytes file;
  std::size_t at = 0;

  std::size_t read(void* out, std::size_t count) {
    const std::size_t some = std::min(count, file.size() - std::min(at, file.size()));
    if (some > 0) std::memcpy(out, file.data() + at, some);
    at += some;
    return some;
  }
};

tmsize_t tiff_read(thandle_t handle, void* out, tmsize_t count) {
  return count < 0 ? -1
                   : static_cast<tmsize_t>(
                         static_cast<Stream*>(handle)->read(out, static_cast<std::size_t>(count)));
}
tmsize_t tiff_write(thandle_t, void*, tmsize_t) { return 0; }
int tiff_close(thandle_t) { return 0; }
toff_t tiff_size(thandle_t handle) { return static_cast<Stream*>(handle)->file.size(); }
toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
  auto* stream = static_cast<Stream*>(handle);
  if (whence == SEEK_CUR) offset += stream->at;
  if (whence == SEEK_END) offset += stream->file.size();
  stream->at = static_cast<std::size_t>(offset);
  return offset;
}
int tiff_silent(TIFF*, void*, const char*, const char*, std::va_list) { return 1; }

struct StreamEnd {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};
struct CodecEnd {
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
};

// Components take four bytes a pixel before they become a picture, so that a few bytes must not
// ask for many pixels.
bool jp2_header_is_sane(const opj_image_t& image, Bytes file, Picture& picture) {
  if (image.numcomps < 1 || image.numcomps > 4) return false;
  for (std::uint32_t c = 0; c < image.numcomps; ++c) {
    const opj_image_comp_t& part = image.comps[c];
    if (part.prec < 1 || part.prec > 31 || part.dx < 1 || part.dy < 1) return false;
  }
  picture.resize(static_cast<std::int64_t>(image.x1) - image.x0,
                 static_cast<std::int64_t>(image.y1) - image.y0);
  return picture.rgb.size() / 3 >> 14 <= file.size();
}

OPJ_SIZE_T jp2_read(void* out, OPJ_SIZE_T count, void* data) {
  const std::size_t some = static_cast<Stream*>(data)->read(out, count);
  return some == 0 ? static_cast<OPJ_SIZE_T>(-1) : some;
}
OPJ_OFF_T jp2_skip(OPJ_OFF_T count, void* data) {
  auto* stream = static_cast<Stream*>(data);
  if (count < 0 || static_cast<std::size_t>(count) > stream->file.size() - stream->at) return -1;
  stream->at += static_cast<std::size_t>(count);
  return count;
}
OPJ_BOOL jp2_seek(OPJ_OFF_T place, void* data) {
  auto* stream = static_cast<Stream*>(data);
  if (place < 0 || static_cast<std::size_t>(place) > stream->file.size()) return OPJ_FALSE;
  stream->at = static_cast<std::size_t>(place);
  return OPJ_TRUE;
}
void jp2_silent(const char*, void*) {}

// One component at a pixel, in 8 bits.
int jp2_sample(const opj_image_comp_t& part, std::int64_t x, std::int64_t y) {
  const std::int64_t column = std::min<std::int64_t>(x / part.dx, part.w - 1);
  const std::int64_t row = std::min<std::int64_t>(y / part.dy, part.h - 1);
  std::int64_t value = part.data[row * part.w + column];
  if (part.sgnd != 0) value += std::int64_t{1} << (part.prec - 1);
  if (part.prec > 8) value >>= part.prec - 8;
  if (part.prec < 8) value = value * 255 / ((1 << part.prec) - 1);
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, 255));
}

std::uint8_t to_byte(double x) {
  return static_cast<std::uint8_t>(std::clamp(x + 0.5, 0.0, 255.0));
}

void jp2_pixels(const opj_image_t& image, Picture& picture) {
  const bool color = image.numcomps >= 3;
  for (std::uint32_t c = 0; c < (color ? 3u : 1u); ++c)
    if (!image.comps[c].data || image.comps[c].w == 0 || image.comps[c].h == 0)
      refuse_image("a component is missing");
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x) {
      std::uint8_t* rgb = picture.pixel(x, y);
      int parts[3];
      for (int c = 0; c < 3; ++c) parts[c] = jp2_sample(image.comps[color ? c : 0], x, y);
      if (color && image.color_space == OPJ_CLRSPC_SYCC) {
        const double blue = parts[1] - 128, red = parts[2] - 128;
        rgb[0] = to_byte(parts[0] + 1.402 * red);
        rgb[1] = to_byte(parts[0] - 0.344136 * blue - 0.714136 * red);
        rgb[2] = to_byte(parts[0] + 1.772 * blue);
      } else {
        for (int c = 0; c < 3; ++c) rgb[c] = static_cast<std::uint8_t>(parts[c]);
      }
    }
}

}  // namespace

Picture decode_webp(Bytes file) {
  int width = 0, height = 0;
  if (WebPGetInfo(file.data(), file.size(), &width, &height) == 0)
    refuse_image("its header is broken");
  Picture picture;
  picture.resize(width, height);
  if (!WebPDecodeRGBInto(file.data(), file.size(), picture.rgb.data(), picture.rgb.size(),
                         3 * width))
    refuse_image("its data is broken");
  return picture;
}

Picture decode_tiff(Bytes file) {
  Stream stream{file};
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
      TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), tiff_silent, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), tiff_silent, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), tmsize_t{1} << 29);
  const std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(
      TIFFClientOpenExt("image", "rm", &stream, tiff_read, tiff_write, tiff_seek, tiff_close,
                        tiff_size, nullptr, nullptr, options.get()),
      TIFFClose);
  if (!tiff) refuse_image("its header is broken");
  std::uint32_t width = 0, height = 0;
  if (TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0)
    refuse_image("its size is missing");
  Picture picture;
  picture.resize(width, height);
  std::vector<std::uint32_t> raster(picture.rgb.size() / 3);
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, 1) ==
      0)
    refuse_image("its data is broken");
  for (std::size_t i = 0; i < raster.size(); ++i) {
    picture.rgb[3 * i] = static_cast<std::uint8_t>(TIFFGetR(raster[i]));
    picture.rgb[3 * i + 1] = static_cast<std::uint8_t>(TIFFGetG(raster[i]));
    picture.rgb[3 * i + 2] = static_cast<std::uint8_t>(TIFFGetB(raster[i]));
  }
  return picture;
}

Picture decode_jpeg2000(Bytes file) {
  Stream data{file};
  const std::unique_ptr<opj_stream_t, StreamEnd> stream(opj_stream_create(1 << 16, OPJ_TRUE));
  const std::unique_ptr<opj_codec_t, CodecEnd> codec(
      opj_create_decompress(file[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  if (!stream || !codec) refuse_image("there is no decoder");
  opj_stream_set_user_data(stream.get(), &data, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), jp2_read);
  opj_stream_set_skip_function(stream.get(), jp2_skip);
  opj_stream_set_seek_function(stream.get(), jp2_seek);
  opj_set_error_handler(codec.get(), jp2_silent, nullptr);
  opj_set_warning_handler(codec.get(), jp2_silent, nullptr);
  opj_set_info_handler(codec.get(), jp2_silent, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE) refuse_image("there is no decoder");
  opj_image_t* raw = nullptr;
  const OPJ_BOOL headed = opj_read_header(stream.get(), codec.get(), &raw);
  const std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)> image(raw, opj_image_destroy);
  Picture picture;
  if (headed == OPJ_FALSE || !image || !jp2_header_is_sane(*image, file, picture))
    refuse_image("its header is broken");
  if (opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE)
    refuse_image("its data is broken");
  jp2_pixels(*image, picture);
  return picture;
}

}  // namespace assay
