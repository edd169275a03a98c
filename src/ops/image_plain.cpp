// Formats simple enough to be read here: BMP and the portable formats.
#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "ops/image_codecs.h"

namespace assay {
namespace {

// Little-endian numbers of a file; what lies behind its end is refused.
class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}

  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    std::uint32_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | byte(at + i);
    return value;
  }
  std::uint8_t byte(std::size_t at) const {
    if (at >= file_.size()) refuse_image("it ends too early");
    return file_[at];
  }
  std::size_t size() const { return file_.size(); }

 private:
  Bytes file_;
};

// Some bits of a pixel as one color.
struct Mask {
  int shift = 0;
  std::uint32_t most = 0;

  static Mask of(std::uint32_t bits) {
    Mask mask;
    if (bits == 0) return mask;
    while ((bits >> mask.shift & 1) == 0) ++mask.shift;
    mask.most = bits >> mask.shift;
    return mask;
  }
  std::uint8_t color(std::uint32_t pixel) const {
    if (most == 0) return 0;
    const std::uint64_t value = pixel >> shift & most;
    return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
  }
};

class Bmp {
 public:
  explicit Bmp(Bytes file) : in_(file) {
    const std::uint32_t header = in_.number(14, 4);
    const bool core = header == 12;
    if (!core && header < 40) refuse_image("its header is too short");
    const std::int64_t width = core ? in_.number(18, 2) : as_signed(in_.number(18, 4));
    std::int64_t height = core ? in_.number(20, 2) : as_signed(in_.number(22, 4));
    top_down_ = height < 0;
    bits_ = in_.number(core ? 24 : 28, 2);
    compression_ = core ? 0 : in_.number(30, 4);
    pixels_ = in_.number(10, 4);
    picture_.resize(width, top_down_ ? -height : height);
    palette_ = 14 + header;
    palette_entry_ = core ? 3 : 4;
    const bool own_masks = compression_ == 3 || compression_ == 6;
    if (own_masks && header == 40) palette_ += compression_ == 3 ? 12 : 16;
    read_masks(own_masks);
    read_palette(core ? 0 : in_.number(46, 4));
  }

  Picture read() {
    if (compression_ == 1 || compression_ == 2)
      read_runs();
    else if (compression_ == 0 || compression_ == 3 || compression_ == 6)
      read_rows();
    else
      refuse_image("its compression is not known");
    return std::move(picture_);
  }

 private:
  static std::int64_t as_signed(std::uint32_t x) { return static_cast<std::int32_t>(x); }

  void read_masks(bool own) {
    std::uint32_t masks[3] = {0xff0000, 0xff00, 0xff};
    if (bits_ == 16) masks[0] = 0x7c00, masks[1] = 0x3e0, masks[2] = 0x1f;
    for (std::size_t c = 0; c < 3; ++c)
      masks_[c] = Mask::of(own ? in_.number(54 + 4 * c, 4) : masks[c]);
  }

  void read_palette(std::uint32_t given) {
    if (bits_ > 8) return;
    if (bits_ != 1 && bits_ != 2 && bits_ != 4 && bits_ != 8)
      refuse_image("its depth is not known");
    const std::uint32_t most = 1u << bits_;
    const std::uint32_t count = given == 0 ? most : std::min(given, most);
    colors_.assign(most, {});
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        colors_[i][c] = in_.byte(palette_ + i * palette_entry_ + 2 - c);
  }

  std::int64_t line(std::int64_t y) const { return top_down_ ? y : picture_.height - 1 - y; }

  void put_index(std::int64_t x, std::int64_t y, std::size_t index) {
    if (x < 0 || x >= picture_.width || y < 0 || y >= picture_.height) return;
    std::copy_n(colors_[index].data(), 3, picture_.pixel(x, line(y)));
  }

  void read_rows() {
    if (bits_ > 8 && bits_ != 16 && bits_ != 24 && bits_ != 32)
      refuse_image("its depth is not known");
    const auto stride = (static_cast<std::size_t>(picture_.width) * bits_ + 31) / 32 * 4;
    for (std::int64_t y = 0; y < picture_.height; ++y) {
      const std::size_t row = pixels_ + stride * static_cast<std::size_t>(y);
      for (std::int64_t x = 0; x < picture_.width; ++x) {
        const std::size_t bit = static_cast<std::size_t>(x) * bits_;
        if (bits_ <= 8) {
          const std::uint32_t byte = in_.byte(row + bit / 8);
          put_index(x, y, byte >> (8 - bits_ - bit % 8) & ((1u << bits_) - 1));
          continue;
        }
        const std::uint32_t pixel = in_.number(row + bit / 8, bits_ / 8);
        for (std::size_t c = 0; c < 3; ++c) picture_.pixel(x, line(y))[c] = masks_[c].color(pixel);
      }
    }
  }

  // Runs of one color, and escapes: the end of a line, of the picture, a jump, plain pixels.
  void read_runs() {
    const bool nibbles = compression_ == 2;
    if (bits_ != (nibbles ? 4u : 8u)) refuse_image("its compression does not fit its depth");
    for (std::int64_t y = 0; y < picture_.height; ++y)
      for (std::int64_t x = 0; x < picture_.width; ++x) put_index(x, y, 0);
    std::int64_t x = 0, y = 0;
    const auto index = [&](std::uint32_t byte, std::uint32_t i) {
      return nibbles ? (i % 2 == 0 ? byte >> 4 : byte & 15) : byte;
    };
    for (std::size_t at = pixels_; y < picture_.height;) {
      const std::uint32_t count = in_.byte(at), value = in_.byte(at + 1);
      at += 2;
      if (count > 0) {
        for (std::uint32_t i = 0; i < count; ++i) put_index(x++, y, index(value, i));
      } else if (value == 0) {
        x = 0;
        ++y;
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        x += in_.byte(at);
        y += in_.byte(at + 1);
        at += 2;
      } else {
        for (std::uint32_t i = 0; i < value; ++i)
          put_index(x++, y, index(in_.byte(at + (nibbles ? i / 2 : i)), i));
        const std::size_t bytes = nibbles ? (value + 1) / 2 : value;
        at += bytes + bytes % 2;
      }
    }
  }

  Reader in_;
  Picture picture_;
  std::vector<std::array<std::uint8_t, 3>> colors_;
  Mask masks_[3];
  std::uint32_t bits_ = 0, compression_ = 0;
  std::size_t pixels_ = 0, palette_ = 0, palette_entry_ = 4;
  bool top_down_ = false;
};

// The words and numbers of a portable format's header, with comments left out.
class Words {
 public:
  Words(Bytes file, std::size_t at) : file_(file), at_(at) {}

  std::string word() {
    skip_space();
    std::string result;
    while (at_ < file_.size() && std::isspace(file_[at_]) == 0 && result.size() < 32)
      result.push_back(static_cast<char>(file_[at_++]));
    return result;
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    if (at_ >= file_.size() || std::isdigit(file_[at_]) == 0) refuse_image("a number is missing");
    while (at_ < file_.size() && std::isdigit(file_[at_]) != 0) {
      value = value * 10 + (file_[at_++] - '0');
      if (value > std::numeric_limits<std::int32_t>::max()) refuse_image("a number is too large");
    }
    return value;
  }

  // One digit, which may touch the next one.
  std::int64_t bit() {
    skip_space();
    if (at_ >= file_.size() || (file_[at_] != '0' && file_[at_] != '1'))
      refuse_image("a bit is missing");
    return file_[at_++] - '0';
  }

  std::size_t behind_space() const { return at_ + 1; }
  std::size_t place() const { return at_; }

 private:
  void skip_space() {
    while (at_ < file_.size()) {
      if (file_[at_] == '#')
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      else if (std::isspace(file_[at_]) != 0)
        ++at_;
      else
        return;
    }
  }

  Bytes file_;
  std::size_t at_;
};

struct PortableHeader {
  std::int64_t width = 0, height = 0, most = 1, channels = 1;
  std::size_t data = 0;
};

PortableHeader read_arbitrary_map(Words& words) {
  PortableHeader header;
  for (std::string word = words.word(); word != "ENDHDR"; word = words.word()) {
    if (word == "WIDTH")
      header.width = words.number();
    else if (word == "HEIGHT")
      header.height = words.number();
    else if (word == "DEPTH")
      header.channels = words.number();
    else if (word == "MAXVAL")
      header.most = words.number();
    else if (word == "TUPLTYPE")
      words.word();
    else
      refuse_image("its header is broken");
  }
  header.data = words.behind_space();
  return header;
}

}  // namespace

Picture decode_bmp(Bytes file) { return Bmp(file).read(); }

Picture decode_pnm(Bytes file) {
  const char kind = static_cast<char>(file[1]);
  Words words(file, 2);
  PortableHeader header;
  if (kind == '7') {
    header = read_arbitrary_map(words);
  } else {
    header.width = words.number();
    header.height = words.number();
    if (kind != '1' && kind != '4') header.most = words.number();
    header.channels = kind == '3' || kind == '6' ? 3 : 1;
    header.data = words.behind_space();
  }
  if (header.most < 1 || header.most > 65535) refuse_image("its largest value is out of range");
  if (header.channels < 1 || header.channels > 4) refuse_image("it has too many channels");
  Picture picture;
  picture.resize(header.width, header.height);
  const bool text = kind <= '3';
  const std::size_t bytes = header.most > 255 ? 2 : 1;
  const auto row_bytes = (static_cast<std::size_t>(header.width) + 7) / 8;
  std::size_t at = header.data;
  const Reader in(file);
  const auto sample = [&](std::int64_t x, std::int64_t y) -> std::int64_t {
    if (kind == '1') return 1 - words.bit();
    if (kind == '4') {
      const std::size_t place = header.data + static_cast<std::size_t>(y) * row_bytes;
      return 1 - (in.byte(place + static_cast<std::size_t>(x / 8)) >> (7 - x % 8) & 1);
    }
    if (text) return words.number();
    std::int64_t value = in.byte(at++);
    if (bytes == 2) value = value << 8 | in.byte(at++);
    return value;
  };
  for (std::int64_t y = 0; y < header.height; ++y)
    for (std::int64_t x = 0; x < header.width; ++x) {
      std::int64_t colors[4] = {};
      for (std::int64_t c = 0; c < header.channels; ++c)
        colors[c] =
            std::min<std::int64_t>(255, (sample(x, y) * 255 + header.most / 2) / header.most);
      for (std::size_t c = 0; c < 3; ++c)
        picture.pixel(x, y)[c] = static_cast<std::uint8_t>(colors[header.channels >= 3 ? c : 0]);
    }
  return picture;
}

}  // namespace assay
