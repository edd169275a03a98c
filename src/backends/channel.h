// Channel: a worker process and the messages that go to it and come back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/answer.h"
#include "backends/arena.h"
#include "backends/lending.h"
#include "backends/process.h"

namespace assay::protocol {
class Reply;
class Request;
class Tensor;
class Value;
}  // namespace assay::protocol

namespace assay {

class TensorBlock;

// What one exchange may take; 0: no limit.
struct WorkerLimits {
  double seconds = 0;
  std::int64_t bytes = 0;  // resident, of the worker
};

struct WorkerCommand {
  std::vector<std::string> arguments;
  std::string mode{};  // the last argument, if there is one
  std::vector<std::pair<std::string, std::string>> variables{};
  bool shared_memory = true;  // false where the worker is on another machine
  bool divides = false;       // one process can become a worker of each mode

  // Whether one process can become both workers.
  bool is_twin_of(const WorkerCommand& other) const;
};

class Channel {
 public:
  // To the worker, and to its twins in other modes. They share what their imports take: the process
  // makes them of itself before it imports the framework, which may start threads.
  static Result<std::vector<Channel>> open(const WorkerCommand& command,
                                           std::span<const std::string> twins);
  // Waits for a twin to be a process; false if it will never be.
  bool await_birth(double seconds) { return process_.await_birth(seconds); }

  // Sends the request, which gets a number, and waits for its reply. Whatever else happens is
  // fatal: the worker is killed, and the Answer says why.
  std::optional<Answer> exchange(protocol::Request& request, protocol::Reply& reply,
                                 const WorkerLimits& limits);
  // Whether it runs and waits for a request; one that died or spoke between two is of no use.
  bool ready();
  void doom() const { process_.doom(); }
  pid_t id() const { return process_.id(); }
  // What the worker takes now, its framework imported, does not count against any limit.
  void rest() { at_rest_ = process_.resident_bytes(); }

  // Tensors beside the messages: only after the worker has shown that it reads the same arena.
  std::string token() const { return files_.token; }
  void share() { shared_ = true; }
  bool shared() const { return shared_; }
  void put(const Value& value, protocol::Value& message);
  std::optional<Value> take(const protocol::Value& message);
  std::optional<Value> take_shown(const protocol::Value& message);  // an inner value
  // The same with feeds, and their answers, that are of a block's form.
  void put(const TensorBlock& block, std::span<const NamedValues> feeds,
           protocol::Request& request);
  std::optional<std::vector<NamedValues>> take(const TensorBlock& block, std::size_t count,
                                               const protocol::Reply& reply) const;

 private:
  // What is beside the pipe.
  struct Files {
    std::optional<Arena> inward, outward;  // as the worker sees them
    std::optional<Lending> shown;          // where inner values lie
    std::string token;
    static Files make();
    std::vector<int> descriptors() const;
  };

  Channel(Process process, Files files) : process_(std::move(process)), files_(std::move(files)) {}
  class Exchange;
  enum class Place { outward, shown };
  void put_tensor(const Tensor& tensor, protocol::Tensor& message);
  std::optional<Value> take_from(Place place, const protocol::Value& message);
  std::optional<Tensor> take_tensor(Place place, const protocol::Tensor& message);
  Answer fatal(Outcome outcome, const std::string& reason);
  void drain_errors();

  Process process_;
  Files files_;
  std::string errors_;  // the end of what the worker wrote to its standard error
  std::uint64_t next_id_ = 1;
  std::int64_t at_rest_ = 0;
  std::chrono::steady_clock::duration last_{};           // what a run of the last exchange took
  std::chrono::steady_clock::time_point memory_seen_{};  // when somebody last looked
  bool shared_ = false, alive_ = true;
};

}  // namespace assay
