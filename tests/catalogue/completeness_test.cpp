// The catalogue is whole: every version of every operator of the standard has one entry, every
// attribute a role, every operator a case file, every variant a case.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "compare/case_file.h"
#include "ops/catalogue.h"
#include "ops/roles.h"

namespace assay {
namespace {

using Name = std::pair<std::string, std::string>;

TEST(Completeness, EveryVersionOfTheStandardHasOneEntry) {
  std::map<Name, std::multiset<int>> ours, theirs;
  for (const Operator& entry : catalogue())
    ours[{std::string(entry.domain), std::string(entry.name)}].insert(entry.versions.begin(),
                                                                      entry.versions.end());
  for (const Schema& schema : schemas())
    theirs[{std::string(schema.domain), std::string(schema.name)}].insert(schema.since_version);
  std::size_t versions = 0;
  for (const auto& [name, expected] : theirs) {
    EXPECT_EQ(ours[name], expected) << name.first << " " << name.second;
    versions += expected.size();
  }
  EXPECT_EQ(versions, 659u);
  EXPECT_EQ(ours.size(), theirs.size());
}

TEST(Completeness, EveryAttributeHasARole) {
  for (const Operator& entry : catalogue()) {
    std::set<std::string_view> roles, formals;
    for (const AttributeRole& role : entry.attributes) roles.insert(role.name);
    for (int version : entry.versions)
      for (const AttributeFormal& formal :
           find_schema(entry.domain, entry.name, version)->attributes)
        formals.insert(formal.name);
    EXPECT_EQ(roles, formals) << entry.domain << " " << entry.name;
  }
}

TEST(Completeness, EveryEntryHasItsParts) {
  for (const Operator& entry : catalogue()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_TRUE(entry.meaning.evaluate) << entry.name;
    EXPECT_TRUE(entry.infer || entry.meaning.pattern == Pattern::function) << entry.name;
    EXPECT_TRUE(entry.adjoint.graph || !entry.adjoint.reason.empty()) << entry.name;
  }
}

TEST(Completeness, EveryOperatorHasACaseFile) {
  for (const Operator& entry : catalogue())
    EXPECT_TRUE(std::filesystem::exists("tests/cases/" + std::string(entry.name) + ".txt"))
        << entry.name;
}

TEST(Completeness, EveryVariantHasACaseAndThereAreEnough) {
  std::set<std::pair<std::string, std::string>> shown;
  for (const auto& file : find_case_files("tests/cases")) {
    const auto cases = read_cases(file);
    ASSERT_TRUE(cases) << cases.error().message;
    for (const TextCase& one : *cases)
      for (const TextVariant& variant : one.variants) shown.emplace(one.node.op, variant.name);
  }
  std::size_t variants = 0;
  std::set<std::string_view> entries;
  for (const Operator& entry : catalogue())
    for (const Variant& variant : entry.variants) {
      ++variants;
      entries.insert(entry.name);
      EXPECT_TRUE(shown.contains({std::string(entry.name), std::string(variant.name)}))
          << entry.name << " " << variant.name;
      EXPECT_FALSE(variant.source.empty()) << entry.name << " " << variant.name;
    }
  EXPECT_GE(variants, 40u);
  EXPECT_GE(entries.size(), 25u);
}

TEST(Completeness, RolesHaveValues) {
  const AttributeValue sizes = std::vector<std::int64_t>{1, 1};
  EXPECT_GE(hostile_values(Role::sizes, AttributeKind::integers, &sizes).size(), 4u);
  EXPECT_EQ(legal_values(Role::flag, AttributeKind::integer, 4).size(), 2u);
  EXPECT_EQ(legal_values(Role::axis, AttributeKind::integer, 3).size(), 6u);
}

}  // namespace
}  // namespace assay
