// Report files: escaping, SARIF's structure, JUnit's counts, the file's name.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "report/html.h"
#include "report/junit.h"
#include "report/report_file.h"
#include "report/sarif.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

const std::string kHostile = "</script><img src=x onerror=alert(1)>\n<!--\x01\xff]]>&\"'";

Json finding(const std::string& kind, const std::string& verdict, const std::string& node) {
  return {{"id", "F1"},   {"kind", kind},       {"backend", "planted"},     {"op", "Relu"},
          {"node", node}, {"verdict", verdict}, {"detail", "element 3: 1"}, {"test", ""}};
}

Json document_of(const Json& findings, bool inconsistent = false) {
  const Json pair = {{"a", "reference"},
                     {"b", "planted"},
                     {"metric", "bound"},
                     {"threshold", 1.0},
                     {"triggering", inconsistent ? 1 : 0},
                     {"instances", 10},
                     {"max", "Infinity"},
                     {"inconsistent", inconsistent}};
  return {
      {"assay", "0.1.0"},
      {"schema", 1},
      {"model", {{"file", "models/a b#1.onnx"}}},
      {"backends", {{{"name", "reference"}, {"judged", 0}}, {{"name", "planted"}, {"judged", 4}}}},
      {"pairs", Json::array({pair})},
      {"localisation", Json::array()},
      {"findings", findings}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Html, HoldsTheDocumentOnceAndNothingOfItsNamesAsMarkup) {
  const std::string empty = to_html(document_of(Json::array()));
  const std::string page =
      to_html(document_of(Json::array({finding("inconsistency", "defect", kHostile)})));
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(count_of(page, "</script>"), count_of(empty, "</script>"));
  EXPECT_EQ(count_of(page, "<!--"), count_of(empty, "<!--"));
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
  EXPECT_EQ(page.find("ASSAY_DOCUMENT"), std::string::npos);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
}

TEST(Html, LoadsNothing) {
  const std::string page = to_html(document_of(Json::array()));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* part : {"<link", "src=\"http", "href=\"http", "@import"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
}

TEST(Html, EmbeddedJsonReadsBackAsItWas) {
  const Json document = document_of(Json::array({finding("nan", "defect", "<a>\\u003c")}));
  EXPECT_EQ(Json::parse(to_script_json(document)), document);
}

TEST(Html, TakesNamesOfAMegabyte) {
  const std::string page =
      to_html(document_of(Json::array({finding("nan", "defect", std::string(1'000'000, '<'))})));
  EXPECT_GT(page.size(), 6'000'000U);
}

TEST(Sarif, HasWhatTheStandardAsksFor) {
  const Json sarif = to_sarif(document_of(Json::array({finding("inconsistency", "defect", "relu"),
                                                       finding("inconsistency", "difference", "b"),
                                                       finding("inconsistency", "defect", "c")}),
                                          true));
  EXPECT_EQ(sarif.at("version"), "2.1.0");
  ASSERT_EQ(sarif.at("runs").size(), 1U);
  const Json& run = sarif.at("runs")[0];
  const Json& driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name"), "Assay");
  ASSERT_EQ(driver.at("rules").size(), 3U);
  ASSERT_EQ(run.at("results").size(), 4U);
  for (const Json& result : run.at("results")) {
    const auto index = result.at("ruleIndex").get<std::size_t>();
    ASSERT_LT(index, driver.at("rules").size());
    EXPECT_EQ(driver.at("rules")[index].at("id"), result.at("ruleId"));
    const std::string level = result.at("level");
    EXPECT_TRUE(level == "error" || level == "warning" || level == "note") << level;
    EXPECT_FALSE(result.at("message").at("text").get<std::string>().empty());
    const Json& location = result.at("locations").at(0);
    EXPECT_EQ(location.at("physicalLocation").at("artifactLocation").at("uri"),
              "models/a%20b%231.onnx");
  }
  const Json& first = run.at("results")[0];
  EXPECT_EQ(first.at("ruleId"), "inconsistency/defect");
  EXPECT_EQ(first.at("level"), "error");
  EXPECT_EQ(first.at("locations")[0].at("logicalLocations")[0].at("name"), "relu");
  EXPECT_EQ(run.at("results")[3].at("ruleId"), "pair/bound");
}

TEST(Sarif, OfNothingFoundHasARunWithoutResults) {
  const Json sarif = to_sarif(document_of(Json::array()));
  EXPECT_TRUE(sarif.at("runs")[0].at("results").is_array());
  EXPECT_TRUE(sarif.at("runs")[0].at("results").empty());
  EXPECT_TRUE(sarif.at("runs")[0].at("tool").at("driver").at("rules").empty());
}

TEST(Sarif, CutsNamesThatAreVeryLong) {
  const Json sarif =
      to_sarif(document_of(Json::array({finding("nan", "defect", std::string(1'000'000, 'n'))})));
  EXPECT_LT(sarif.dump().size(), 20'000U);
}

TEST(Junit, CountsWhatFailedAndWhatCouldNotRun) {
  const std::string xml = to_junit(document_of(
      Json::array({finding("inconsistency", "defect", "relu"), finding("crash", "defect", ""),
                   finding("unsupported", "unsupported", "")}),
      true));
  EXPECT_NE(xml.find("tests=\"5\" failures=\"2\" errors=\"1\">"), std::string::npos) << xml;
  EXPECT_EQ(count_of(xml, "<testcase "), 5U);
  EXPECT_EQ(count_of(xml, "<failure "), 2U);
  EXPECT_EQ(count_of(xml, "<error "), 1U);
  EXPECT_EQ(count_of(xml, "<skipped "), 1U);
  EXPECT_NE(xml.find("name=\"relu (Relu)\""), std::string::npos);
}

TEST(Junit, OfNothingFoundPasses) {
  const std::string xml = to_junit(document_of(Json::array()));
  EXPECT_NE(xml.find("tests=\"3\" failures=\"0\" errors=\"0\">"), std::string::npos) << xml;
}

TEST(Junit, WritesNoNameAsMarkup) {
  const std::string xml = to_junit(document_of(Json::array({finding("nan", "defect", kHostile)})));
  EXPECT_EQ(xml.find("<img"), std::string::npos);
  EXPECT_EQ(xml.find("]]>"), std::string::npos);
  EXPECT_EQ(xml.find('\x01'), std::string::npos);
  EXPECT_EQ(xml.find('\xff'), std::string::npos);
  EXPECT_NE(xml.find("&lt;/script&gt;"), std::string::npos);
}

TEST(ReportFile, GoesByTheEndOfItsName) {
  for (const char* name : {"a.html", "x/b.sarif", "c.xml"}) EXPECT_TRUE(check_report_name(name));
  for (const char* name : {"a", "a.pdf", "html", "a.html.gz", ""}) {
    const Result<void> refused = check_report_name(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().kind, "usage");
  }
}

TEST(ReportFile, NamesAFileThatCannotBeWritten) {
  const Result<void> written =
      write_report(document_of(Json::array()), "/nonexistent/folder/report.xml");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/nonexistent/folder/report.xml"), std::string::npos);
}

TEST(ReportFile, WritesWhatTheNameAsksFor) {
  const auto path = std::filesystem::temp_directory_path() / "assay_report_test.sarif";
  ASSERT_TRUE(write_report(document_of(Json::array()), path.string()));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(Json::parse(text.str()).at("version"), "2.1.0");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace assay
