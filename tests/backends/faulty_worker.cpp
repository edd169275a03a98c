// A worker that answers twice its input, or misbehaves in the way that it is asked for.
//
// The input "fault" of a run says how; "start" in the command line says what goes wrong before the
// first answer. It shares nothing with the engine but the protocol. A form is X, and then "fault".
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "faults.h"
#include "generated/protocol.pb.h"

namespace {

using assay::Fault;
using assay::protocol::Named;
using assay::protocol::Reply;
using assay::protocol::Request;
using assay::protocol::Tensor;
using assay::protocol::Value;

constexpr int kInward = 3, kOutward = 4;

[[noreturn]] void hang() {
  for (;;) pause();
}

void write_all(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(1, bytes.data() + done, bytes.size() - done);
    if (count <= 0) std::_Exit(4);
    done += static_cast<std::size_t>(count);
  }
}

std::string frame(const std::string& message) {
  std::string bytes;
  std::uint64_t size = message.size();
  for (; size > 0x7F; size >>= 7) bytes.push_back(static_cast<char>(0x80 | (size & 0x7F)));
  bytes.push_back(static_cast<char>(size));
  return bytes + message;
}

bool read_exactly(char* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = read(0, bytes + done, count - done);
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool receive(Request& request) {
  std::uint64_t size = 0;
  for (int shift = 0;; shift += 7) {
    char byte = 0;
    if (!read_exactly(&byte, 1)) return false;
    size |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) break;
  }
  std::string message(size, '\0');
  return read_exactly(message.data(), size) && request.ParseFromString(message);
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::string bytes = tensor.data();
  if (tensor.in_arena()) {
    bytes.resize(tensor.length());
    if (pread(kInward, bytes.data(), bytes.size(), static_cast<off_t>(tensor.offset())) !=
        static_cast<ssize_t>(bytes.size())) {
      std::_Exit(5);
    }
  }
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

// In the arena if it is shared and has room, else in the message.
void put(const std::vector<float>& numbers, bool shared, Tensor& tensor) {
  const std::size_t bytes = numbers.size() * sizeof(float);
  if (shared && bytes > 4096 &&
      pwrite(kOutward, numbers.data(), bytes, 0) == static_cast<ssize_t>(bytes)) {
    tensor.set_in_arena(true);
    tensor.set_length(bytes);
  } else {
    tensor.set_data(numbers.data(), bytes);
  }
}

// A grandchild in a group of its own, which nobody waits for.
void leave_a_process_behind() {
  if (fork() != 0) return;
  setsid();
  hang();
}

void take_memory() {
  for (;;) {
    char* block = new char[1 << 22];
    std::memset(block, 1, 1 << 22);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Faults that end the process or leave it stuck, before the reply.
void misbehave_before(Fault fault) {
  switch (fault) {
    case Fault::killed:
      raise(SIGKILL);
      return;
    case Fault::segfault:
      raise(SIGSEGV);
      return;
    case Fault::aborted:
      std::abort();
    case Fault::exits:
      std::_Exit(3);
    case Fault::hangs:
      signal(SIGTERM, SIG_IGN);
      hang();
    case Fault::takes_memory:
      take_memory();
      return;
    case Fault::slow:
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    case Fault::forks_and_dies:
      leave_a_process_behind();
      raise(SIGSEGV);
      return;
    case Fault::closes_output:
      close(1);
      hang();
    case Fault::floods_errors:
      for (int i = 0; i < 2000; ++i) std::cerr << std::string(200, 'e') << '\n';
      return;
    default:
      return;
  }
}

Tensor* first_tensor(Reply& reply) {
  if (reply.values_size() > 0) return reply.mutable_values(0)->mutable_value()->mutable_tensor();
  if (reply.results_size() == 0) return nullptr;
  return reply.mutable_results(0)->mutable_values(0)->mutable_value()->mutable_tensor();
}

// Faults in what is sent.
void spoil(Fault fault, Reply& reply) {
  Tensor* tensor = first_tensor(reply);
  if (fault == Fault::wrong_id) reply.set_id(reply.id() + 7);
  if (fault == Fault::cuts_arena && ftruncate(kOutward, 0) != 0) std::_Exit(6);
  if (!tensor) return;
  if (fault == Fault::wrong_shape) tensor->add_dims(1 << 20);
  if (fault == Fault::absurd_shape) {
    for (int i = 0; i < 3; ++i) tensor->add_dims(std::int64_t{1} << 40);
  }
  if (fault == Fault::unknown_type) tensor->set_type(99);
  if (fault == Fault::outside_arena) {
    tensor->set_in_arena(true);
    tensor->set_offset(std::uint64_t{1} << 50);
    tensor->set_length(4 * static_cast<std::uint64_t>(tensor->dims(0)));
  }
}

bool is_of_tensors(Fault fault) {
  return fault >= Fault::wrong_shape && fault <= Fault::outside_arena;
}

void send(Fault fault, const Reply& reply) {
  std::string bytes = frame(reply.SerializeAsString());
  switch (fault) {
    case Fault::garbage:
      bytes = "Warning: something was printed here\n";
      break;
    case Fault::absurd_length:
      bytes = std::string(9, '\xFF') + '\x7F';
      break;
    case Fault::half_then_exits:
      write_all(bytes.substr(0, bytes.size() / 2));
      std::_Exit(0);
    case Fault::half_then_hangs:
      write_all(bytes.substr(0, bytes.size() / 2));
      hang();
    case Fault::answers_twice:
      bytes += bytes;
      break;
    default:
      break;
  }
  write_all(bytes);
}

Fault fault_of(const Request& request) {
  for (const Named& input : request.inputs()) {
    if (input.name() != "fault") continue;
    std::int64_t number = 0;
    std::memcpy(&number, input.value().tensor().data().data(), sizeof number);
    return static_cast<Fault>(number);
  }
  return Fault::none;
}

Tensor& doubled(std::vector<float>& numbers, Named& output) {
  for (float& number : numbers) number *= 2;
  output.set_name("Y");
  output.mutable_value()->set_kind(Value::TENSOR);
  Tensor& tensor = *output.mutable_value()->mutable_tensor();
  tensor.set_type(1);
  tensor.add_dims(static_cast<std::int64_t>(numbers.size()));
  return tensor;
}

// Returns how many numbers there are: the form of this run.
std::size_t answer(const Request& request, bool shared, Reply& reply) {
  std::size_t count = 0;
  for (const Named& input : request.inputs()) {
    if (input.name() != "X") continue;
    std::vector<float> numbers = floats_of(input.value().tensor());
    put(numbers, shared, doubled(numbers, *reply.add_values()));
    count = numbers.size();
  }
  return count;
}

std::size_t block_size(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Feeds of `count` numbers and a fault each; returns the last fault, which is about the reply.
Fault answer_again(const Request& request, std::size_t count, bool shared, Reply& reply) {
  const std::size_t length = count * sizeof(float), place = block_size(length), block = place + 64;
  std::string feeds = request.data(), answers;
  if (request.placed()) {
    feeds.resize(block * request.count());
    if (pread(kInward, feeds.data(), feeds.size(), 64) != static_cast<ssize_t>(feeds.size())) {
      std::_Exit(7);
    }
  }
  Fault last = Fault::none;
  for (std::size_t i = 0; i < request.count(); ++i) {
    std::int64_t number = 0;
    std::memcpy(&number, feeds.data() + i * block + place, sizeof number);
    const auto fault = static_cast<Fault>(number);
    if (fault != Fault::none) last = fault;
    misbehave_before(fault);
    std::vector<float> numbers(count);
    std::memcpy(numbers.data(), feeds.data() + i * block, length);
    Named output;
    put(numbers, false, doubled(numbers, output));
    answers += output.value().tensor().data() + std::string(place - length, '\0');
    if (is_of_tensors(fault) || !reply.results().empty()) {
      reply.add_results()->set_status("ok");
      *reply.mutable_results()->rbegin()->add_values() = output;
    }
    reply.add_times(1e-4);
  }
  reply.set_placed(shared && pwrite(kOutward, answers.data(), answers.size(), 0) ==
                                 static_cast<ssize_t>(answers.size()));
  if (!reply.placed()) reply.set_data(answers);
  return last;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string start = argc > 1 ? argv[1] : "";
  signal(SIGXFSZ, SIG_IGN);
  if (start == "dies") return 9;
  bool shared = false;
  std::size_t count = 0;
  for (Request request; receive(request); request.Clear()) {
    if (start == "hangs") hang();
    Reply reply;
    reply.set_id(request.id());
    reply.set_status(start == "refuses" ? "failed" : "ok");
    if (start == "refuses") reply.set_message("no such framework");
    if (request.verb() == "hello") {
      std::string seen(request.token().size(), '\0');
      shared = !seen.empty() && std::getenv("ASSAY_ARENAS") != nullptr &&
               pread(kInward, seen.data(), seen.size(), 0) == static_cast<ssize_t>(seen.size()) &&
               seen == request.token();
      reply.set_shared(shared);
      reply.set_framework("faulty");
      reply.set_again(true);
    }
    Fault fault = fault_of(request);
    misbehave_before(fault);
    reply.set_seconds(1e-4);
    if (request.verb() == "run") count = answer(request, shared, reply);
    if (request.verb() == "again") fault = answer_again(request, count, shared, reply);
    spoil(fault, reply);
    send(fault, reply);
  }
}
