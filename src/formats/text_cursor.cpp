#include "formats/text_cursor.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "formats/failure.h"
#include "graph/names.h"

namespace assay {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_./-").find(c) != std::string_view::npos;
}

bool ends_number(char c) {
  return is_space(c) || std::string_view(",:(){}[]'=").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view without_comment(std::string_view line) {
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (inside && line[i] == '\\') {
      ++i;
    } else if (line[i] == '\'') {
      inside = !inside;
    } else if (line[i] == '#' && !inside) {
      return line.substr(0, i);
    }
  }
  return line;
}

TextCursor::TextCursor(std::string_view line, const std::string& file, int number)
    : rest_(without_comment(line)), file_(&file), number_(number) {}

void TextCursor::skip_spaces() {
  while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
}

std::string TextCursor::take(std::size_t length) {
  std::string text(rest_.substr(0, length));
  rest_.remove_prefix(length);
  return text;
}

bool TextCursor::at_end() {
  skip_spaces();
  return rest_.empty();
}

char TextCursor::peek() { return at_end() ? '\0' : rest_[0]; }

bool TextCursor::starts_with(std::string_view text) {
  skip_spaces();
  return rest_.starts_with(text);
}

bool TextCursor::accept(std::string_view text) {
  if (!starts_with(text)) return false;
  rest_.remove_prefix(text.size());
  return true;
}

void TextCursor::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("'{}'", text));
}

bool TextCursor::glued(char next) const { return !rest_.empty() && rest_[0] == next; }

std::string TextCursor::word(const char* what) {
  skip_spaces();
  const auto end = std::ranges::find_if_not(rest_, is_word);
  auto length = static_cast<std::size_t>(end - rest_.begin());
  // An arrow may follow without a space; its dash is not part of the word.
  const std::size_t arrow = rest_.find("->");
  length = std::min(length, arrow == std::string_view::npos ? length : arrow);
  if (length == 0) fail(what);
  return take(length);
}

std::string TextCursor::name(const char* what) {
  const std::string text = word(what);
  return text == "-" ? std::string() : text;
}

std::string TextCursor::number_text() {
  skip_spaces();
  const auto end = std::ranges::find_if(rest_, ends_number);
  return take(static_cast<std::size_t>(end - rest_.begin()));
}

std::string TextCursor::rest() {
  skip_spaces();
  std::string text = take(rest_.size());
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::string TextCursor::quoted_text() {
  expect("'");
  std::string text;
  while (!rest_.empty() && rest_[0] != '\'') {
    if (rest_[0] != '\\') {
      text += take(1);
      continue;
    }
    rest_.remove_prefix(1);
    const char escape = rest_.empty() ? '\0' : rest_[0];
    if (escape == 'x') {
      unsigned value = 0;
      const char* digits = rest_.data() + 1;
      if (rest_.size() < 3 || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) {
        refuse("\\x needs two hexadecimal digits");
      }
      rest_.remove_prefix(3);
      text += static_cast<char>(value);
    } else if (escape == '\'' || escape == '\\' || escape == 'n') {
      rest_.remove_prefix(1);
      text += escape == 'n' ? '\n' : escape;
    } else {
      refuse("only \\', \\\\, \\n and \\xNN may follow a backslash");
    }
  }
  if (rest_.empty()) refuse("a text does not end");
  rest_.remove_prefix(1);
  return text;
}

void TextCursor::fail(const std::string& expected) {
  const std::string found = rest();
  refuse(fmt::format("{} is expected, there is {}", expected,
                     found.empty() ? "nothing more" : in_quotes(found)));
}

void TextCursor::refuse(const std::string& reason) const {
  throw FormatError("unreadable", fmt::format("{}:{}: {}", *file_, number_, reason));
}

}  // namespace assay
