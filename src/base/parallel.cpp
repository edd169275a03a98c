#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/serial.h"

namespace assay {
namespace {

using Body = std::function<void(std::int64_t, std::int64_t)>;

// Pieces a thread gets on average: more than one, because cores are shared and cost is uneven.
constexpr std::int64_t kPiecesPerThread = 4;

// How often a thread looks whether there is something to do before it sleeps (about 100
// microseconds, and 20). Waking one takes as long as many a node does, and the next loop is seldom
// far.
constexpr int kLooks = 5000, kLooksInCompany = 1000;

std::atomic<int> wanted_threads{0};
std::atomic<int> looks{kLooks};

template <class Done>
void look_out(const Done& done) {
  const int most = looks.load(std::memory_order_relaxed);
  for (int i = 0; i < most && !done(); ++i) __builtin_ia32_pause();
}

thread_local bool inside_loop = false;
thread_local const Crowd* own_crowd = nullptr;

bool may_share() { return !inside_loop && !(own_crowd && own_crowd->has_all_processors()); }

// One running loop. Pieces are handed out in ascending order, so when a piece fails all lower ones
// have been handed out as well and run to their end: the lowest failure is always found.
class Job {
 public:
  Job(std::int64_t count, std::int64_t piece, const Body& body,
      std::vector<std::function<void()>> installers)
      : count_(count), piece_(piece), body_(body), installers_(std::move(installers)) {}

  void install() const noexcept {
    for (const auto& installer : installers_) installer();
  }

  void work() noexcept {
    while (true) {
      const std::int64_t begin = next_.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= count_ || failed_.load(std::memory_order_relaxed)) return;
      try {
        body_(begin, std::min(begin + piece_, count_));
      } catch (...) {
        record(begin, std::current_exception());
      }
    }
  }

  // Only after every thread has left work().
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void record(std::int64_t begin, std::exception_ptr error) {
    const std::lock_guard lock(error_mutex_);
    failed_.store(true, std::memory_order_relaxed);
    if (error_ && error_begin_ < begin) return;
    error_begin_ = begin;
    error_ = std::move(error);
  }

  const std::int64_t count_;
  const std::int64_t piece_;
  const Body& body_;
  const std::vector<std::function<void()>> installers_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex error_mutex_;
  std::int64_t error_begin_ = 0;
  std::exception_ptr error_;
};

class Pool {
 public:
  ~Pool() { stop(); }

  void add_capture(std::function<std::function<void()>()> capture) {
    const std::lock_guard lock(captures_mutex_);
    captures_.push_back(std::move(capture));
  }

  // False if another thread's loop has the pool; nothing has run then.
  bool run(std::int64_t count, std::int64_t piece, int threads, const Body& body) {
    const std::unique_lock owner(owner_mutex_, std::try_to_lock);
    if (!owner) return false;
    resize(static_cast<std::size_t>(threads - 1));
    Job job(count, piece, body, capture());
    publish(&job);
    inside_loop = true;
    job.work();
    inside_loop = false;
    withdraw();
    job.rethrow();
    return true;
  }

 private:
  std::vector<std::function<void()>> capture() {
    const std::lock_guard lock(captures_mutex_);
    std::vector<std::function<void()>> installers;
    installers.reserve(captures_.size());
    for (const auto& captured : captures_) installers.push_back(captured());
    return installers;
  }

  void publish(Job* job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = job;
      ++generation_;
    }
    wake_.notify_all();
  }

  // Waits for the workers that joined, not for those that are still waking up.
  void withdraw() {
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    lock.unlock();
    look_out([this] { return active_ == 0; });
    lock.lock();
    idle_.wait(lock, [this] { return active_ == 0; });
  }

  void resize(std::size_t workers) {
    if (workers_.size() > workers) stop();
    try {
      while (workers_.size() < workers) workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system grants no more threads: those we have, and the caller, do the work.
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_ = false;
  }

  void serve() {
    inside_loop = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      lock.unlock();
      look_out([&] { return generation_ != seen || stopping_; });
      lock.lock();
      if (job_ == nullptr && generation_ != seen) {  // others were faster
        seen = generation_;
        continue;
      }
      wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && generation_ != seen); });
      if (stopping_) return;
      seen = generation_;
      Job* const job = job_;
      ++active_;
      lock.unlock();
      job->install();
      job->work();
      lock.lock();
      if (--active_ == 0) idle_.notify_one();
    }
  }

  std::mutex owner_mutex_;  // held by the thread whose loop is running
  std::mutex captures_mutex_;
  std::vector<std::function<std::function<void()>()>> captures_;
  std::vector<std::thread> workers_;

  std::mutex mutex_;  // guards changes of all that follows; what is atomic may be looked at
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job* job_ = nullptr;
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<int> active_ = 0;
  std::atomic<bool> stopping_ = false;
};

Pool& pool() {
  static Pool instance;
  return instance;
}

}  // namespace

void set_thread_count(int count) { wanted_threads.store(std::max(count, 0)); }

void set_company(bool others) { looks.store(others ? kLooksInCompany : kLooks); }

int thread_count() {
  const int wanted = wanted_threads.load(std::memory_order_relaxed);
  if (wanted > 0) return wanted;
  static const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return processors;
}

void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  const int threads = thread_count();
  if (count > grain && threads > 1 && may_share()) {
    const std::int64_t pieces = threads * kPiecesPerThread;
    const std::int64_t piece = std::max({std::int64_t{1}, grain, (count - 1) / pieces + 1});
    if (pool().run(count, piece, threads, body)) return;
  }
  body(0, count);
}

SerialScope::SerialScope(bool serial)
    : before_(std::exchange(inside_loop, inside_loop || serial)) {}

SerialScope::~SerialScope() { inside_loop = before_; }

bool Crowd::has_all_processors() const {
  return members_.load(std::memory_order_relaxed) >= thread_count();
}

Crowd::Member::Member(Crowd& crowd) : crowd_(crowd), before_(std::exchange(own_crowd, &crowd)) {
  ++crowd_.members_;
}

Crowd::Member::~Member() {
  --crowd_.members_;
  own_crowd = before_;
}

void on_parallel(std::function<std::function<void()>()> capture) {
  pool().add_capture(std::move(capture));
}

}  // namespace assay
