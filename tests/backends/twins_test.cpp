// One process becomes several workers: each is ours, ends by itself, and leaves nothing behind.
#include <chrono>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "backends/process.h"

namespace assay {
namespace {

constexpr double kLong = 30;  // seconds that nobody has to wait for

// A worker's way to divide, and then what is to be done in each mode.
ProcessCommand dividing(const std::string& then, std::size_t twins) {
  std::string modes = "'first'";
  for (std::size_t i = 0; i < twins; ++i) modes += ", 'twin" + std::to_string(i) + "'";
  const std::string program =
      "import os, sys, time\nfrom assay_worker import twins\nmode = twins.divide([" + modes +
      "])\n" + then;
  ProcessCommand command{{"build/python/bin/python", "-c", program}, {{"PYTHONPATH", "workers"}}};
  command.twins.resize(twins);
  return command;
}

std::string read_line(const Process& process) {
  std::string line;
  for (int i = 0; i < 3000 && !line.ends_with('\n'); ++i) {
    char letter = 0;
    if (read(process.output(), &letter, 1) == 1) {
      line.push_back(letter);
    } else {
      usleep(1000);
    }
  }
  return line;
}

TEST(Twins, EachHasItsOwnStreamsAndItsOwnEnd) {
  const std::string then =
      "given = os.read(0, 1)\n"
      "os.write(1, given + mode.encode() + b'\\n')\n"
      "sys.exit({'first': 3, 'twin0': 4, 'twin1': 5}[mode])";
  Result<std::vector<Process>> all = Process::start_all(dividing(then, 2));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  for (Process& one : *all) ASSERT_TRUE(one.await_birth(kLong));
  const char* const modes[] = {"0first\n", "1twin0\n", "2twin1\n"};
  for (int i = 0; i < 3; ++i) {
    Process& one = (*all)[static_cast<std::size_t>(i)];
    ASSERT_EQ(write(one.input(), modes[i], 1), 1);
    EXPECT_EQ(read_line(one), modes[i]);
    const std::optional<Ending> ending = one.ending(kLong);
    ASSERT_TRUE(ending) << i;
    EXPECT_EQ(ending->text(), "exited with " + std::to_string(3 + i));
  }
}

TEST(Twins, OneDiesAndTheOthersGoOn) {
  Result<std::vector<Process>> all =
      Process::start_all(dividing("os.write(1, os.read(0, 1) + b'\\n')\ntime.sleep(60)", 2));
  ASSERT_TRUE(all);
  for (Process& one : *all) ASSERT_TRUE(one.await_birth(kLong));
  (*all)[0].kill();  // and with it what it left behind, which its twins are not
  (*all)[1].kill();
  Process& last = (*all)[2];
  EXPECT_FALSE(last.ending(0));
  ASSERT_EQ(write(last.input(), "x", 1), 1);
  EXPECT_EQ(read_line(last), "x\n");
  EXPECT_EQ(getpgid(last.id()), last.id());
  EXPECT_EQ(last.kill().text(), "killed by SIGKILL");
}

TEST(Twins, WhoIsNeverBornIsNotWaitedFor) {
  ProcessCommand command{{"build/python/bin/python", "-c", "raise SystemExit(1)"}};
  command.twins.resize(1);
  Result<std::vector<Process>> all = Process::start_all(command);
  ASSERT_TRUE(all);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE((*all)[1].await_birth(kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::duration<double>(kLong / 2));
  EXPECT_EQ((*all)[1].id(), -1);
}

TEST(Twins, WhoIsGivenUpEnds) {
  Result<std::vector<Process>> all = Process::start_all(dividing("os.read(0, 1)", 1));
  ASSERT_TRUE(all);
  (*all)[1].doom();
  // Born or not by now, neither outlives it.
  if ((*all)[1].await_birth(kLong)) {
    EXPECT_TRUE((*all)[1].ending(kLong));
  }
  EXPECT_TRUE((*all)[0].ending(kLong));
}

}  // namespace
}  // namespace assay
