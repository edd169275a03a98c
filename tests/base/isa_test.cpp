#include "base/isa.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(IsaTest, RefusesUnknownNames) {
  const Isa before = isa();
  EXPECT_FALSE(set_isa("mmx"));
  EXPECT_EQ(isa(), before);
  EXPECT_TRUE(set_isa(name_of(before)));
}

TEST(IsaTest, RunsALoopForEach) {
  const Isa before = isa();
  for (const char* name : {"sse", "avx2", "avx512"}) {
    if (!set_isa(name)) continue;
    EXPECT_EQ(name_of(isa()), name);
    EXPECT_EQ(with_widest_vectors([] { return 3; }), 3);
  }
  set_isa(name_of(before));
}

bool starts_with_the_best() {
  const Isa start = isa();
  const bool better = start == Isa::avx2 ? set_isa("avx512") : start == Isa::sse && set_isa("avx2");
  return !better;
}

TEST(IsaDeathTest, IsLoweredByTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which reads the variable anew
  setenv("ASSAY_ISA", "sse", 1);
  EXPECT_EXIT(std::exit(isa() == Isa::sse ? 0 : 1), testing::ExitedWithCode(0), "");
  setenv("ASSAY_ISA", "something else", 1);
  EXPECT_EXIT(std::exit(starts_with_the_best() ? 0 : 1), testing::ExitedWithCode(0), "");
  unsetenv("ASSAY_ISA");
}

}  // namespace
}  // namespace assay
