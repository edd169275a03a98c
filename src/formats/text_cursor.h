// A place in a line of a case file, and the small words that are read from it.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Throws FormatError, "file:line: … is expected, there is …", where a line does not go on as it
// must. Spaces before what is read are skipped.
class TextCursor {
 public:
  TextCursor(std::string_view line, const std::string& file, int number);

  bool at_end();
  char peek();  // '\0' at the end
  bool starts_with(std::string_view text);
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string word(const char* what);  // letters, digits, and _ . / -
  std::string name(const char* what);  // a word; "" for a lone -
  std::string quoted_text();           // 'with \' \\ \n \xNN'
  std::string number_text();           // up to a space, a bracket, a comma or a colon
  std::string rest();                  // all that follows
  bool glued(char next) const;         // it follows without a space
  [[noreturn]] void fail(const std::string& expected);
  [[noreturn]] void refuse(const std::string& reason) const;  // "file:line: reason"
  int number() const { return number_; }

 private:
  void skip_spaces();
  std::string take(std::size_t length);

  std::string_view rest_;
  const std::string* file_;  // outlives the cursor
  int number_;
};

// The line without its comment; # inside quotes is none.
std::string_view without_comment(std::string_view line);

}  // namespace assay
