#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "tensor/npy_format.h"

namespace assay {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 64;  // numpy has no more

// What a file says, fit to stand in a message: short, and nothing but visible ASCII.
std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result(text.substr(0, kLongest));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kLongest ? result + "..." : result;
}

// Reads the header's Python literal, a dictionary of three known keys. The first problem sticks.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> parse() {
    NpyHeader header;
    bool seen[3] = {};
    expect('{');
    while (problem_.empty() && !accept('}')) {
      const std::string_view key = parse_string();
      expect(':');
      const int index = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      if (index == 3 || seen[index]) {
        return fail(fmt::format("the key '{}' is unexpected", printable(key)));
      }
      seen[index] = true;
      if (index == 0) header.type = parse_type();
      if (index == 1) header.fortran_order = parse_bool();
      if (index == 2) header.shape = parse_shape();
      if (!accept(',') && peek() != '}') fail("',' or '}' is missing");
    }
    if (problem_.empty() && peek() != '\0') fail("text follows the dictionary");
    if (!(seen[0] && seen[1] && seen[2])) fail("descr, fortran_order or shape is missing");
    if (!problem_.empty()) return std::nullopt;
    return header;
  }
  const std::string& problem() const { return problem_; }

 private:
  std::nullopt_t refuse(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    return std::nullopt;
  }
  std::nullopt_t fail(std::string_view what) {
    return refuse(fmt::format("the .npy header is malformed: {}", what));
  }

  char peek() {
    const std::size_t start = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' is missing", c));
  }
  bool accept_word(std::string_view word) {
    peek();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view parse_string() {
    const char quote = peek();
    const std::size_t end =
        quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail("a string is missing");
      return {};
    }
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail("fortran_order is neither True nor False");
    return false;
  }

  Shape parse_shape() {
    Shape shape;
    expect('(');
    while (problem_.empty() && !accept(')')) {
      std::int64_t extent = 0;
      peek();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc{} || extent < 0) {
        fail("the shape holds what is no extent");
        break;
      }
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept('L');  // Python 2 wrote its long integers so
      shape.push_back(extent);
      if (shape.size() > kMostAxes) fail("the shape has too many axes");
      if (!accept(',') && peek() != ')') fail("the shape is not closed");
    }
    return shape;
  }

  NpyType parse_type() {
    if (peek() == '[') {
      refuse("structured arrays are not supported");
      return {};
    }
    const std::string_view descr = parse_string();
    std::string_view text = descr;
    NpyType type;
    if (!text.empty() && std::string_view("<>|=").find(text.front()) != std::string_view::npos) {
      type.byte_order = text.front() == '=' ? '<' : text.front();
      text.remove_prefix(1);
    }
    if (!text.empty()) type.kind = text.front();
    if (type.kind == '?') return {'|', 'b', 1};
    if (type.kind == 'O') {
      refuse("object arrays hold pickled Python, which is not read");
      return {};
    }
    const char* digits = text.data() + (text.empty() ? 0 : 1);
    const auto [end, error] = std::from_chars(digits, text.data() + text.size(), type.size);
    const bool known_kind = std::string_view("biufcUSV").find(type.kind) != std::string_view::npos;
    if (!known_kind || error != std::errc{} || end != text.data() + text.size()) {
      refuse(fmt::format("the type '{}' is not supported", printable(descr)));
    }
    if (type.kind == 'U' && __builtin_mul_overflow(type.size, 4, &type.size)) {
      refuse(fmt::format("elements of type '{}' are too large", printable(descr)));
    }
    return type;
  }

  std::string_view rest_;
  std::string problem_;
};

}  // namespace

Error npy_error(std::string_view where, std::string_view what) {
  return {"unreadable", fmt::format("{}: {}", where, what), std::string(where)};
}

Error npy_limit_error(std::string_view where, std::string_view what) {
  return {"limit", fmt::format("{}: {}", where, what), std::string(where)};
}

Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view where) {
  if (bytes.empty()) return npy_error(where, "the file is empty");
  if (!bytes.starts_with(kMagic)) return npy_error(where, "this is not a .npy file");
  if (bytes.size() < kMagic.size() + 4) return npy_error(where, "the header is cut off");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return npy_error(where, fmt::format(".npy version {} is not supported", version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = kMagic.size() + 2 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0 && start <= bytes.size();) {
    length = length << 8 | static_cast<unsigned char>(bytes[kMagic.size() + 2 + i]);
  }
  if (start > bytes.size() || length > bytes.size() - start) {
    return npy_error(where, "the header is cut off");
  }
  HeaderParser parser(bytes.substr(start, length));
  std::optional<NpyHeader> header = parser.parse();
  if (!header) return npy_error(where, parser.problem());
  header->data_offset = start + length;
  return *std::move(header);
}

}  // namespace assay
