#include "backends/channel.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <random>
#include <span>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "generated/protocol.pb.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorsKept = 4096;
constexpr std::uint64_t kLongestMessage = (std::uint64_t{1} << 31) - 1;  // as protobuf has it
constexpr double kLastMoments = 0.25;  // seconds between the end of the output and the exit
constexpr char kReplyStart = 0x08;     // the key of Reply.id
constexpr std::chrono::microseconds kPatience{300}, kLongPatience{20000};
constexpr unsigned kLooksAtOne = 32;   // at the output before all else is looked at once
constexpr int kLookMilliseconds = 20;  // between two looks at a worker's memory

std::string make_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string framed(const google::protobuf::MessageLite& message) {
  std::string bytes;
  for (std::uint64_t size = message.ByteSizeLong(); true; size >>= 7) {
    bytes.push_back(static_cast<char>(size > 0x7F ? 0x80 | (size & 0x7F) : size));
    if (size <= 0x7F) break;
  }
  message.AppendToString(&bytes);
  return bytes;
}

// How many runs a request asks for, or whatever else it asks for.
std::int64_t runs_of(const protocol::Request& request) {
  return std::max<std::int64_t>(request.count(), 1);
}

// The last line that says something, of what a dying process wrote.
std::string last_line(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find_last_not_of(" \n\r\t");
    if (end == std::string_view::npos) break;
    const auto start = text.rfind('\n', end);
    const auto first = start == std::string_view::npos ? 0 : start + 1;
    return std::string(text.substr(first, std::min<std::size_t>(end + 1 - first, 300)));
  }
  return {};
}

}  // namespace

// One request on its way out and its reply on its way in.
class Channel::Exchange {
 public:
  Exchange(Channel& channel, const protocol::Request& request, const WorkerLimits& limits)
      : channel_(channel),
        limits_(limits),
        expected_(expected(channel.last_ * runs_of(request))),
        outgoing_(framed(request)) {
    if (limits.seconds > 0) deadline_ = Clock::now() + to_duration(limits.seconds);
  }

  // Nothing when a whole message has come.
  std::optional<Answer> run(protocol::Reply& reply) {
    send_some();
    for (;;) {
      if (std::optional<Answer> trouble = step()) return trouble;
      const std::optional<std::pair<std::size_t, std::size_t>> frame = find_frame();
      if (!frame) continue;
      if (frame->second > kLongestMessage) return broke("announced a message of absurd length");
      // A reply begins with its number; whatever was printed into the pipe does not.
      if (held_ > frame->first && incoming_[frame->first] != kReplyStart) {
        return broke("sent what is no message");
      }
      if (held_ < frame->first + frame->second) continue;
      if (held_ > frame->first + frame->second) return broke("sent more than a reply");
      if (!reply.ParseFromArray(incoming_.data() + frame->first, static_cast<int>(frame->second)))
        return broke("sent what is no message");
      return std::nullopt;
    }
  }

 private:
  static Clock::duration expected(Clock::duration last) {
    return last < kLongPatience ? last : Clock::duration::zero();
  }

  static Clock::duration to_duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  Answer broke(const char* how) {
    return channel_.fatal(Outcome::crashed, fmt::format("it broke the protocol: it {}", how));
  }

  std::optional<Answer> step() {
    if (sent_ == outgoing_.size() && due() && ++looks_ % kLooksAtOne != 0) {
      if (!receive_some()) return ended();
      return std::nullopt;
    }
    return look_at_all();
  }

  std::optional<Answer> look_at_all() {
    pollfd files[] = {{channel_.process_.output(), POLLIN, 0},
                      {channel_.process_.errors(), POLLIN, 0},
                      {sent_ < outgoing_.size() ? channel_.process_.input() : -1, POLLOUT, 0},
                      {channel_.process_.death(), POLLIN, 0}};
    if (poll(files, 4, 0) == 0) wait(files);
    if (files[1].revents != 0) channel_.drain_errors();
    if (files[2].revents != 0) send_some();
    if (files[0].revents != 0) {
      if (!receive_some()) return ended();
    } else if (files[3].revents != 0) {
      // What it started may hold its output open, so that no end of it would ever come.
      return ended();
    }
    if (deadline_ && Clock::now() >= *deadline_) {
      return channel_.fatal(Outcome::hung, fmt::format("no answer within {} s", limits_.seconds));
    }
    if (takes_too_much()) {
      return channel_.fatal(Outcome::memory,
                            fmt::format("it took more than {} bytes", limits_.bytes));
    }
    return std::nullopt;
  }

  // Looked at so often, and not oftener: to look takes as long as a small model.
  bool takes_too_much() {
    if (limits_.bytes == 0) return false;
    const Clock::time_point now = Clock::now();
    if (now - channel_.memory_seen_ < std::chrono::milliseconds(kLookMilliseconds)) return false;
    channel_.memory_seen_ = now;
    return channel_.process_.resident_bytes() > channel_.at_rest_ + limits_.bytes;
  }

  // To sleep and wake up takes longer than many an answer, so about the time when one is due, by
  // what the last one took, nobody sleeps.
  bool due() const {
    const auto elapsed = Clock::now() - start_;
    return elapsed < kPatience ||
           (elapsed > expected_ - kPatience && elapsed < expected_ + kPatience);
  }

  void wait(std::span<pollfd> files) {
    if (due()) return;
    const auto elapsed = Clock::now() - start_;
    std::chrono::nanoseconds rest = std::chrono::milliseconds(wait_milliseconds());
    const auto early = expected_ - kPatience - elapsed;
    if (early > early.zero()) rest = std::min<std::chrono::nanoseconds>(rest, early);
    const timespec time{rest.count() / 1000000000, rest.count() % 1000000000};
    ppoll(files.data(), files.size(), &time, nullptr);
  }

  int wait_milliseconds() const {
    int wait = limits_.bytes > 0 ? kLookMilliseconds : 1000;
    if (deadline_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
      wait = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, wait));
    }
    return wait;
  }

  void send_some() {
    const ssize_t count = ::send(channel_.process_.input(), outgoing_.data() + sent_,
                                 outgoing_.size() - sent_, MSG_NOSIGNAL);
    if (count > 0) sent_ += static_cast<std::size_t>(count);
    // It does not listen any more; what it has to say, or how it died, comes by the other pipe.
    if (count < 0 && errno != EAGAIN && errno != EINTR) sent_ = outgoing_.size();
  }

  // False at the end.
  bool receive_some() {
    if (held_ == incoming_.size()) {
      incoming_.resize(held_ + std::clamp<std::size_t>(held_, 1 << 12, 1 << 24));
    }
    const ssize_t count =
        read(channel_.process_.output(), incoming_.data() + held_, incoming_.size() - held_);
    if (count > 0) held_ += static_cast<std::size_t>(count);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  Answer ended() {
    const std::optional<Ending> ending = channel_.process_.ending(kLastMoments);
    return channel_.fatal(Outcome::crashed,
                          ending ? ending->text() : "it closed its output and went on");
  }

  // Where a message starts and how long it is, once its length is here.
  std::optional<std::pair<std::size_t, std::size_t>> find_frame() const {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < held_; ++i) {
      if (i > 9) return {{i, kLongestMessage + 1}};
      const auto byte = static_cast<unsigned char>(incoming_[i]);
      size |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
      if (byte < 0x80) return {{i + 1, size}};
    }
    return std::nullopt;
  }

  Channel& channel_;
  const WorkerLimits& limits_;
  Clock::duration expected_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> deadline_;
  std::string outgoing_, incoming_;
  std::size_t sent_ = 0, held_ = 0;
  unsigned looks_ = 0;
};

bool WorkerCommand::is_twin_of(const WorkerCommand& other) const {
  return divides && other.divides && arguments == other.arguments && variables == other.variables;
}

// No room for an arena is no reason to stop: tensors then go through the pipe.
Channel::Files Channel::Files::make() {
  Result<Arena> first = Arena::make(), second = Arena::make();
  Result<Lending> third = Lending::make();
  const std::string token = make_token();
  if (!first || !second || !third || !first->append(token.data(), token.size())) return {};
  return {*std::move(first), *std::move(second), *std::move(third), token};
}

std::vector<int> Channel::Files::descriptors() const {
  if (!inward) return {};
  return {inward->descriptor(), outward->descriptor(), shown->arena().descriptor()};
}

Result<std::vector<Channel>> Channel::open(const WorkerCommand& command,
                                           std::span<const std::string> twins) {
  std::vector<Files> files(1 + twins.size());
  if (command.shared_memory) {
    std::ranges::generate(files, Files::make);
    // Each process finds its files at the same place, so all have them, or none.
    if (std::ranges::any_of(files, [](const Files& one) { return !one.inward; })) {
      files = std::vector<Files>(files.size());
    }
  }
  ProcessCommand start{command.arguments, command.variables, files.front().descriptors()};
  if (!command.mode.empty() || !twins.empty()) start.arguments.push_back(command.mode);
  start.arguments.insert(start.arguments.end(), twins.begin(), twins.end());
  if (files.front().inward) start.variables.emplace_back("ASSAY_ARENAS", "3,4,5");
  for (const Files& one : std::span(files).subspan(1)) start.twins.push_back(one.descriptors());
  Result<std::vector<Process>> processes = Process::start_all(start);
  if (!processes) return processes.error();
  std::vector<Channel> channels;
  for (std::size_t i = 0; i < files.size(); ++i) {
    channels.push_back(Channel(std::move((*processes)[i]), std::move(files[i])));
  }
  return channels;
}

std::optional<Answer> Channel::exchange(protocol::Request& request, protocol::Reply& reply,
                                        const WorkerLimits& limits) {
  request.set_id(next_id_++);
  if (!alive_) return fatal(Outcome::crashed, "it is not running");
  std::optional<Lending>& shown = files_.shown;
  if (shown && request.hidden()) request.set_shown_start(shown->next_start());
  const auto start = Clock::now();
  std::optional<Answer> trouble = Exchange(*this, request, limits).run(reply);
  const Clock::duration each = (Clock::now() - start) / runs_of(request);
  // Of runs of one form some take longer because the machine does something else: few of those
  // make the next one late.
  last_ = request.count() > 0 && each > last_ ? last_ + (each - last_) / 8 : each;
  if (!trouble && reply.id() != request.id()) {
    trouble = fatal(Outcome::crashed, "it broke the protocol: it answered another request");
  }
  if (files_.inward) files_.inward->clear(files_.token.size());
  if (shown) shown->answered(reply.shown_end());
  return trouble;
}

bool Channel::ready() {
  pollfd output = {process_.output(), POLLIN, 0};
  if (alive_ && poll(&output, 1, 0) != 0) fatal(Outcome::crashed, "");
  return alive_;
}

Answer Channel::fatal(Outcome outcome, const std::string& reason) {
  Answer answer;
  answer.outcome = outcome;
  answer.message = reason;
  if (alive_) {
    const bool own_end = process_.ending(0).has_value();
    const Ending ending = process_.kill();
    if (own_end) answer.signal = ending.signal;
    drain_errors();
    alive_ = false;
  }
  if (const std::string line = last_line(errors_); outcome == Outcome::crashed && !line.empty()) {
    answer.message += fmt::format("; its last words: {}", line);
  }
  return answer;
}

void Channel::drain_errors() {
  char buffer[4096];
  for (ssize_t count = 0; (count = read(process_.errors(), buffer, sizeof buffer)) > 0;) {
    errors_.append(buffer, static_cast<std::size_t>(count));
    if (errors_.size() > 2 * kErrorsKept) errors_.erase(0, errors_.size() - kErrorsKept);
  }
}

}  // namespace assay
