// What bounds cover and rest on, in threads that know nothing of each other.
#include "scalar/tier.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace assay::testing {
namespace {

TEST(Tier, BelongsToAThread) {
  const TierScope scope({true, false});
  std::thread([] {
    EXPECT_FALSE(tier().typical);
    const TierScope other({false, true});
    EXPECT_TRUE(tier().decided);
  }).join();
  EXPECT_TRUE(tier().typical);
  EXPECT_FALSE(tier().decided);
}

TEST(Tier, IsThatOfTheLoopsCallerInALoop) {
  set_thread_count(4);
  const TierScope scope({true, false});
  take_basis();
  parallel_for(1000, 1, [](std::int64_t begin, std::int64_t) {
    EXPECT_TRUE(tier().typical);
    note_sum(static_cast<std::size_t>(begin) + 2);
  });
  set_thread_count(0);
  EXPECT_GE(take_basis().longest_sum, 2U);
  EXPECT_EQ(take_basis().longest_sum, 0U);
}

TEST(Basis, IsOfWhatThisThreadComputed) {
  take_basis();
  note_sum(3);
  std::thread([] {
    note_sum(1000);
    note_open_decision();
    EXPECT_EQ(take_basis().longest_sum, 1000U);
  }).join();
  const Basis own = take_basis();
  EXPECT_EQ(own.longest_sum, 3U);
  EXPECT_FALSE(own.open_decision);
}

}  // namespace
}  // namespace assay::testing
