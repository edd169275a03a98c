// Images from files.
#include <algorithm>

#include "ops/families.h"
#include "ops/image_codecs.h"

namespace assay {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;

bool begins_with(Bytes file, std::string_view magic, std::size_t at = 0) {
  return file.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

// ITU-R 601 luma in 16-bit fixed point, as Pillow rounds it.
std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                                   16);
}

bool is_gray(const Site& site) { return site.text("pixel_format") == "Grayscale"; }

void evaluate_image_decoder(Call& call) {
  const auto file = call.exact(0).data<std::uint8_t>();
  const Picture picture = decode_image(file);
  const bool gray = is_gray(call.site), reversed = call.site.text("pixel_format") == "BGR";
  Tensor image(ElementType::u8, {picture.height, picture.width, gray ? 1 : 3});
  const auto out = image.mutate<std::uint8_t>();
  const std::uint8_t* from = picture.rgb.data();
  for (std::size_t i = 0; i < out.size(); from += 3) {
    if (gray) {
      out[i++] = luma(from);
    } else {
      for (std::size_t c = 0; c < 3; ++c) out[i++] = from[reversed ? 2 - c : c];
    }
  }
  call.outputs[0] = std::move(image);
}

Operator image_decoder() {
  return {.name = "ImageDecoder",
          .versions = {20},
          .summary = "The pixels of an image file: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP.",
          .attributes = {{"pixel_format", Role::choice}},
          .require =
              [](Check& c) {
                c.one_of("pixel_format", {"RGB", "BGR", "Grayscale"});
                c.rank("encoded_stream", exactly(1));
              },
          .infer =
              [](Infer& n) {
                n.output(0, ElementType::u8, {Dim(), Dim(), Dim(is_gray(n.site) ? 1 : 3)});
              },
          .meaning = custom(Pattern::opaque, evaluate_image_decoder)};
}

}  // namespace

void refuse_image(std::string_view why) {
  throw EvaluationError("ImageDecoder.file", "the image cannot be decoded: " + std::string(why));
}

void Picture::resize(std::int64_t new_width, std::int64_t new_height) {
  if (new_width < 1 || new_height < 1) refuse_image("it has no pixels");
  if (new_width > kMostPixels || new_height > kMostPixels / new_width)
    refuse_image("it has too many pixels");
  width = new_width;
  height = new_height;
  rgb.assign(static_cast<std::size_t>(3 * width * height), 0);
}

Picture decode_image(Bytes file) {
  if (begins_with(file, "\xff\xd8\xff")) return decode_jpeg(file);
  if (begins_with(file, "\x89PNG\r\n\x1a\n")) return decode_png(file);
  if (begins_with(file, "BM")) return decode_bmp(file);
  if (begins_with(file, "RIFF") && begins_with(file, "WEBP", 8)) return decode_webp(file);
  if (begins_with(file, std::string_view("II*\0", 4)) ||
      begins_with(file, std::string_view("MM\0*", 4)) ||
      begins_with(file, std::string_view("II+\0", 4)) ||
      begins_with(file, std::string_view("MM\0+", 4)))
    return decode_tiff(file);
  if (begins_with(file, std::string_view("\0\0\0\x0cjP  \r\n\x87\n", 12)) ||
      begins_with(file, "\xff\x4f\xff\x51"))
    return decode_jpeg2000(file);
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7')
    return decode_pnm(file);
  refuse_image("its format is not known");
}

std::vector<Operator> image_operators() { return {image_decoder()}; }

}  // namespace assay
