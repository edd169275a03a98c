// Thousands of faults in a row: nothing lost, nothing hung, nothing left running or open.
#include "backends/faults.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "backends/backend.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostMemory = std::int64_t{100} << 20;

WorkerCommand faulty_worker(const std::string& start = "") {
  WorkerCommand command;
  command.arguments = {ASSAY_FAULTY_WORKER};
  if (!start.empty()) command.arguments.push_back(start);
  return command;
}

int faults_wanted() {
  const char* asked = std::getenv("ASSAY_FAULTS");
  return asked ? std::atoi(asked) : 2000;
}

Outcome expected(Fault fault) {
  switch (fault) {
    case Fault::none:
    case Fault::slow:
    case Fault::floods_errors:
      return Outcome::ok;
    case Fault::hangs:
    case Fault::half_then_hangs:
      return Outcome::hung;
    case Fault::takes_memory:
      return Outcome::memory;
    case Fault::wrong_shape:
    case Fault::absurd_shape:
    case Fault::unknown_type:
    case Fault::outside_arena:
    case Fault::cuts_arena:
      return Outcome::failed;
    default:
      return Outcome::crashed;
  }
}

int expected_signal(Fault fault) {
  switch (fault) {
    case Fault::killed:
      return SIGKILL;
    case Fault::segfault:
    case Fault::forks_and_dies:
      return SIGSEGV;
    case Fault::aborted:
      return SIGABRT;
    default:
      return 0;
  }
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

std::size_t children() {
  std::size_t count = 0;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t id = 0; file >> id;) ++count;
  }
  return count;
}

Tensor numbers(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i % 1000);
  return make_tensor(ElementType::f32, {static_cast<std::int64_t>(count)}, values);
}

Job job_of(Fault fault, std::size_t count) {
  Job job{{"", "model"}};
  job.inputs.emplace_back("X", numbers(count));
  const std::int64_t number = static_cast<std::int64_t>(fault);
  job.inputs.emplace_back("fault", make_integers(ElementType::i64, {}, {&number, 1}));
  return job;
}

bool is_doubled(const Answer& answer, std::size_t count) {
  const Value* found = answer.find("Y");
  if (!found || found->tensor().size() != static_cast<std::int64_t>(count)) return false;
  const auto values = found->tensor().data<float>();
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] != 2 * static_cast<float>(i % 1000)) return false;
  }
  return true;
}

// Starts a worker again whenever the last one is gone.
class Restarting {
 public:
  Worker& get() {
    if (!worker_ || !worker_->alive()) {
      Result<std::unique_ptr<Worker>> started = Worker::start(faulty_worker(), {});
      if (!started) ADD_FAILURE() << started.error().message;
      worker_ = *std::move(started);
    }
    return *worker_;
  }

 private:
  std::unique_ptr<Worker> worker_;
};

TEST(Faults, EveryKindHasItsOutcomeAndTheNextRunIsRight) {
  ASSERT_TRUE(Worker::start(faulty_worker(), {}));  // what is made once is made now
  const std::size_t files = open_files();
  {
    Restarting worker;
    std::mt19937 random(1);
    for (int i = 0; i < faults_wanted(); ++i) {
      const auto kinds = static_cast<std::int64_t>(Fault::count);
      const auto fault = static_cast<Fault>(i < kinds ? i : random() % kinds);
      const std::size_t count = fault == Fault::cuts_arena ? 50000 : 1 + random() % 5000;
      // A busy machine is no hang: only those that hang are given little time.
      const double seconds = expected(fault) == Outcome::hung ? 0.05 : 60;
      // Half of the faults hit a run of the form that the last one had.
      if (random() % 2 == 0) worker.get().run(job_of(Fault::none, count), {60, 0});
      const Answer answer = worker.get().run(job_of(fault, count), {seconds, kMostMemory});
      const bool late = fault == Fault::answers_twice && answer.ok();  // the second came later
      ASSERT_EQ(answer.outcome, late ? Outcome::ok : expected(fault))
          << static_cast<int>(fault) << ": " << answer.message;
      ASSERT_EQ(answer.signal, expected_signal(fault)) << answer.message;
      ASSERT_TRUE(!answer.ok() || is_doubled(answer, count));
      const Answer next = worker.get().run(job_of(Fault::none, count), {60, 0});
      ASSERT_TRUE(next.ok() && is_doubled(next, count)) << next.message;
    }
    EXPECT_EQ(children(), 1U);
  }
  EXPECT_EQ(children(), 0U);
  EXPECT_EQ(open_files(), files);
}

// A backend of the faulty worker, by a file of its own.
Result<std::unique_ptr<Backend>> open_faulty(const std::string& more, const WorkerLimits& limits) {
  const fs::path folder = fs::path(testing::TempDir()) / "faulty-environments";
  fs::create_directories(folder);
  std::ofstream(folder / "faulty.toml") << "command = [\"" << ASSAY_FAULTY_WORKER << "\"]\n"
                                        << more;
  setenv("ASSAY_ENVIRONMENTS", folder.c_str(), 1);
  BackendOptions options;
  options.limits = limits;
  Result<std::unique_ptr<Backend>> backend = open_backend("faulty", options);
  unsetenv("ASSAY_ENVIRONMENTS");
  return backend;
}

TEST(Faults, OneThatIsGivenUpWhileItStartsIsNotWaitedFor) {
  const fs::path folder = fs::path(testing::TempDir()) / "hanging-environments";
  fs::create_directories(folder);
  std::ofstream(folder / "hanging.toml")
      << "command = [\"" << ASSAY_FAULTY_WORKER << "\", \"hangs\"]\n";
  setenv("ASSAY_ENVIRONMENTS", folder.c_str(), 1);
  const auto start = std::chrono::steady_clock::now();
  { const OpeningBackends opening({"reference", "hanging"}, {}); }
  // The first that cannot be started is told at once, whatever the others do.
  const auto opened = open_backends({"hanging", "nobody"}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().where, "nobody") << opened.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(children(), 0U);
  unsetenv("ASSAY_ENVIRONMENTS");
}

std::vector<NamedValues> feeds_of(std::size_t feeds, std::size_t count, std::size_t place,
                                  Fault fault) {
  std::vector<NamedValues> row;
  for (std::size_t i = 0; i < feeds; ++i) {
    row.push_back(job_of(i == place ? fault : Fault::none, count).inputs);
  }
  return row;
}

std::vector<Answer> run_row(Backend& backend, const std::vector<NamedValues>& feeds) {
  std::vector<Answer> answers;
  backend.run_each({{"", "model"}}, feeds, [&](Answer answer) {
    answers.push_back(std::move(answer));
    return true;
  });
  return answers;
}

// A second reply may come late, so that the next request finds it.
bool may_be_late(Fault fault) { return fault == Fault::answers_twice; }

void expect_only_one_fault(const std::vector<Answer>& answers, std::size_t place, Fault fault,
                           std::size_t count) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Answer& answer = answers[i];
    if (may_be_late(fault) && (i == place || i + 1 == answers.size())) continue;
    ASSERT_EQ(answer.outcome, i == place ? expected(fault) : Outcome::ok)
        << static_cast<int>(fault) << " at " << place << ", " << i << ": " << answer.message;
    ASSERT_EQ(answer.signal, i == place ? expected_signal(fault) : 0) << answer.message;
    ASSERT_TRUE(!answer.ok() || is_doubled(answer, count));
  }
}

TEST(Faults, OneOfManyFeedsSpoilsNoOther) {
  ASSERT_TRUE(Worker::start(faulty_worker(), {}));
  const std::size_t files = open_files();
  {
    // Time enough for a busy machine, and a fault that hangs takes it twice.
    const Result<std::unique_ptr<Backend>> backend =
        open_faulty("shared_memory = true\n", {1, kMostMemory});
    ASSERT_TRUE(backend) << backend.error().message;
    std::mt19937 random(2);
    const auto kinds = static_cast<int>(Fault::count);
    for (int i = 0; i < std::max(kinds, faults_wanted() / 20); ++i) {
      const auto fault = static_cast<Fault>(i % kinds);
      const std::size_t feeds = 2 + random() % 30, place = random() % feeds;
      const std::size_t count = 1100 + random() % 2000;  // enough for the arena
      const auto answers = run_row(**backend, feeds_of(feeds, count, place, fault));
      ASSERT_EQ(answers.size(), feeds);
      expect_only_one_fault(answers, place, fault, count);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(children(), 0U);
  EXPECT_EQ(open_files(), files);
}

TEST(Faults, ManyFeedsGoThroughThePipeWhereNothingIsShared) {
  const Result<std::unique_ptr<Backend>> backend = open_faulty("", {60, 0});
  ASSERT_TRUE(backend) << backend.error().message;
  for (const std::size_t count : {1U, 1000U, 100000U}) {
    const auto answers = run_row(**backend, feeds_of(40, count, 40, Fault::none));
    ASSERT_EQ(answers.size(), 40U);
    expect_only_one_fault(answers, 40, Fault::none, count);
  }
}

TEST(Faults, WhoeverTakesTheAnswersCanStop) {
  const Result<std::unique_ptr<Backend>> backend = open_faulty("shared_memory = true\n", {60, 0});
  ASSERT_TRUE(backend) << backend.error().message;
  std::size_t taken = 0;
  (*backend)->run_each({{"", "model"}}, feeds_of(20, 10, 7, Fault::segfault),
                       [&](const Answer& one) {
                         ++taken;
                         return one.ok();
                       });
  EXPECT_EQ(taken, 8U);
}

TEST(Faults, FeedsOfSeveralFormsAreToldApart) {
  const Result<std::unique_ptr<Backend>> backend = open_faulty("shared_memory = true\n", {60, 0});
  ASSERT_TRUE(backend) << backend.error().message;
  std::vector<NamedValues> feeds;
  for (const std::size_t count : {5U, 5U, 5U, 6U, 6U, 5U, 7U}) {
    feeds.push_back(job_of(Fault::none, count).inputs);
  }
  const std::vector<Answer> answers = run_row(**backend, feeds);
  ASSERT_EQ(answers.size(), feeds.size());
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const auto count = static_cast<std::size_t>(feeds[i].front().second.tensor().size());
    EXPECT_TRUE(is_doubled(answers[i], count)) << answers[i].message;
  }
}

TEST(Faults, AStartThatFailsSaysWhy) {
  for (const auto& [start, words] : {std::pair<std::string, std::string>{"dies", "exited with 9"},
                                     {"hangs", "no answer within"},
                                     {"refuses", "no such framework"}}) {
    WorkerOptions options;
    options.start_seconds = 0.2;
    const Result<std::unique_ptr<Worker>> worker = Worker::start(faulty_worker(start), options);
    ASSERT_FALSE(worker);
    EXPECT_EQ(worker.error().kind, "environment");
    EXPECT_NE(worker.error().message.find(words), std::string::npos) << worker.error().message;
  }
  WorkerCommand missing;
  missing.arguments = {"no-such-program"};
  const Result<std::unique_ptr<Worker>> worker = Worker::start(missing, {});
  ASSERT_FALSE(worker);
  EXPECT_NE(worker.error().message.find("No such file"), std::string::npos);
  EXPECT_EQ(children(), 0U);
}

TEST(Faults, WithoutSharedMemoryTensorsGoThroughThePipe) {
  WorkerCommand elsewhere = faulty_worker();
  elsewhere.shared_memory = false;
  Result<std::unique_ptr<Worker>> worker = Worker::start(elsewhere, {});
  ASSERT_TRUE(worker);
  EXPECT_FALSE((*worker)->shares_memory());
  EXPECT_TRUE(is_doubled((*worker)->run(job_of(Fault::none, 1000000), {30, 0}), 1000000));
}

TEST(Faults, AFullDiskIsNoReasonToStop) {
  Result<std::unique_ptr<Worker>> worker = std::unique_ptr<Worker>();
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 16, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  worker = Worker::start(faulty_worker(), {});
  ASSERT_TRUE(worker);
  EXPECT_TRUE((*worker)->shares_memory());
  for (const std::size_t count : {10U, 10000U, 100000U, 1000000U}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(is_doubled((*worker)->run(job_of(Fault::none, count), {30, 0}), count));
    }
  }
  setrlimit(RLIMIT_FSIZE, &before);
  setenv("ASSAY_SHARED_MEMORY", "/nowhere", 1);
  worker = Worker::start(faulty_worker(), {});
  unsetenv("ASSAY_SHARED_MEMORY");
  ASSERT_TRUE(worker);
  EXPECT_FALSE((*worker)->shares_memory());
  EXPECT_TRUE(is_doubled((*worker)->run(job_of(Fault::none, 10000), {30, 0}), 10000));
}

}  // namespace
}  // namespace assay
