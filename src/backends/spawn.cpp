#include "backends/spawn.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"

namespace assay {
namespace {

constexpr int kAway = 100;           // above the descriptors that a child finds
constexpr std::size_t kPlaced = 32;  // of these, at most

// A child asks to die with the *thread* that made it, so one thread, which lives as long as the
// process, makes them all. It is never destroyed: at exit it just ends with everything else.
class Spawner {
 public:
  static Spawner& get() {
    static Spawner& only = *new Spawner;
    return only;
  }

  pid_t call(const std::function<pid_t()>& fork_child) {
    const std::lock_guard turn(turn_);
    std::unique_lock lock(mutex_);
    work_ = &fork_child;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
    return made_;
  }

  // Held while a child is made and made known, and while orphans are looked for.
  std::mutex children_mutex;
  std::set<pid_t> children;

 private:
  Spawner() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::thread([this] { serve(); }).detach();
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return work_ != nullptr; });
      made_ = (*work_)();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex turn_, mutex_;
  std::condition_variable changed_;
  const std::function<pid_t()>* work_ = nullptr;
  pid_t made_ = -1;
};

// Everything that the child needs, laid out before the fork: after it nothing may allocate.
struct Prepared {
  std::vector<char*> arguments, variables;
  std::vector<std::string> texts;
  std::array<int, 3> streams;
  std::vector<int> inherited;
  int failure = -1;  // where the child writes why it could not start
  pid_t parent = 0;
};

Prepared prepare(const ProcessCommand& command, const std::array<int, 3>& streams) {
  Prepared made;
  ASSAY_CHECK(streams.size() + command.inherited.size() <= kPlaced);
  made.streams = streams;
  made.inherited = command.inherited;
  made.parent = getpid();
  std::vector<std::string>& texts = made.texts;
  texts = command.arguments;
  for (char** one = environ; *one; ++one) {
    const std::string_view text = *one;
    const bool replaced =
        std::any_of(command.variables.begin(), command.variables.end(), [&](const auto& variable) {
          return text.starts_with(variable.first) && text.substr(variable.first.size(), 1) == "=";
        });
    if (!replaced) texts.emplace_back(text);
  }
  for (const auto& [name, value] : command.variables) {
    texts.push_back(fmt::format("{}={}", name, value));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    (i < command.arguments.size() ? made.arguments : made.variables).push_back(texts[i].data());
  }
  made.arguments.push_back(nullptr);
  made.variables.push_back(nullptr);
  return made;
}

// A limit of ours on memory is not the child's.
void lift_limits() {
  for (const int kind : {RLIMIT_DATA, RLIMIT_AS}) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource_t>(kind), &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(static_cast<__rlimit_resource_t>(kind), &limit);
  }
}

// Moves the descriptors to 0, 1, 2, 3, …: first out of the way of each other, then into place.
void place_descriptors(const Prepared& prepared) {
  std::array<int, kPlaced> away{};
  const std::size_t count = std::min(away.size(), 3 + prepared.inherited.size());
  for (std::size_t i = 0; i < count; ++i) {
    const int from = i < 3 ? prepared.streams[i] : prepared.inherited[i - 3];
    away[i] = fcntl(from, F_DUPFD_CLOEXEC, kAway);
  }
  for (std::size_t i = 0; i < count; ++i) dup2(away[i], static_cast<int>(i));
}

[[noreturn]] void become(const Prepared& prepared) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != prepared.parent) _exit(127);
  lift_limits();
  // The kernel, short of memory, takes a worker before it takes us.
  if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    [[maybe_unused]] const ssize_t done = write(score, "1000", 4);
    close(score);
  }
  const int failure = fcntl(prepared.failure, F_DUPFD_CLOEXEC, kAway);
  place_descriptors(prepared);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  environ = const_cast<char**>(prepared.variables.data());
  execvp(prepared.arguments[0], const_cast<char**>(prepared.arguments.data()));
  const int why = errno;
  [[maybe_unused]] const ssize_t done = write(failure, &why, sizeof why);
  _exit(127);
}

}  // namespace

Result<pid_t> spawn(const ProcessCommand& command, const std::array<int, 3>& streams) {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC) != 0) {
    return Error{"environment", fmt::format("pipe: {}", std::strerror(errno)), {}};
  }
  Descriptor told(pair[0]), tell(pair[1]);
  Prepared prepared = prepare(command, streams);
  prepared.failure = tell.number();
  Spawner& spawner = Spawner::get();
  pid_t id = -1;
  {
    const std::lock_guard lock(spawner.children_mutex);
    id = spawner.call([&] {
      const pid_t child = fork();
      if (child == 0) become(prepared);
      return child;
    });
    if (id > 0) spawner.children.insert(id);
  }
  if (id < 0) return Error{"environment", "no new process can be made", {}};
  tell.reset();
  int why = 0;
  ssize_t count = 0;
  while ((count = read(told.number(), &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (count == sizeof why) {
    waitpid(id, nullptr, 0);
    forget_child(id);
    return Error{
        "environment",
        fmt::format("{} cannot be started: {}", command.arguments.front(), std::strerror(why)),
        command.arguments.front()};
  }
  return id;
}

bool adopt_child(pid_t id) {
  Spawner& spawner = Spawner::get();
  const std::lock_guard lock(spawner.children_mutex);
  if (setpgid(id, id) != 0) return false;
  return spawner.children.insert(id).second;
}

void forget_child(pid_t id) {
  Spawner& spawner = Spawner::get();
  const std::lock_guard lock(spawner.children_mutex);
  spawner.children.erase(id);
}

void kill_orphans() {
  Spawner& spawner = Spawner::get();
  const std::lock_guard lock(spawner.children_mutex);
  // One that is killed may leave children of its own to us.
  for (bool found = true; found;) {
    found = false;
    std::error_code ignored;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
      std::ifstream children(task.path() / "children");
      for (pid_t id = 0; children >> id;) {
        if (spawner.children.contains(id) || spawner.children.contains(getpgid(id))) continue;
        kill(id, SIGKILL);
        found = waitpid(id, nullptr, 0) == id || found;
      }
    }
  }
}

}  // namespace assay
