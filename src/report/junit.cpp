#include "report/junit.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

struct TestCase {
  enum class State { passed, failed, error, skipped };
  std::string name;
  State state = State::passed;
  std::string type{}, message{};
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases{};

  std::size_t count(TestCase::State state) const {
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [&](const TestCase& one) { return one.state == state; }));
  }
};

// Attribute or text: no control characters (XML has no way to write them), broken UTF-8 replaced.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : to_utf8(one_line(text))) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

TestCase pair_case(const Json& pair) {
  TestCase one{fmt::format("{} and {} agree by {}", text_in(pair, "a"), text_in(pair, "b"),
                           text_in(pair, "metric"))};
  if (!pair.at("inconsistent").get<bool>()) return one;
  one.state = TestCase::State::failed;
  one.type = text_in(pair, "metric");
  one.message = fmt::format("{} of {} instances beyond {}", pair.at("triggering").dump(),
                            pair.at("instances").dump(), pair.at("threshold").dump());
  return one;
}

TestCase finding_case(const Json& finding) {
  const std::string kind = text_in(finding, "kind"), node = printable(text_in(finding, "node")),
                    op = text_in(finding, "op"), verdict = text_in(finding, "verdict");
  TestCase one{node.empty() ? kind : fmt::format("{}{}", node, op.empty() ? "" : " (" + op + ")")};
  one.type = kind + "/" + verdict;
  one.message = text_in(finding, "detail");
  if (finding.contains("variant")) {
    one.message = fmt::format("explained by {}; {}", text_in(finding, "variant"), one.message);
  }
  const bool ended = kind == "crash" || kind == "hang" || kind == "memory";
  one.state = ended                      ? TestCase::State::error
              : verdict == "unsupported" ? TestCase::State::skipped
                                         : TestCase::State::failed;
  return one;
}

// What a backend is tested for: each of its findings, or that there is none.
TestSuite backend_suite(const Json& backend, const Json& findings) {
  TestSuite suite{text_in(backend, "name")};
  for (const Json& finding : findings) {
    if (text_in(finding, "backend") == suite.name) suite.cases.push_back(finding_case(finding));
  }
  if (suite.cases.empty()) {
    suite.cases.push_back({fmt::format("{} inner values inside their bounds",
                                       backend.value("judged", Json(0)).dump())});
  }
  return suite;
}

std::string case_xml(const TestCase& one, const std::string& suite) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(suite), escaped(one.name));
  if (one.state == TestCase::State::passed) return head + "/>\n";
  if (one.state == TestCase::State::skipped) {
    return fmt::format("{}><skipped message=\"{}\"/></testcase>\n", head, escaped(one.message));
  }
  const char* element = one.state == TestCase::State::error ? "error" : "failure";
  return fmt::format("{0}><{1} type=\"{2}\" message=\"{3}\">{3}</{1}></testcase>\n", head, element,
                     escaped(one.type), escaped(one.message));
}

std::string suite_xml(const TestSuite& suite) {
  std::string xml = fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      escaped(suite.name), suite.cases.size(), suite.count(TestCase::State::failed),
      suite.count(TestCase::State::error), suite.count(TestCase::State::skipped));
  for (const TestCase& one : suite.cases) xml += case_xml(one, suite.name);
  return xml + "  </testsuite>\n";
}

}  // namespace

std::string to_junit(const Json& document) {
  const std::string file = document.contains("model") ? text_in(document.at("model"), "file") : "";
  std::vector<TestSuite> suites;
  if (!document.at("pairs").empty()) suites.push_back({"pairs"});
  for (const Json& pair : document.at("pairs")) suites.front().cases.push_back(pair_case(pair));
  for (const Json& backend : document.at("backends")) {
    suites.push_back(backend_suite(backend, document.at("findings")));
  }
  std::size_t tests = 0, failures = 0, errors = 0;
  std::string inner;
  for (const TestSuite& suite : suites) {
    tests += suite.cases.size();
    failures += suite.count(TestCase::State::failed);
    errors += suite.count(TestCase::State::error);
    inner += suite_xml(suite);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"assay compare {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}"
      "</testsuites>\n",
      escaped(printable(file)), tests, failures, errors, inner);
}

}  // namespace assay
