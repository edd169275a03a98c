// Backends by name: the reference in this process, values recorded elsewhere, and workers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/worker.h"

namespace assay {

struct BackendOptions {
  WorkerOptions worker;
  WorkerLimits limits;  // of each run
};

// What runs a model. One thread at a time uses it.
class Backend {
 public:
  virtual ~Backend() = default;
  const std::string& name() const { return name_; }
  const WorkerIdentity& identity() const { return identity_; }

  // Never fails: what goes wrong is the answer.
  virtual Answer run(const Job& job) = 0;
  // Runs a job on one feed after the other, several in one request where that saves time, and hands
  // out the answers in order until `take` returns false. The job's own inputs do not matter. An
  // answer is what `run` would give for its feed: when a request with several goes wrong, each of
  // them is run again by itself.
  using TakeAnswer = std::function<bool(Answer)>;
  virtual void run_each(const Job& job, std::span<const NamedValues> feeds, const TakeAnswer& take);
  // Whether it runs layers as they are; any other backend is given what they mean.
  virtual bool takes_layers() { return false; }
  // What the same is in the framework's own calls.
  virtual ScriptAnswer script(const Job& job, const VariableNames& names);
  // The passes of its optimizer, those that change the job's model apart. Kind "unsupported" where
  // it has none, or none that can be named and switched off.
  virtual Result<PassList> passes(const Job& job);

 protected:
  Backend(std::string name, WorkerIdentity identity)
      : name_(std::move(name)), identity_(std::move(identity)) {}

 private:
  std::string name_;
  WorkerIdentity identity_;
};

// "reference", "file:F.npz", or a worker, which is started now and again after it has died. Kinds:
// "environment" (not installed, does not start), "usage" (no such name), "missing", "unreadable".
Result<std::unique_ptr<Backend>> open_backend(const std::string& name,
                                              const BackendOptions& options);

// Several on their way: their processes start at once and import their frameworks at the same time,
// while the caller does something else.
class OpeningBackends {
 public:
  OpeningBackends(const std::vector<std::string>& names, const BackendOptions& options);
  ~OpeningBackends();  // gives up those that nobody has waited for
  OpeningBackends(OpeningBackends&&) noexcept;
  OpeningBackends& operator=(OpeningBackends&&) noexcept = delete;

  std::vector<std::string> names() const;
  // Waits, once; the first that does not open is an error.
  Result<std::vector<std::unique_ptr<Backend>>> finish();
  // The error of the first of which it is clear already that it will not open.
  Result<void> check() const;

 private:
  struct Opening;
  bool start(Opening& first);

  BackendOptions options_;
  std::vector<std::unique_ptr<Opening>> openings_;
};
Result<std::vector<std::unique_ptr<Backend>>> open_backends(const std::vector<std::string>& names,
                                                            const BackendOptions& options);

}  // namespace assay
