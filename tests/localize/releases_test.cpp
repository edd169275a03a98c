// The first bad and the first good release, with as few trials as it takes.
#include "localize/releases.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using Known = std::map<std::string, ReleaseVerdict>;

std::vector<std::string> releases(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("1.{}", i));
  return names;
}

// Releases that are bad from one to before another; some cannot be tried.
struct History {
  int first_bad, first_good;
  std::set<int> missing{};

  ReleaseSearch search(int count, const Known& known = {}) const {
    return find_releases(releases(count), known, [this](const std::string& release) {
      const int number = std::stoi(release.substr(2));
      if (missing.contains(number)) return ReleaseTrial{"", ReleaseVerdict::untold, "gone"};
      const bool bad = number >= first_bad && number < first_good;
      return ReleaseTrial{"", bad ? ReleaseVerdict::bad : ReleaseVerdict::good};
    });
  }
};

TEST(Releases, TheFirstBadOfTen) {
  for (int first = 1; first < 10; ++first) {
    const ReleaseSearch search = History{first, 99}.search(10);
    EXPECT_EQ(search.first_bad, fmt::format("1.{}", first));
    EXPECT_FALSE(search.first_good);
    EXPECT_FALSE(search.earlier);
    EXPECT_LE(search.tried.size(), 2U + 4U);
  }
}

TEST(Releases, TheFirstGoodOfTen) {
  for (int first = 1; first < 10; ++first) {
    const ReleaseSearch search = History{0, first}.search(10);
    EXPECT_EQ(search.first_good, fmt::format("1.{}", first));
    EXPECT_EQ(search.first_bad, "1.0");
    EXPECT_TRUE(search.earlier);
    EXPECT_LE(search.tried.size(), 2U + 4U);
  }
}

TEST(Releases, BothSidesOfAKnownBadOne) {
  const ReleaseSearch search = History{4, 6}.search(13, {{"1.5", ReleaseVerdict::bad}});
  EXPECT_EQ(search.first_bad, "1.4");
  EXPECT_EQ(search.first_good, "1.6");
  EXPECT_LE(search.tried.size(), 2U + 3U + 3U);
  for (const ReleaseTrial& trial : search.tried) EXPECT_NE(trial.release, "1.5");
}

TEST(Releases, NothingIsTriedTwiceOrWithoutNeed) {
  const Known known = {{"1.1", ReleaseVerdict::bad}, {"1.0", ReleaseVerdict::good}};
  const ReleaseSearch search = History{1, 2}.search(9, known);
  EXPECT_EQ(search.first_bad, "1.1");
  EXPECT_EQ(search.first_good, "1.2");
  std::set<std::string> once;
  for (const ReleaseTrial& trial : search.tried) EXPECT_TRUE(once.insert(trial.release).second);
  EXPECT_EQ(once, (std::set<std::string>{"1.8", "1.4", "1.2"}));
}

TEST(Releases, EndsThatAreBothBadOrBothGood) {
  const ReleaseSearch bad = History{0, 99}.search(10);
  EXPECT_EQ(bad.first_bad, "1.0");
  EXPECT_TRUE(bad.earlier);
  EXPECT_FALSE(bad.first_good);
  EXPECT_EQ(bad.note, "the oldest and the newest are both wrong");
  const ReleaseSearch good = History{4, 6}.search(10);
  EXPECT_FALSE(good.first_bad);
  EXPECT_FALSE(good.first_good);
  EXPECT_EQ(good.tried.size(), 2U);
  EXPECT_FALSE(good.note.empty());
}

TEST(Releases, OnesThatCannotBeTriedAreSteppedOver) {
  const ReleaseSearch search = History{6, 99, {0, 4, 5, 9}}.search(10);
  EXPECT_EQ(search.first_bad, "1.6");
  EXPECT_NE(search.note.find("between 1.3 and 1.6"), std::string::npos);
  const auto untold = std::count_if(
      search.tried.begin(), search.tried.end(),
      [](const ReleaseTrial& trial) { return trial.verdict == ReleaseVerdict::untold; });
  EXPECT_EQ(untold, 4);
  EXPECT_EQ((History{0, 1, {0, 1, 2}}.search(3).note), "no release can be tried");
}

}  // namespace
}  // namespace assay
