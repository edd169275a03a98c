#include "backends/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "backends/spawn.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestId = 20;  // letters

Error trouble(const std::string& what) {
  return {"environment", fmt::format("{}: {}", what, std::strerror(errno)), what};
}

Ending to_ending(int status) {
  if (WIFSIGNALED(status)) return {WTERMSIG(status), 0};
  return {0, WEXITSTATUS(status)};
}

struct Ends {
  Descriptor ours, theirs;
};

Result<Ends> make_socket() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return trouble("socketpair");
  return Ends{Descriptor(pair[0]), Descriptor(pair[1])};
}

Result<Ends> make_pipe() {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC) != 0) return trouble("pipe");
  return Ends{Descriptor(pair[0]), Descriptor(pair[1])};
}

// The three standard streams of a process.
struct Streams {
  Ends input, output, errors;
  std::array<int, 3> theirs() const {
    return {input.theirs.number(), output.theirs.number(), errors.theirs.number()};
  }
};

Result<Streams> make_streams() {
  Result<Ends> input = make_socket();
  if (!input) return input.error();
  Result<Ends> output = make_pipe();
  if (!output) return output.error();
  Result<Ends> errors = make_pipe();
  if (!errors) return errors.error();
  for (const int descriptor :
       {input->ours.number(), output->ours.number(), errors->ours.number()}) {
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
  }
  return Streams{*std::move(input), *std::move(output), *std::move(errors)};
}

Descriptor death_of(pid_t id) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (number_ >= 0) close(std::exchange(number_, -1));
}

std::string Ending::text() const {
  if (signal == 0) return fmt::format("exited with {}", code);
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", signal);
}

Result<Process> Process::start(const ProcessCommand& command) {
  Result<std::vector<Process>> started = start_all(command);
  if (!started) return started.error();
  return std::move(started->front());
}

Result<std::vector<Process>> Process::start_all(const ProcessCommand& command) {
  ProcessCommand whole = command;
  std::vector<Streams> streams;
  for (std::size_t i = 0; i <= command.twins.size(); ++i) {
    Result<Streams> made = make_streams();
    if (!made) return made.error();
    streams.push_back(*std::move(made));
    if (i == 0) continue;
    const std::array<int, 3> theirs = streams.back().theirs();
    whole.inherited.insert(whole.inherited.end(), theirs.begin(), theirs.end());
    const std::vector<int>& more = command.twins[i - 1];
    whole.inherited.insert(whole.inherited.end(), more.begin(), more.end());
  }
  const Result<pid_t> id = spawn(whole, streams.front().theirs());
  if (!id) return id.error();
  std::vector<Process> processes;
  for (Streams& one : streams) {
    Process process;
    process.input_ = std::move(one.input.ours);
    process.output_ = std::move(one.output.ours);
    process.errors_ = std::move(one.errors.ours);
    if (processes.empty()) {
      process.id_.id = *id;
      process.death_ = death_of(*id);
    } else {
      process.mother_ = death_of(*id);
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

bool Process::await_birth(double seconds) {
  if (id_ > 0) return true;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::string told;
  while (told.empty() || told.back() != '\n') {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd files[] = {{output(), POLLIN, 0}, {mother_.number(), POLLIN, 0}};
    if (left.count() <= 0) return false;
    if (poll(files, 2, static_cast<int>(std::min<std::int64_t>(left.count(), 1000))) < 0) continue;
    char letter = 0;
    // A letter at a time: what follows the line is the first message.
    const ssize_t count = files[0].revents != 0 ? read(output(), &letter, 1) : -1;
    if (count == 1) told.push_back(letter);
    const bool over = count < 0 && files[1].revents != 0;
    if (count == 0 || over || told.size() > kLongestId) return false;
  }
  const pid_t id = std::atoi(told.c_str());
  if (id <= 0 || !adopt_child(id)) return false;
  id_.id = id;
  death_ = death_of(id);
  return true;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    kill();
    id_ = std::move(other.id_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    errors_ = std::move(other.errors_);
    death_ = std::move(other.death_);
    mother_ = std::move(other.mother_);
    ending_ = other.ending_;
  }
  return *this;
}

std::optional<Ending> Process::ending(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (!ending_ && id_ > 0) {
    int status = 0;
    if (waitpid(id_, &status, WNOHANG) == id_) {
      ending_ = to_ending(status);
      end_group();
    } else if (Clock::now() >= deadline) {
      break;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return ending_;
}

Ending Process::kill() {
  if (ending_ || id_ <= 0) return ending_.value_or(Ending{});
  ending(0);
  if (ending_) return *ending_;
  ::kill(-id_, SIGKILL);
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  ending_ = to_ending(status);
  end_group();
  return *ending_;
}

void Process::doom() const {
  // A twin may be born this moment, in the thread that waits for it: it ends where its input does.
  const int known = mother_.number() >= 0 ? mother_.number() : death();
  if (mother_.number() >= 0) shutdown(input(), SHUT_RDWR);
  if (known >= 0) syscall(SYS_pidfd_send_signal, known, SIGKILL, nullptr, 0);
}

// What the process started may live on in its group, or in one of its own.
void Process::end_group() {
  ::kill(-id_, SIGKILL);
  forget_child(id_);
  kill_orphans();
}

std::int64_t Process::resident_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", id_.id));
  std::int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Result<std::string> run_to_end(const ProcessCommand& command, double seconds) {
  Result<Process> process = Process::start(command);
  if (!process) return process.error();
  process->close_input();
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::string printed;
  pollfd files[] = {{process->output(), POLLIN, 0}, {process->errors(), POLLIN, 0}};
  while ((files[0].fd >= 0 || files[1].fd >= 0) && Clock::now() < deadline) {
    if (poll(files, 2, 100) < 0 && errno != EINTR) break;
    for (pollfd& file : files) {
      char buffer[4096];
      if (file.fd < 0 || file.revents == 0) continue;
      const ssize_t count = read(file.fd, buffer, sizeof buffer);
      if (count > 0) printed.append(buffer, static_cast<std::size_t>(count));
      if (count == 0) file.fd = -1;
    }
  }
  const std::optional<Ending> ending = process->ending(Clock::now() < deadline ? 5 : 0);
  if (ending && ending->signal == 0 && ending->code == 0) return printed;
  const std::string tail =
      printed.size() > 600 ? "…" + printed.substr(printed.size() - 600) : printed;
  return Error{"environment",
               fmt::format("{} {}: {}", command.arguments.front(),
                           ending ? ending->text() : fmt::format("took over {} s", seconds), tail),
               command.arguments.front()};
}

}  // namespace assay
