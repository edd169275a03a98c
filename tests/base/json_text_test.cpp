#include "base/json_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// As the library writes it.
void expect_same(const Json& document) {
  EXPECT_EQ(to_json_text(document), document.dump(-1, ' ', false, Json::error_handler_t::replace));
}

TEST(JsonText, ValuesOfEveryKind) {
  expect_same(nullptr);
  expect_same(true);
  expect_same(-5);
  expect_same(std::numeric_limits<std::uint64_t>::max());
  for (const double x : {0.0, -0.0, 0.1, 1e300, 5e-324, 3.0}) expect_same(x);
  expect_same(Json::array());
  expect_same(Json::object());
  expect_same({{"b", {1, 2.5, "x"}}, {"a", {{"c", nullptr}, {"d", Json::array({Json::array()})}}}});
}

TEST(JsonText, EveryByteInTextsAndKeys) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = std::string("ab") + static_cast<char>(byte) + "c";
    expect_same(text);
    expect_same({{text, 1}});
  }
  expect_same("");
  expect_same("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82 \xc3");
}

}  // namespace
}  // namespace assay
