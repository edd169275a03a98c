#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/serial.h"

namespace assay {
namespace {

thread_local int thread_state = 0;

class ParallelTest : public testing::Test {
 protected:
  ~ParallelTest() override { set_thread_count(0); }
};

// Holds every thread in the body until `threads` of them are there; false after ten seconds.
class Meeting {
 public:
  explicit Meeting(int threads) : missing_(threads) {}

  bool attend() {
    std::unique_lock lock(mutex_);
    if (attended_.insert(std::this_thread::get_id()).second && --missing_ == 0) all_.notify_all();
    return all_.wait_for(lock, std::chrono::seconds(10), [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::set<std::thread::id> attended_;
  int missing_;
};

TEST_F(ParallelTest, CoversEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    EXPECT_EQ(thread_count(), threads);
    for (const std::int64_t count : {0, 1, 2, 5, 31, 1000}) {
      for (const std::int64_t grain : {0, 1, 4, 999, 2000}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
        parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          EXPECT_LT(begin, end);
          EXPECT_TRUE(end - begin >= grain || end == count);
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (const auto& times : seen) EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST_F(ParallelTest, AsksForAllProcessorsByDefault) {
  set_thread_count(-1);
  EXPECT_GE(thread_count(), 1);
  EXPECT_LE(thread_count(), std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

TEST_F(ParallelTest, UsesSeveralThreads) {
  for (const int threads : {2, 4, 3}) {
    set_thread_count(threads);
    Meeting meeting(threads);
    std::atomic<int> lonely = 0;
    parallel_for(threads, 1, [&](std::int64_t, std::int64_t) { lonely += !meeting.attend(); });
    EXPECT_EQ(lonely, 0);
  }
}

TEST_F(ParallelTest, RunsShortAndSingleThreadedLoopsInOnePieceOnTheCaller) {
  const auto expect_inline = [](std::int64_t count, std::int64_t grain) {
    int calls = 0;
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      ++calls;
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, count);
    });
    EXPECT_EQ(calls, 1);
  };
  set_thread_count(4);
  expect_inline(10, 10);
  set_thread_count(1);
  expect_inline(10, 1);
}

TEST_F(ParallelTest, RunsInnerLoopsOnTheThreadOfTheOuter) {
  set_thread_count(3);
  Meeting meeting(3);
  std::atomic<int> inner = 0;
  parallel_for(3, 1, [&](std::int64_t, std::int64_t) {
    meeting.attend();
    const auto outer_thread = std::this_thread::get_id();
    parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), outer_thread);
      inner += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(inner, 300);
}

TEST_F(ParallelTest, ACrowdSharesLoopsOnlyWhileProcessorsAreLeft) {
  set_thread_count(2);
  const auto shares = [] {  // a loop that is shared comes in several pieces
    int pieces = 0;
    std::mutex mutex;
    parallel_for(100, 1, [&](std::int64_t, std::int64_t) {
      const std::lock_guard lock(mutex);
      ++pieces;
    });
    return pieces > 1;
  };
  Crowd crowd;
  const Crowd::Member first(crowd);
  EXPECT_TRUE(shares());
  {
    const Crowd::Member second(crowd);
    EXPECT_FALSE(shares());
  }
  EXPECT_TRUE(shares());
}

TEST_F(ParallelTest, ThrowsWhatOneThreadWouldThrow) {
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::string message;
      try {
        parallel_for(100, 1, [](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            if (i >= 37) throw std::runtime_error(std::to_string(i));
          }
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      ASSERT_EQ(message, "37");
    }
    std::atomic<std::int64_t> done = 0;  // and the pool still works
    parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) { done += end - begin; });
    EXPECT_EQ(done, 100);
  }
}

TEST_F(ParallelTest, PrefersTheLowestOfSeveralFailures) {
  set_thread_count(2);
  for (const std::int64_t late : {0, 1}) {
    Meeting meeting(2);
    std::string message;
    try {
      parallel_for(2, 1, [&](std::int64_t begin, std::int64_t) {
        meeting.attend();
        if (begin == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        throw std::runtime_error(std::to_string(begin));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "0");
  }
}

TEST_F(ParallelTest, ServesCallersOnSeveralThreads) {
  set_thread_count(3);
  std::atomic<std::int64_t> done = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 100; ++repeat) {
        parallel_for(50, 1, [&](std::int64_t begin, std::int64_t end) { done += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 4 * 100 * 50);
}

TEST_F(ParallelTest, HandsTheCallersStateToTheWorkers) {
  on_parallel([] { return [state = thread_state] { thread_state = state; }; });
  set_thread_count(3);
  for (const int state : {7, 8}) {
    thread_state = state;
    Meeting meeting(3);
    parallel_for(3, 1, [&](std::int64_t, std::int64_t) {
      meeting.attend();
      EXPECT_EQ(thread_state, state);
    });
  }
}

}  // namespace
}  // namespace assay
