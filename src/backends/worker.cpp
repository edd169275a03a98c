#include "backends/worker.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/layer_model.h"
#include "backends/tensor_block.h"
#include "generated/protocol.pb.h"

namespace assay {
namespace {

constexpr const char* kModel = "model";  // a worker holds one at a time

Outcome to_outcome(const std::string& status) {
  if (status == "ok") return Outcome::ok;
  return status == "unsupported" ? Outcome::unsupported : Outcome::failed;
}

std::vector<std::pair<std::string, std::string>> to_variables(
    const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string& text : texts) {
    const auto sign = text.find('=');
    if (sign != std::string::npos) {
      variables.emplace_back(text.substr(0, sign), text.substr(sign + 1));
    }
  }
  return variables;
}

// A Reply or a Result without its values.
template <class Message>
Answer outcome_of(const Message& message) {
  Answer answer;
  answer.outcome = to_outcome(message.status());
  answer.message = message.message();
  answer.node = message.node();
  answer.op = message.op();
  answer.seconds = message.seconds();
  return answer;
}

Answer unreadable(std::string message) {
  Answer answer;
  answer.outcome = Outcome::failed;
  answer.message = std::move(message);
  return answer;
}

// What a worker holds once a job's model is loaded.
std::string key_of(const Job& job) {
  return fmt::format("{}|{}", job.model.key(), fmt::join(job.disabled, ","));
}

}  // namespace

ModelSource source_of(std::shared_ptr<const Model> model, std::string path) {
  if (has_layers(*model)) return {"", "", std::move(model)};
  return {std::move(path), ""};
}

std::string ModelSource::key() const {
  if (layers) return fmt::format("layers@{}", static_cast<const void*>(layers.get()));
  if (path.empty()) return fmt::format("{}:{:x}", bytes.size(), std::hash<std::string>()(bytes));
  std::error_code ignored;
  const auto changed = std::filesystem::last_write_time(path, ignored).time_since_epoch().count();
  return fmt::format("{}@{}", path, changed);
}

NamedValues named_inputs(const Graph& graph, std::span<const Value> values) {
  NamedValues named;
  for (std::size_t i = 0; i < values.size() && i < graph.inputs.size(); ++i) {
    if (values[i].present()) named.emplace_back(graph.inputs[i].name, values[i]);
  }
  return named;
}

// What the worker keeps of a run: how its inputs and its answer lie.
struct Worker::Form {
  std::uint64_t number;
  std::vector<std::string> outputs;
  TensorBlock feed, answer;
};

Worker::Worker(Channel channel) : channel_(std::move(channel)) {}

Worker::~Worker() = default;

Result<std::vector<std::unique_ptr<Worker>>> Worker::spawn(const WorkerCommand& command,
                                                           std::span<const std::string> twins) {
  Result<std::vector<Channel>> channels = Channel::open(command, twins);
  if (!channels) return channels.error();
  std::vector<std::unique_ptr<Worker>> workers;
  for (Channel& one : *channels) {
    workers.push_back(std::unique_ptr<Worker>(new Worker(std::move(one))));
  }
  return workers;
}

Result<std::unique_ptr<Worker>> Worker::start(const WorkerCommand& command,
                                              const WorkerOptions& options) {
  Result<std::vector<std::unique_ptr<Worker>>> workers = spawn(command);
  if (!workers) return workers.error();
  std::unique_ptr<Worker>& worker = workers->front();
  if (Result<void> greeted = worker->greet(options); !greeted) return greeted.error();
  return std::move(worker);
}

Result<void> Worker::greet(const WorkerOptions& options) {
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("hello");
  request.set_token(channel_.token());
  request.set_threads(options.threads);
  request.set_seed(options.seed);
  if (!channel_.await_birth(options.start_seconds)) {
    return Error{"environment", "it does not start: the process that it is made of ended", {}};
  }
  const auto trouble = channel_.exchange(request, reply, {options.start_seconds, 0});
  if (trouble) return Error{"environment", "it does not start: " + trouble->message, {}};
  if (reply.status() != "ok") {
    return Error{"environment", "it does not start: " + reply.message(), {}};
  }
  if (reply.shared()) channel_.share();
  channel_.rest();
  knows_again_ = reply.again();
  identity_ = {reply.framework(), reply.version(), reply.python()};
  return {};
}

// The answer in its place if one of them is none.
template <class Messages>
std::optional<Answer> Worker::take_values(const Messages& from, NamedValues& to, bool shown) {
  for (const protocol::Named& one : from) {
    std::optional<Value> value =
        shown ? channel_.take_shown(one.value()) : channel_.take(one.value());
    if (!value) {
      return unreadable(fmt::format("the worker sent a value of {} that is none", one.name()));
    }
    to.emplace_back(one.name(), *std::move(value));
  }
  return std::nullopt;
}

Answer Worker::to_answer(const protocol::Reply& reply) {
  Answer answer = outcome_of(reply);
  if (reply.status() == "restart") answer.restart = to_variables(reply.variables());
  if (auto bad = take_values(reply.values(), answer.values)) return *std::move(bad);
  if (auto bad = take_values(reply.hidden(), answer.hidden, true)) return *std::move(bad);
  return answer;
}

bool Job::watches(const std::string& name) const {
  const auto names = [&](const std::string& one) {
    return one.ends_with('/') ? name.starts_with(one) : name == one;
  };
  return hidden && (watched.empty() || std::any_of(watched.begin(), watched.end(), names));
}

Answer Worker::load(const Job& job, const WorkerLimits& limits) {
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("load");
  request.set_model(kModel);
  request.set_path(job.model.path);
  request.set_bytes(job.model.bytes);
  for (const std::string& name : job.disabled) request.add_disabled(name);
  loaded_.clear();
  form_.reset();
  if (auto trouble = channel_.exchange(request, reply, limits)) return *trouble;
  if (reply.status() == "ok") loaded_ = key_of(job);
  return to_answer(reply);
}

void Worker::put_inputs(const Job& job, protocol::Request& request) {
  for (const auto& [name, value] : job.inputs) {
    protocol::Named& input = *request.add_inputs();
    input.set_name(name);
    channel_.put(value, *input.mutable_value());
  }
}

Answer Worker::run(const Job& job, const WorkerLimits& limits, bool keep) {
  if (!keep && alike(job, {&job.inputs, 1}) == 1) {
    std::vector<Answer> answers;
    auto trouble = again({&job.inputs, 1}, limits, answers);
    return trouble ? *std::move(trouble) : std::move(answers.front());
  }
  if (loaded_ != key_of(job)) {
    if (Answer answer = load(job, limits); !answer.ok()) return answer;
  }
  std::optional<TensorBlock> feed;
  if (knows_again_ && !keep && !job.hidden) feed = TensorBlock::of(job.inputs);
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("run");
  request.set_model(kModel);
  request.set_hidden(job.hidden);
  request.set_keep(keep);
  for (const std::string& name : job.outputs) request.add_outputs(name);
  for (const std::string& name : job.watched) request.add_watched(name);
  put_inputs(job, request);
  if (feed) {
    request.set_form(++forms_);
    form_.reset();  // whatever comes of it, the worker may have this one only
  }
  if (auto trouble = channel_.exchange(request, reply, limits)) return *trouble;
  Answer answer = to_answer(reply);
  std::optional<TensorBlock> lies = answer.ok() ? TensorBlock::of(answer.values) : std::nullopt;
  if (feed && lies) {
    form_.reset(new Form{forms_, job.outputs, *std::move(feed), *std::move(lies)});
  }
  return answer;
}

std::size_t Worker::alike(const Job& job, std::span<const NamedValues> feeds) const {
  if (!form_ || job.hidden || job.outputs != form_->outputs || loaded_ != key_of(job)) return 0;
  const auto other =
      std::ranges::find_if(feeds, [&](const NamedValues& feed) { return !form_->feed.fits(feed); });
  return static_cast<std::size_t>(other - feeds.begin());
}

std::size_t Worker::bytes_of_feed() const {
  return form_ ? form_->feed.size() + form_->answer.size() : 0;
}

std::optional<Answer> Worker::again(std::span<const NamedValues> feeds, const WorkerLimits& limits,
                                    std::vector<Answer>& answers) {
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("again");
  request.set_form(form_->number);
  channel_.put(form_->feed, feeds, request);
  if (auto trouble = channel_.exchange(request, reply, limits)) return trouble;
  if (reply.status() != "ok") return to_answer(reply);
  if (take_answers(reply, feeds.size(), answers)) return std::nullopt;
  return unreadable("the worker sent values that are none");
}

bool Worker::take_answers(const protocol::Reply& reply, std::size_t count,
                          std::vector<Answer>& answers) {
  std::vector<Answer> found;
  for (const protocol::Result& result : reply.results()) {
    found.push_back(outcome_of(result));
    if (take_values(result.values(), found.back().values)) return false;
  }
  if (reply.results_size() == 0 && static_cast<std::size_t>(reply.times_size()) == count) {
    auto values = channel_.take(form_->answer, count, reply);
    if (!values) return false;
    for (std::size_t i = 0; i < count; ++i) {
      Answer& answer = found.emplace_back();
      answer.seconds = reply.times(static_cast<int>(i));
      answer.values = std::move((*values)[i]);
    }
  }
  if (found.size() != count) return false;
  std::ranges::move(found, std::back_inserter(answers));
  return true;
}

Answer Worker::run(const Job& job, const WorkerLimits& limits) { return run(job, limits, false); }

Answer Worker::run_and_keep(const Job& job, const WorkerLimits& limits) {
  return run(job, limits, true);
}

Answer Worker::fetch(const std::vector<std::string>& names, const WorkerLimits& limits) {
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("fetch");
  for (const std::string& name : names) request.add_outputs(name);
  if (auto trouble = channel_.exchange(request, reply, limits)) return *trouble;
  return to_answer(reply);
}

ScriptAnswer Worker::script(const Job& job, const VariableNames& names,
                            const WorkerLimits& limits) {
  if (loaded_ != key_of(job)) {
    if (Answer answer = load(job, limits); !answer.ok()) return {std::move(answer), {}};
  }
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("script");
  request.set_model(kModel);
  put_inputs(job, request);
  for (const auto& [name, variable] : names) {
    request.add_values(name);
    request.add_variables(variable);
  }
  if (auto trouble = channel_.exchange(request, reply, limits)) return {*std::move(trouble), {}};
  const protocol::Script& script = reply.script();
  ScriptParts parts;
  parts.imports.assign(script.imports().begin(), script.imports().end());
  parts.lines.assign(script.lines().begin(), script.lines().end());
  for (int i = 0; i < std::min(script.variables_size(), script.puts_size()); ++i) {
    parts.variables.emplace_back(script.variables(i), script.puts(i));
  }
  parts.from_model = script.model();
  parts.onnx = script.onnx();
  return {to_answer(reply), std::move(parts)};
}

Answer Worker::passes(const Job& job, const WorkerLimits& limits, PassList& found) {
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("passes");
  request.set_path(job.model.path);
  request.set_bytes(job.model.bytes);
  put_inputs(job, request);
  loaded_.clear();  // listing may load the model in another way
  form_.reset();
  if (auto trouble = channel_.exchange(request, reply, limits)) return *trouble;
  const int changed = std::clamp(reply.changed(), 0, reply.passes_size());
  found.changed.assign(reply.passes().begin(), reply.passes().begin() + changed);
  found.others.assign(reply.passes().begin() + changed, reply.passes().end());
  return to_answer(reply);
}

Result<OperatorList> Worker::operators(const std::vector<std::string>& names,
                                       const WorkerLimits& limits) {
  protocol::Request request;
  protocol::Reply reply;
  request.set_verb("operators");
  for (const std::string& name : names) request.add_outputs(name);
  if (auto trouble = channel_.exchange(request, reply, limits)) {
    return Error{"environment", trouble->message, {}};
  }
  if (reply.status() != "ok") return Error{"environment", reply.message(), {}};
  OperatorList list;
  list.present.assign(reply.operators().begin(), reply.operators().end());
  for (int i = 0; i < std::min(reply.missing_size(), reply.reasons_size()); ++i) {
    list.missing.emplace_back(reply.missing(i).name(), reply.reasons(i));
  }
  return list;
}

}  // namespace assay
