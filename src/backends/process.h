// Processes that must not outlive us, whatever happens to them or to us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int number() const { return number_; }
  void reset();

 private:
  int number_ = -1;
};

struct ProcessCommand {
  std::vector<std::string> arguments;                            // the first is looked for in PATH
  std::vector<std::pair<std::string, std::string>> variables{};  // beside those of our own
  std::vector<int> inherited{};  // descriptors that it finds as 3, 4, …
  // Of each twin, a process that it will make of itself, as many more. They come after its own,
  // those of a twin behind its three standard streams.
  std::vector<std::vector<int>> twins{};
};

// How a process ended.
struct Ending {
  int signal = 0;
  int code = 0;
  std::string text() const;  // "killed by SIGSEGV", "exited with 1"
};

// A child in a process group of its own. It is killed, with all that it started, when this goes
// out of scope and when our process dies. Its standard input is a socket, so that writing to one
// that is gone is an error and not a signal.
class Process {
 public:
  static Result<Process> start(const ProcessCommand& command);
  // The process, and its twins, which are not born yet.
  static Result<std::vector<Process>> start_all(const ProcessCommand& command);
  // Waits for a twin to say on its output which process it is; false if it never will be one.
  bool await_birth(double seconds);
  Process(Process&&) noexcept = default;
  Process& operator=(Process&& other) noexcept;
  ~Process() { kill(); }

  int input() const { return input_.number(); }
  int output() const { return output_.number(); }
  int errors() const { return errors_.number(); }
  int death() const { return death_.number(); }  // readable once it has ended; -1: not to be had
  pid_t id() const { return id_; }
  void close_input() { input_.reset(); }

  // How it ended; waits up to `seconds` for that.
  std::optional<Ending> ending(double seconds);
  Ending kill();      // returns when it is gone; how it had ended if it had
  void doom() const;  // has it end soon; the one thing that another thread may do
  std::int64_t resident_bytes() const;

 private:
  Process() = default;
  void end_group();

  struct Owned {  // a process id that a move leaves behind
    pid_t id = -1;
    Owned() = default;
    Owned(Owned&& other) noexcept : id(std::exchange(other.id, -1)) {}
    Owned& operator=(Owned&& other) noexcept {
      id = std::exchange(other.id, -1);
      return *this;
    }
    operator pid_t() const { return id; }  // NOLINT(google-explicit-constructor)
  };
  Owned id_;
  Descriptor input_, output_, errors_, death_;
  Descriptor mother_;  // of a twin: readable once who makes it has ended
  std::optional<Ending> ending_;
};

// Runs a command to its end and returns all that it printed; kind "environment" with the last lines
// if it could not start, failed, or took longer than `seconds`.
Result<std::string> run_to_end(const ProcessCommand& command, double seconds);

}  // namespace assay
