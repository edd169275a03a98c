// The table of TensorFlow's operations: in order, without doubles, and as the page lists it.
#include "layers/tensorflow/definitions.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

namespace assay::tensorflow {
namespace {

TEST(Definitions, AreSortedAndUnique) {
  const auto all = definitions();
  const auto not_before = [](const Definition& a, const Definition& b) { return !(a.op < b.op); };
  const auto doubled = std::adjacent_find(all.begin(), all.end(), not_before);
  EXPECT_EQ(doubled, all.end()) << doubled->op;
  for (const Definition& one : all)
    EXPECT_EQ(one.body != nullptr, one.part == Part::value) << one.op;
}

TEST(Definitions, AreFoundByName) {
  EXPECT_NE(find_definition("Conv2D"), nullptr);
  EXPECT_EQ(find_definition("Conv"), nullptr);
  EXPECT_EQ(find_definition(""), nullptr);
}

TEST(Definitions, AllStandOnThePage) {
  std::ifstream page("docs/tensorflow.md");
  ASSERT_TRUE(page) << "run from the project's folder";
  std::set<std::string, std::less<>> listed;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    for (std::size_t at = line.find('`'); at != std::string::npos;) {
      const std::size_t end = line.find('`', at + 1);
      listed.insert(line.substr(at + 1, end - at - 1));
      at = line.find('`', end + 1);
    }
  }
  for (const Definition& one : definitions()) {
    EXPECT_TRUE(listed.contains(one.op)) << one.op << " is not on docs/tensorflow.md";
  }
  for (const std::string& name : listed) EXPECT_NE(find_definition(name), nullptr) << name;
}

}  // namespace
}  // namespace assay::tensorflow
