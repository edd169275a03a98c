#include "backends/backend.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "backends/install.h"
#include "backends/layer_model.h"
#include "formats/external_data.h"
#include "formats/onnx_import.h"
#include "generated/version.h"
#include "semantics/evaluator.h"
#include "tensor/npy.h"

namespace assay {
namespace {

Answer refusal(Outcome outcome, std::string message) {
  Answer answer;
  answer.outcome = outcome;
  answer.message = std::move(message);
  return answer;
}

// So many feeds that their request takes no more than a moment, and a small part of what a run may
// take: the limits are those of one.
std::size_t feeds_at_once(double seconds, std::size_t bytes, const WorkerLimits& limits) {
  constexpr double kMoment = 0.1, kMostFeeds = 256, kMostBytes = 1 << 25, kShare = 16;
  double most_seconds = kMoment, most_bytes = kMostBytes;
  if (limits.seconds > 0) most_seconds = std::min(most_seconds, limits.seconds / kShare);
  if (limits.bytes > 0) {
    most_bytes = std::min(most_bytes, static_cast<double>(limits.bytes) / kShare);
  }
  const double by_bytes = most_bytes / static_cast<double>(std::max<std::size_t>(bytes, 1));
  return static_cast<std::size_t>(std::min({kMostFeeds, most_seconds / seconds, by_bytes}));
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return path.empty() ? path : std::filesystem::absolute(path, ignored).string();
}

class ReferenceBackend : public Backend {
 public:
  explicit ReferenceBackend(std::uint64_t seed)
      : Backend("reference", {"assay", kVersion, ""}), seed_(seed) {}

  bool takes_layers() override { return true; }

  Answer run(const Job& job) override {
    if (Result<void> done = load(job.model); !done) {
      return refusal(Outcome::failed, done.error().message);
    }
    const Graph& graph = evaluator_->model().graph;
    std::vector<Value> inputs(graph.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (const auto& [name, value] : job.inputs) {
        if (name == graph.inputs[i].name) inputs[i] = value;
      }
    }
    Answer answer;
    EvaluateOptions options;
    options.seed = seed_;
    if (job.hidden) {
      options.observe = [&](const Evaluated& evaluated) {
        const std::vector<std::string>& names = evaluated.node.node.outputs;
        for (std::size_t i = 0; i < names.size() && i < evaluated.outputs.size(); ++i) {
          if (!names[i].empty() && job.watches(evaluated.name(i))) {
            answer.hidden.emplace_back(evaluated.name(i), evaluated.outputs[i]);
          }
        }
      };
    }
    const auto start = std::chrono::steady_clock::now();
    Result<std::vector<Value>> outputs = evaluator_->run(inputs, options);
    if (!outputs) return refusal(Outcome::failed, outputs.error().message);
    answer.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      answer.values.emplace_back(graph.outputs[i].name, std::move((*outputs)[i]));
    }
    return answer;
  }

 private:
  Result<void> load(const ModelSource& source) {
    const std::string key = source.key();
    if (evaluator_ && key == loaded_) return {};
    const Result<std::shared_ptr<const Model>> model = read(source);
    if (!model) return model.error();
    auto evaluator = Evaluator::make(*model);
    if (!evaluator) return evaluator.error();
    evaluator_ = *std::move(evaluator);
    loaded_ = key;
    return {};
  }

  static Result<std::shared_ptr<const Model>> read(const ModelSource& source) {
    if (source.layers) return source.layers;
    Result<Model> model =
        source.path.empty() ? parse_onnx(source.bytes, "model") : read_onnx(source.path);
    if (!model) return model.error();
    return std::make_shared<const Model>(*std::move(model));
  }

  std::uint64_t seed_;
  std::unique_ptr<Evaluator> evaluator_;
  std::string loaded_;
};

// Values that were recorded anywhere: another machine, a GPU, a phone.
class FileBackend : public Backend {
 public:
  FileBackend(std::string name, const std::vector<NpzEntry>& entries)
      : Backend(std::move(name), {"file", "", ""}), values_(entries.begin(), entries.end()) {}

  Answer run(const Job& job) override {
    Answer answer;
    for (const auto& [name, tensor] : values_) {
      answer.values.emplace_back(name, tensor);
      if (job.watches(name)) answer.hidden.emplace_back(name, tensor);
    }
    for (const std::string& name : job.outputs) {
      if (!values_.contains(name)) {
        return refusal(Outcome::unsupported, fmt::format("it has no value of {}", name));
      }
    }
    return answer;
  }

 private:
  std::map<std::string, Tensor> values_;
};

class WorkerBackend : public Backend {
 public:
  WorkerBackend(std::string name, WorkerCommand command, const BackendOptions& options,
                std::unique_ptr<Worker> worker)
      : Backend(std::move(name), worker->identity()),
        command_(std::move(command)),
        options_(options),
        worker_(std::move(worker)) {}

  Answer run(const Job& job) override {
    Answer answer = ask(job, [&](const Job& sent) { return worker_->run(sent, options_.limits); });
    seconds_ = answer.seconds;
    return answer;
  }

  void run_each(const Job& job, std::span<const NamedValues> feeds,
                const TakeAnswer& take) override {
    Job one = job;
    while (!feeds.empty()) {
      one.inputs = feeds.front();
      Part part = run_part(one, feeds);
      for (Answer& answer : part.answers) {
        seconds_ = answer.seconds;
        if (!take(std::move(answer))) return;
      }
      feeds = feeds.subspan(part.answers.size());
      if (!part.trouble) continue;
      if (!run_alone(one, feeds.first(part.failed), *part.trouble, take)) return;
      feeds = feeds.subspan(part.failed);
    }
  }

  // Asked of the worker when somebody wants to know.
  bool takes_layers() override {
    if (takes_layers_ || !revive()) return takes_layers_.value_or(false);
    const Result<OperatorList> told = worker_->operators(layer_names(), options_.limits);
    if (!told) return false;
    takes_layers_ = std::ranges::any_of(told->present, is_layer_name);
    return *takes_layers_;
  }

  ScriptAnswer script(const Job& job, const VariableNames& names) override {
    ScriptAnswer told;
    told.answer = ask(job, [&](const Job& sent) {
      told = worker_->script(sent, names, options_.limits);
      return told.answer;
    });
    return told;
  }

  Result<PassList> passes(const Job& job) override {
    PassList found;
    const auto listed = [&](const Job& sent) {
      return worker_->passes(sent, options_.limits, found);
    };
    Answer answer = ask(job, listed);
    // One that died of the model may have left word of how far it came.
    if (answer.fatal()) answer = ask(job, listed);
    if (answer.ok()) return found;
    return Error{answer.outcome == Outcome::unsupported ? "unsupported" : "environment",
                 answer.message, name()};
  }

 private:
  static Result<std::string> read_whole(const std::string& path);

  // What came of the first feeds of a row: answers, or so many of them went wrong together.
  struct Part {
    std::vector<Answer> answers{};
    std::size_t failed = 0;
    std::optional<Answer> trouble{};
  };

  // The job's inputs are the first feed. One whose time nobody knows goes alone.
  Part run_part(const Job& job, std::span<const NamedValues> feeds) {
    Part part;
    Answer answer = ask(job, [&](const Job& sent) {
      std::size_t count = 0;
      if (seconds_ > 0) {
        count = feeds_at_once(seconds_, worker_->bytes_of_feed(), options_.limits);
        count = worker_->alike(sent, feeds.first(std::min(count, feeds.size())));
      }
      if (count < 2) return worker_->run(sent, options_.limits);
      part.trouble = worker_->again(feeds.first(count), options_.limits, part.answers);
      part.failed = part.trouble ? count : 0;
      return Answer();
    });
    if (part.answers.empty() && !part.trouble) part.answers.push_back(std::move(answer));
    return part;
  }

  // Feeds that went wrong together, one by one. What befalls none of them alone is still told.
  bool run_alone(Job& job, std::span<const NamedValues> feeds, const Answer& trouble,
                 const TakeAnswer& take) {
    bool all_well = true;
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      job.inputs = feeds[i];
      Answer answer = run(job);
      all_well = all_well && answer.ok();
      if (all_well && i + 1 == feeds.size()) {
        answer = trouble;
        answer.message += fmt::format("; in {} runs in a row, and in none alone", feeds.size());
      }
      if (!take(std::move(answer))) return false;
    }
    return true;
  }

  Result<void> revive() {
    if (worker_ && worker_->alive()) return {};
    WorkerCommand command = command_;
    command.variables.insert(command.variables.end(), variables_.begin(), variables_.end());
    Result<std::unique_ptr<Worker>> again = Worker::start(command, options_.worker);
    if (!again) return again.error();
    worker_ = *std::move(again);
    return {};
  }

  // The bytes of a model of layers that the worker takes; those of the last one are kept.
  Result<std::string> layers_of(const Job& job) {
    const bool as_layers = takes_layers();
    std::string key = job.model.key();
    for (const auto& [name, value] : job.inputs) {
      if (!as_layers) key += fmt::format("|{} {}", name, to_text(value.value_type()));
    }
    if (key != layers_key_) {
      Result<std::string> bytes = as_layers ? layers_to_onnx(*job.model.layers)
                                            : operators_to_onnx(*job.model.layers, job.inputs);
      if (!bytes) return bytes.error();
      layers_bytes_ = *std::move(bytes);
      layers_key_ = std::move(key);
      layers_ = job.model.layers;
    }
    return layers_bytes_;
  }

  // The job with its model as the worker takes it; none if that is how it is.
  Result<std::optional<Job>> translated(const Job& job) {
    const std::string& path = job.model.path;
    // A worker elsewhere has not our files.
    const bool elsewhere = !command_.shared_memory && !path.empty();
    if (!job.model.layers && !elsewhere && (path.empty() || path.front() == '/')) {
      return std::optional<Job>();
    }
    Job sent = job;
    sent.model.path = absolute(path);
    if (job.model.layers || elsewhere) {
      Result<std::string> bytes = job.model.layers ? layers_of(job) : read_whole(sent.model.path);
      if (!bytes) return bytes.error();
      sent.model = {"", *std::move(bytes)};
    }
    return std::optional<Job>(std::move(sent));
  }

  // Asks the worker, and a new one where that is what it takes.
  template <class F>
  Answer ask(const Job& job, F&& exchange) {
    const Result<std::optional<Job>> changed = translated(job);
    if (!changed) return refusal(Outcome::failed, changed.error().message);
    const Job& sent = *changed ? **changed : job;
    if (auto done = revive(); !done) return refusal(Outcome::crashed, done.error().message);
    try {
      Answer answer = exchange(sent);
      if (!answer.restart) return answer;
      variables_ = *std::move(answer.restart);
      worker_.reset();
      if (auto done = revive(); !done) return refusal(Outcome::crashed, done.error().message);
      return exchange(sent);
    } catch (const MemoryLimitError& failure) {
      return refusal(Outcome::memory, fmt::format("its answer is too large: {}", failure.what()));
    }
  }

  WorkerCommand command_;
  BackendOptions options_;
  std::vector<std::pair<std::string, std::string>> variables_;  // that the worker asked for
  std::optional<bool> takes_layers_;
  std::string layers_key_, layers_bytes_;
  std::shared_ptr<const Model> layers_;  // whose key it is: no other model is at its place
  std::unique_ptr<Worker> worker_;
  double seconds_ = 0;  // that the last run took
};

Result<std::string> WorkerBackend::read_whole(const std::string& path) {
  try {
    return std::string(map_file(path).bytes);
  } catch (const std::exception& failure) {
    return Error{"unreadable", fmt::format("{}: {}", path, failure.what()), path};
  }
}

}  // namespace

void Backend::run_each(const Job& job, std::span<const NamedValues> feeds, const TakeAnswer& take) {
  Job one = job;
  for (const NamedValues& feed : feeds) {
    one.inputs = feed;
    if (!take(run(one))) return;
  }
}

ScriptAnswer Backend::script(const Job&, const VariableNames&) {
  return {refusal(Outcome::unsupported, "it is no framework with calls of its own"), {}};
}

Result<PassList> Backend::passes(const Job&) {
  return Error{"unsupported", "this backend names no passes", name()};
}

namespace {

using Made = std::unique_ptr<Backend>;

Error no_start(const std::string& name, const Error& error) {
  return Error{"environment", fmt::format("backend {}: {}", name, error.message), name};
}

Result<Made> open_file(const std::string& name) {
  const Result<std::vector<NpzEntry>> entries = read_npz(name.substr(5));
  if (!entries) return entries.error();
  return Made(new FileBackend(name, *entries));
}

Result<WorkerCommand> command_of(const std::string& name) {
  const Result<BackendName> parsed = parse_backend(name);
  if (!parsed) return parsed.error();
  return worker_command(*parsed);
}

}  // namespace

// What is known at once is there at once; a worker is greeted by a thread.
struct OpeningBackends::Opening {
  Opening(const std::string& of, const BackendOptions& options) : name(of) {
    if (name == "reference") {
      made = Made(new ReferenceBackend(options.worker.seed));
    } else if (name.starts_with("file:")) {
      made = open_file(name);
    } else if (Result<WorkerCommand> found = command_of(name); found) {
      command = *std::move(found);
    } else {
      made = found.error();
    }
  }
  ~Opening() {
    if (greeted.valid()) worker->doom();
  }

  bool failed() const { return made && !*made; }
  bool starts() const { return !made && !worker; }
  void greet(std::unique_ptr<Worker> started, const WorkerOptions& options) {
    worker = std::move(started);
    greeted = std::async(std::launch::async, [=, this] { return worker->greet(options); });
  }
  Result<Made> finish(const BackendOptions& options) {
    if (made) return *std::move(made);
    if (Result<void> answer = greeted.get(); !answer) return no_start(name, answer.error());
    return Made(new WorkerBackend(name, command, options, std::move(worker)));
  }

  std::string name;
  std::optional<Result<Made>> made{};
  WorkerCommand command{};
  std::unique_ptr<Worker> worker{};
  std::future<Result<void>> greeted{};  // last, so that it ends before the worker
};

OpeningBackends::OpeningBackends(const std::vector<std::string>& names,
                                 const BackendOptions& options)
    : options_(options) {
  for (const std::string& name : names) {
    openings_.push_back(std::make_unique<Opening>(name, options_));
    if (openings_.back()->failed()) return;  // the others are of no use
  }
  for (const std::unique_ptr<Opening>& one : openings_) {
    if (one->starts() && !start(*one)) return;
  }
}

// With all that are still to start and can be its twins.
bool OpeningBackends::start(Opening& first) {
  std::vector<Opening*> together = {&first};
  std::vector<std::string> modes;
  for (const std::unique_ptr<Opening>& one : openings_) {
    if (one.get() == &first || !one->starts() || !one->command.is_twin_of(first.command)) continue;
    together.push_back(one.get());
    modes.push_back(one->command.mode);
  }
  Result<std::vector<std::unique_ptr<Worker>>> workers = Worker::spawn(first.command, modes);
  if (!workers) first.made = no_start(first.name, workers.error());
  for (std::size_t i = 0; workers && i < together.size(); ++i) {
    together[i]->greet(std::move((*workers)[i]), options_.worker);
  }
  return !first.failed();
}

OpeningBackends::OpeningBackends(OpeningBackends&&) noexcept = default;
OpeningBackends::~OpeningBackends() = default;

std::vector<std::string> OpeningBackends::names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Opening>& one : openings_) names.push_back(one->name);
  return names;
}

Result<void> OpeningBackends::check() const {
  for (const std::unique_ptr<Opening>& one : openings_) {
    if (one->failed()) return one->made->error();
  }
  return {};
}

Result<std::vector<std::unique_ptr<Backend>>> OpeningBackends::finish() {
  std::vector<Made> backends;
  if (Result<void> checked = check(); !checked) return checked.error();
  for (const std::unique_ptr<Opening>& one : openings_) {
    Result<Made> made = one->finish(options_);
    if (!made) return made.error();
    backends.push_back(*std::move(made));
  }
  return backends;
}

Result<std::unique_ptr<Backend>> open_backend(const std::string& name,
                                              const BackendOptions& options) {
  Result<std::vector<Made>> opened = OpeningBackends({name}, options).finish();
  if (!opened) return opened.error();
  return std::move(opened->front());
}

Result<std::vector<std::unique_ptr<Backend>>> open_backends(const std::vector<std::string>& names,
                                                            const BackendOptions& options) {
  return OpeningBackends(names, options).finish();
}

}  // namespace assay
