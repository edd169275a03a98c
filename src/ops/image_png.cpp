// PNG, by libpng.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <png.h>

#include "ops/image_codecs.h"

namespace assay {
namespace {

// The library jumps on errors, as libjpeg does.
struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes rest;
  char message[128] = "";

  Png() = default;
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  ~Png() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp why) {
  auto* state = static_cast<Png*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof state->message, "%s", why);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, std::size_t count) {
  auto* state = static_cast<Png*>(png_get_io_ptr(png));
  if (count > state->rest.size()) png_error(png, "it ends too early");
  std::memcpy(out, state->rest.data(), count);
  state->rest = state->rest.subspan(count);
}

bool open(Png& state, Bytes file) {
  state.rest = file;
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  if (!state.png) return false;
  state.info = png_create_info_struct(state.png);
  if (!state.info) return false;
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_read_fn(state.png, &state, on_read);
  png_set_chunk_malloc_max(state.png, 1 << 24);
  png_read_info(state.png, state.info);
  png_set_scale_16(state.png);
  png_set_expand(state.png);
  png_set_strip_alpha(state.png);
  png_set_gray_to_rgb(state.png);
  png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  return true;
}

bool read_rows(Png& state, png_bytepp rows) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_read_image(state.png, rows);
  png_read_end(state.png, nullptr);
  return true;
}

}  // namespace

Picture decode_png(Bytes file) {
  Png state;
  Picture picture;
  std::vector<png_bytep> rows;
  if (!open(state, file)) refuse_image(state.message);
  picture.resize(png_get_image_width(state.png, state.info),
                 png_get_image_height(state.png, state.info));
  if (png_get_rowbytes(state.png, state.info) != static_cast<std::size_t>(3 * picture.width))
    refuse_image("its rows have an unexpected length");
  for (std::int64_t y = 0; y < picture.height; ++y) rows.push_back(picture.row(y));
  if (!read_rows(state, rows.data())) refuse_image(state.message);
  return picture;
}

}  // namespace assay
