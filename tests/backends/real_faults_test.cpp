// Faults that come from outside and hit a real framework in the middle of a run.
//
// ASSAY_REAL_FAULTS=BACKEND:COUNT,… says on which backends and how many; tools/backend_tests.py
// does so once they are installed.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "backends/install.h"
#include "formats/onnx_export.h"

namespace assay {
namespace {

enum class Attack : std::uint8_t { kill, segfault, stop, pause, memory, count };

Model doubling(std::int64_t extent) {
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 13;
  Node node;
  node.op = "Add";
  node.inputs = {"X", "X"};
  node.outputs = {"Y"};
  const ValueType type = ValueType::tensor(ElementType::f32, {Dim(extent)});
  model.graph.name = "doubling";
  model.graph.inputs.push_back({"X", type});
  model.graph.outputs.push_back({"Y", type});
  model.graph.nodes.push_back(std::move(node));
  return model;
}

Job doubling_job(std::int64_t extent) {
  Job job{{"", *to_onnx(doubling(extent))}};
  job.inputs.emplace_back("X",
                          make_tensor(ElementType::f32, {extent},
                                      std::vector<double>(static_cast<std::size_t>(extent), 3)));
  return job;
}

bool is_right(const Answer& answer) {
  const Value* found = answer.find("Y");
  if (!answer.ok() || !found) return false;
  for (const float one : found->tensor().data<float>()) {
    if (one != 6) return false;
  }
  return true;
}

// Many feeds in one request, if the worker knows the job; else one.
Answer run_row(Worker& worker, const Job& job, const WorkerLimits& limits) {
  const std::vector<NamedValues> feeds(20, job.inputs);
  if (worker.alike(job, feeds) < feeds.size()) return worker.run(job, limits);
  std::vector<Answer> answers;
  if (auto trouble = worker.again(feeds, limits, answers)) return *std::move(trouble);
  return std::all_of(answers.begin(), answers.end(), is_right) ? answers.back() : Answer();
}

// The worker is stopped before it is asked, so that the attack hits it with a request at hand.
Answer run_under(Attack attack, Worker& worker, const Job& job) {
  const pid_t id = worker.id();
  kill(id, SIGSTOP);
  std::thread attacker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    if (attack == Attack::kill) kill(id, SIGKILL);
    if (attack == Attack::segfault) kill(id, SIGSEGV);
    if (attack == Attack::segfault || attack == Attack::pause) kill(id, SIGCONT);
  });
  // A worker that has run anything has taken more than a byte.
  const WorkerLimits limits{attack == Attack::stop ? 0.1 : 60, attack == Attack::memory ? 1 : 0};
  Answer answer = run_row(worker, job, limits);
  attacker.join();
  return answer;
}

Outcome expected(Attack attack) {
  switch (attack) {
    case Attack::stop:
      return Outcome::hung;
    case Attack::pause:
      return Outcome::ok;
    case Attack::memory:
      return Outcome::memory;
    default:
      return Outcome::crashed;
  }
}

void attack_backend(const std::string& name, int count) {
  const Result<BackendName> backend = parse_backend(name);
  ASSERT_TRUE(backend) << backend.error().message;
  const Result<WorkerCommand> command = worker_command(*backend);
  ASSERT_TRUE(command) << command.error().message;
  std::unique_ptr<Worker> worker;
  for (int i = 0; i < count; ++i) {
    if (!worker || !worker->alive()) {
      Result<std::unique_ptr<Worker>> started = Worker::start(*command, {1});
      ASSERT_TRUE(started) << started.error().message;
      worker = *std::move(started);
    }
    const auto attack = static_cast<Attack>(i % static_cast<int>(Attack::count));
    const Job job = doubling_job(i % 2 == 0 ? 100 : 100000);
    if (i % 3 > 0) {  // so that most attacks hit a row of runs
      ASSERT_TRUE(is_right(worker->run(job, {60, 0})));
    }
    const Answer answer = run_under(attack, *worker, job);
    ASSERT_EQ(answer.outcome, expected(attack)) << i << ": " << answer.message;
    ASSERT_TRUE(!answer.ok() || is_right(answer));
    ASSERT_TRUE(attack != Attack::segfault || answer.signal == SIGSEGV) << answer.message;
    ASSERT_TRUE(attack != Attack::kill || answer.signal == SIGKILL) << answer.message;
    ASSERT_TRUE(!worker->alive() || is_right(worker->run(job, {60, 0})));
  }
}

TEST(RealFaults, EveryOneHasItsOutcome) {
  const char* asked = std::getenv("ASSAY_REAL_FAULTS");
  if (!asked) GTEST_SKIP() << "ASSAY_REAL_FAULTS names no backends";
  std::istringstream list(asked);
  for (std::string one; std::getline(list, one, ',');) {
    const auto colon = one.find(':');
    ASSERT_NE(colon, std::string::npos);
    attack_backend(one.substr(0, colon), std::atoi(one.c_str() + colon + 1));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace assay
