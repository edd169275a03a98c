// Operators on strings.
#include <algorithm>
#include <clocale>
#include <cwctype>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "ops/families.h"
#include "ops/text_ngrams.h"
#include "tensor/utf.h"

namespace assay {
namespace {

re2::RE2::Options quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

Operator regex_full_match() {
  return {.name = "RegexFullMatch",
          .versions = {20},
          .summary = "Whether the whole of each string matches a regular expression of RE2.",
          .attributes = {{"pattern", Role::text}},
          .require =
              [](Check& c) {
                if (!c.required("pattern")) return;
                const re2::RE2 pattern(c.site.text("pattern"), quiet());
                c.argument(pattern.ok(), "pattern", "a pattern in the syntax of RE2",
                           pattern.error());
              },
          .infer =
              [](Infer& n) {
                ValueType type = n.site.type(0);
                type.element = ElementType::boolean;
                n.output(0, std::move(type));
              },
          .meaning = custom(Pattern::text, [](Call& call) {
            const re2::RE2 pattern(call.site.text("pattern"), quiet());
            const auto texts = call.exact(0).data<std::string>();
            Tensor result(ElementType::boolean, call.output_shape(0));
            const auto matches = result.mutate<bool>();
            for (std::size_t i = 0; i < texts.size(); ++i)
              matches[i] = re2::RE2::FullMatch(texts[i], pattern);
            call.outputs[0] = std::move(result);
          })};
}

// Where each element of a broadcast shape lies in a tensor of `shape`.
std::vector<std::int64_t> broadcast_places(const Shape& shape, const Shape& to) {
  const Shape strides = broadcast_strides(shape, to);
  std::vector<std::int64_t> places(static_cast<std::size_t>(element_count(to)));
  std::vector<std::int64_t> index(to.size());
  for (std::int64_t& place : places) {
    place = 0;
    for (std::size_t d = 0; d < to.size(); ++d) place += index[d] * strides[d];
    for (std::size_t d = to.size(); d-- > 0;) {
      if (++index[d] < to[d]) break;
      index[d] = 0;
    }
  }
  return places;
}

Operator string_concat() {
  return {.name = "StringConcat",
          .versions = {20},
          .summary = "Two strings joined, element by element.",
          .attributes = {},
          .require = [](Check& c) { c.broadcastable(); },
          .infer = broadcast_all,
          .meaning = custom(Pattern::text, [](Call& call) {
            const Tensor &x = call.exact(0), &y = call.exact(1);
            const Shape shape = call.output_shape(0);
            const auto from_x = broadcast_places(x.shape(), shape);
            const auto from_y = broadcast_places(y.shape(), shape);
            std::vector<std::string> texts(from_x.size());
            for (std::size_t i = 0; i < texts.size(); ++i)
              texts[i] = x.data<std::string>()[static_cast<std::size_t>(from_x[i])] +
                         y.data<std::string>()[static_cast<std::size_t>(from_y[i])];
            call.outputs[0] = make_strings(shape, std::move(texts));
          })};
}

// Letters beyond ASCII by the C library's table; the same on every machine, whatever its locale.
char32_t change_case(char32_t letter, bool upper) {
  static const locale_t kTable =
      newlocale(LC_CTYPE_MASK, "C.UTF-8", static_cast<locale_t>(nullptr));
  if (letter < 0x80 || kTable == static_cast<locale_t>(nullptr)) {
    const bool changes =
        upper ? letter >= U'a' && letter <= U'z' : letter >= U'A' && letter <= U'Z';
    return changes ? letter ^ 0x20U : letter;
  }
  const auto wide = static_cast<wint_t>(letter);
  return static_cast<char32_t>(upper ? towupper_l(wide, kTable) : towlower_l(wide, kTable));
}

// Text that is not UTF-8 changes its ASCII letters only.
std::string change_case(const std::string& text, bool upper) {
  auto letters = decode_utf8(text);
  if (!letters) {
    std::string result = text;
    for (char& c : result)
      if (static_cast<unsigned char>(c) < 0x80)
        c = static_cast<char>(change_case(static_cast<char32_t>(c), upper));
    return result;
  }
  for (char32_t& letter : *letters) letter = change_case(letter, upper);
  return encode_utf8(*letters).value_or(text);
}

void evaluate_normalizer(Call& call) {
  const bool exact = call.site.integer("is_case_sensitive") != 0;
  const auto key = [&](const std::string& word) { return exact ? word : change_case(word, false); };
  std::set<std::string> stops;
  for (const std::string& word : call.site.texts("stopwords")) stops.insert(key(word));
  const std::string& action = call.site.text("case_change_action");
  std::vector<std::string> kept;
  for (const std::string& word : call.exact(0).data<std::string>())
    if (!stops.count(key(word)))
      kept.push_back(action == "NONE" ? word : change_case(word, action == "UPPER"));
  if (kept.empty()) kept.emplace_back();
  Shape shape = {static_cast<std::int64_t>(kept.size())};
  if (call.exact(0).rank() == 2) shape.insert(shape.begin(), 1);
  call.outputs[0] = make_strings(shape, std::move(kept));
}

Operator string_normalizer() {
  return {.name = "StringNormalizer",
          .versions = {10},
          .summary = "The strings that are no stop words, in upper or lower case if asked for.",
          .attributes = {{"case_change_action", Role::choice},
                         {"is_case_sensitive", Role::flag},
                         {"locale", Role::text},
                         {"stopwords", Role::text}},
          .require =
              [](Check& c) {
                c.one_of("case_change_action", {"LOWER", "UPPER", "NONE"});
                if (c.rank("X", between(1, 2)) && *c.rank_of("X") == 2)
                  c.extent("X", 0, 1, "a matrix of one row");
              },
          .infer =
              [](Infer& n) {
                const auto rank = n.site.rank(0);
                if (!rank) return n.output(0, ElementType::string);
                n.output(0, ElementType::string, *rank == 2 ? Dims{1, Dim()} : Dims{Dim()});
              },
          .meaning = custom(Pattern::text, evaluate_normalizer)};
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

using Words = std::vector<std::string>;

// Runs of whitespace separate; what is left after `most` splits is one word, trimmed.
Words split_at_spaces(const std::string& text, std::size_t most) {
  std::u32string letters;
  const auto decoded = decode_utf8(text);
  if (decoded)
    letters = *decoded;
  else
    for (char c : text) letters.push_back(static_cast<unsigned char>(c));
  const auto word = [&](std::size_t begin, std::size_t end) {
    const std::u32string_view part = std::u32string_view(letters).substr(begin, end - begin);
    if (decoded) return *encode_utf8(part);
    return std::string(part.begin(), part.end());
  };
  std::size_t end = letters.size(), at = 0;
  while (end > 0 && is_space(letters[end - 1])) --end;
  Words words;
  while (true) {
    while (at < end && is_space(letters[at])) ++at;
    if (at >= end) return words;
    std::size_t stop = words.size() == most ? end : at;
    while (stop < end && !is_space(letters[stop])) ++stop;
    words.push_back(word(at, stop));
    at = stop;
  }
}

Words split_at(const std::string& text, const std::string& delimiter, std::size_t most) {
  Words words;
  std::size_t at = 0;
  while (words.size() < most) {
    const std::size_t found = text.find(delimiter, at);
    if (found == std::string::npos) break;
    words.push_back(text.substr(at, found - at));
    at = found + delimiter.size();
  }
  words.push_back(text.substr(at));
  return words;
}

void evaluate_split(Call& call) {
  const std::int64_t limit = call.site.integer("maxsplit", -1);  // negative: none
  const auto most = static_cast<std::size_t>(limit);
  const std::string& delimiter = call.site.text("delimiter");
  std::vector<Words> all;
  std::vector<std::int64_t> counts;
  std::int64_t longest = 0;
  for (const std::string& text : call.exact(0).data<std::string>()) {
    all.push_back(delimiter.empty() ? split_at_spaces(text, most)
                                    : split_at(text, delimiter, most));
    counts.push_back(static_cast<std::int64_t>(all.back().size()));
    longest = std::max(longest, counts.back());
  }
  Shape shape = call.input(0).shape();
  if (call.site.has_output(1)) call.outputs[1] = make_integers(ElementType::i64, shape, counts);
  shape.push_back(longest);
  std::vector<std::string> texts;
  for (Words& words : all) {
    words.resize(static_cast<std::size_t>(longest));
    texts.insert(texts.end(), words.begin(), words.end());
  }
  call.outputs[0] = make_strings(shape, std::move(texts));
}

// onnxruntime finds no part in an empty string, whatever the delimiter.
void empty_string_has_no_parts(Builder& b) {
  const Builder::Values plain = b.again();
  const std::string empty = b("Equal", {b.input(0), b.constant(make_strings({}, {""}))});
  b.output(0, plain[0]);
  if (plain.size() > 1) b.output(1, b("Where", {empty, b.integer(0), plain[1]}));
}

Operator string_split() {
  return {.name = "StringSplit",
          .versions = {20},
          .summary = "The parts of each string between delimiters, and how many there are.",
          .attributes = {{"delimiter", Role::text}, {"maxsplit", Role::number}},
          .infer =
              [](Infer& n) {
                ValueType counts = n.site.type(0), parts = n.site.type(0);
                counts.element = ElementType::i64;
                if (parts.dims) parts.dims->push_back(Dim());
                n.output(0, std::move(parts));
                n.output(1, std::move(counts));
              },
          .meaning = custom(Pattern::text, evaluate_split),
          .variants = {{"empty-string-has-no-parts", Variant::Kind::difference, "onnxruntime 1.31",
                        empty_string_has_no_parts}}};
}

}  // namespace

std::vector<Operator> text_operators() {
  return {regex_full_match(), string_concat(), string_normalizer(), string_split(),
          tf_idf_vectorizer()};
}

}  // namespace assay
