// Worker: one framework in a process of its own, asked to load and run models.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/channel.h"
#include "graph/graph.h"

namespace assay {

// What a worker says of itself.
struct WorkerIdentity {
  std::string framework, version, python;
};

// A model as a file, which a worker on this machine reads itself, or as the content of one. A model
// of layers is in neither: a backend hands its worker what that takes.
struct ModelSource {
  std::string path;   // absolute
  std::string bytes;  // where there is no file
  std::shared_ptr<const Model> layers{};
  std::string key() const;  // equal for equal models
};
// The model itself if it is of layers, otherwise its file.
ModelSource source_of(std::shared_ptr<const Model> model, std::string path);

struct Job {
  ModelSource model;
  NamedValues inputs{};
  std::vector<std::string> outputs{};  // that are wanted; none: all
  bool hidden = false;                 // the values of all nodes too
  // Of those only these; one that ends in / is all that is below it. None: all.
  std::vector<std::string> watched{};
  std::vector<std::string> disabled{};  // passes of the backend's optimizer that stay away

  bool watches(const std::string& name) const;
};

// In the place of all passes that a backend has.
inline constexpr const char* kEveryPass = "*";

// The passes of a backend's optimizer, as far as their names can be had.
struct PassList {
  std::vector<std::string> changed, others;  // a model, as it was loaded; and the rest
};

// The values of a graph's inputs, in its order, by name; absent ones are left out.
NamedValues named_inputs(const Graph& graph, std::span<const Value> values);

struct OperatorList {
  std::vector<std::string> present;
  std::vector<std::pair<std::string, std::string>> missing;  // with the reason
};

// What a model is in a framework's own calls: parts of a script that needs no Assay. The last line
// sets `found`, a list of numpy's arrays.
struct ScriptParts {
  std::vector<std::string> imports, lines;
  // The variables that the lines read, and what makes each of numpy's array, which stands as {}.
  std::vector<std::pair<std::string, std::string>> variables;
  bool from_model = false;  // the lines read `model`, a file's bytes, and `feed`, inputs by name
  // Imports the package onnx, with which the model can be built, as TensorProto, `make` (its calls
  // make_…) and `arrays` (from_array); empty where it is not there.
  std::string onnx;
};
struct ScriptAnswer {
  Answer answer;  // without values
  ScriptParts parts;
};
// Names of inputs and initializers, and of the script's variables that hold them.
using VariableNames = std::vector<std::pair<std::string, std::string>>;

struct WorkerOptions {
  int threads = 0;  // 0: as the framework likes
  std::uint64_t seed = 0;
  double start_seconds = 180;  // importing a framework takes its time, more so on a busy machine
};

class Worker {
 public:
  // Starts the process and waits until the framework is imported; kind "environment" if that fails.
  // Starting takes two steps, so that several workers can import their frameworks at once: the
  // process, by the thread whose end is also the worker's, and the first exchange with it. Twins in
  // other modes come of the same process.
  static Result<std::vector<std::unique_ptr<Worker>>> spawn(
      const WorkerCommand& command, std::span<const std::string> twins = {});
  Result<void> greet(const WorkerOptions& options);
  static Result<std::unique_ptr<Worker>> start(const WorkerCommand& command,
                                               const WorkerOptions& options);

  ~Worker();
  const WorkerIdentity& identity() const { return identity_; }
  bool alive() { return channel_.ready(); }
  bool shares_memory() const { return channel_.shared(); }
  pid_t id() const { return channel_.id(); }
  void doom() const { channel_.doom(); }  // has it die, so that who waits for it need not

  // Loads the model unless it is the one that was run last, and runs it. When the answer is fatal
  // the worker is gone.
  Answer run(const Job& job, const WorkerLimits& limits);
  // How many of some feeds, from the first on, one request can carry: those of the form that the
  // last run of this job had. The job's own inputs do not matter.
  std::size_t alike(const Job& job, std::span<const NamedValues> feeds) const;
  // Runs the model of the last run on feeds that are alike, in one exchange. Adds an answer for
  // each; or returns what went wrong with all of them, and adds none.
  std::optional<Answer> again(std::span<const NamedValues> feeds, const WorkerLimits& limits,
                              std::vector<Answer>& answers);
  std::size_t bytes_of_feed() const;  // and of its answer, if they are alike
  // The same, but the values stay in the worker; `fetch` brings those that are named.
  Answer run_and_keep(const Job& job, const WorkerLimits& limits);
  Answer fetch(const std::vector<std::string>& names, const WorkerLimits& limits);
  ScriptAnswer script(const Job& job, const VariableNames& names, const WorkerLimits& limits);
  // The passes of its optimizer, seen at the model. The answer says why not, if it is not ok.
  Answer passes(const Job& job, const WorkerLimits& limits, PassList& found);
  // Which of the standard's operators it has.
  Result<OperatorList> operators(const std::vector<std::string>& names, const WorkerLimits& limits);

 private:
  explicit Worker(Channel channel);
  Answer load(const Job& job, const WorkerLimits& limits);
  Answer run(const Job& job, const WorkerLimits& limits, bool keep);
  void put_inputs(const Job& job, protocol::Request& request);
  Answer to_answer(const protocol::Reply& reply);
  template <class Messages>
  std::optional<Answer> take_values(const Messages& from, NamedValues& to, bool shown = false);
  bool take_answers(const protocol::Reply& reply, std::size_t count, std::vector<Answer>& answers);

  struct Form;

  Channel channel_;
  WorkerIdentity identity_;
  std::string loaded_;  // what the worker holds: a model, and which passes were kept from it
  bool knows_again_ = false;
  std::uint64_t forms_ = 0;  // so many there were
  std::unique_ptr<Form> form_;
};

}  // namespace assay
