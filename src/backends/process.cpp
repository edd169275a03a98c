#include "backends/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
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
  Result<Ends> input = make_socket();
  if (!input) return input.error();
  Result<Ends> output = make_pipe();
  if (!output) return output.error();
  Result<Ends> errors = make_pipe();
  if (!errors) return errors.error();
  const Result<pid_t> id =
      spawn(command, {input->theirs.number(), output->theirs.number(), errors->theirs.number()});
  if (!id) return id.error();
  Process process;
  process.id_.id = *id;
  process.input_ = std::move(input->ours);
  process.output_ = std::move(output->ours);
  process.errors_ = std::move(errors->ours);
  process.death_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, *id, 0)));
  for (const int descriptor : {process.input(), process.output(), process.errors()}) {
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
  }
  return process;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    kill();
    id_ = std::move(other.id_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    errors_ = std::move(other.errors_);
    death_ = std::move(other.death_);
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
  if (death() >= 0) syscall(SYS_pidfd_send_signal, death(), SIGKILL, nullptr, 0);
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
