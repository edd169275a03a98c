// Which passes are blamed, on backends whose defects are known.
#include "localize/passes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using Names = std::vector<std::string>;

Names many(const std::string& prefix, int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return names;
}

// A backend that is right once every one of some groups has a pass off, and breaks without others.
struct Optimiser {
  std::vector<std::set<std::string>> groups;
  std::set<std::string> needed{};
  int trials = 0;

  Trial operator()(const Names& disabled) {
    ++trials;
    const auto off = [&](const std::string& name) {
      return std::find(disabled.begin(), disabled.end(), name) != disabled.end();
    };
    if (std::any_of(needed.begin(), needed.end(), off)) return Trial::broken;
    const bool cured = std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
      return std::any_of(group.begin(), group.end(), off);
    });
    return cured ? Trial::cured : Trial::still;
  }

  Cure search(const PassList& passes) {
    return find_cure(passes, [this](const Names& disabled) { return (*this)(disabled); });
  }
};

TEST(Passes, OneIsToBlame) {
  Optimiser optimiser{{{"b"}}};
  const Cure cure = optimiser.search({{"a", "b", "c"}, {"d"}});
  EXPECT_EQ(cure.passes, Names{"b"});
  EXPECT_TRUE(cure.any);
}

TEST(Passes, EachOfTwoCuresIt) {
  Optimiser optimiser{{{"a", "c"}}};
  const Cure cure = optimiser.search({{"a", "b", "c"}, {}});
  EXPECT_EQ(cure.passes, (Names{"a", "c"}));
  EXPECT_TRUE(cure.any);
}

TEST(Passes, TwoDoWhatTheOtherLeaves) {
  Optimiser optimiser{{{"p3"}, {"p17"}}};
  const Cure cure = optimiser.search({many("p", 20), many("q", 5)});
  EXPECT_EQ(cure.passes, (Names{"p3", "p17"}));
  EXPECT_FALSE(cure.any);
}

TEST(Passes, OneThatChangedNothingIsTriedLast) {
  Optimiser optimiser{{{"q2"}}};
  EXPECT_EQ(optimiser.search({many("p", 3), many("q", 5)}).passes, Names{"q2"});
}

TEST(Passes, AmongManyItTakesFewTrials) {
  Optimiser optimiser{{{"p77"}}};
  EXPECT_EQ(optimiser.search({many("p", 128), {}}).passes, Names{"p77"});
  EXPECT_LE(optimiser.trials, 24);
}

TEST(Passes, ABackendThatBreaksWithoutSomeIsNoObstacle) {
  Optimiser alone{{{"p3"}}, {"p5", "p12"}};
  EXPECT_EQ(alone.search({many("p", 20), {}}).passes, Names{"p3"});
  Optimiser together{{{"p3"}, {"p9"}}, {"p5"}};
  const Cure cure = together.search({many("p", 12), {}});
  EXPECT_EQ(cure.passes, (Names{"p3", "p9"}));
  EXPECT_FALSE(cure.any);
}

TEST(Passes, NoneIsToBlame) {
  Optimiser optimiser{{{"elsewhere"}}};
  EXPECT_TRUE(optimiser.search({many("p", 20), many("q", 3)}).passes.empty());
  EXPECT_TRUE(optimiser.search({}).passes.empty());
}

}  // namespace
}  // namespace assay
