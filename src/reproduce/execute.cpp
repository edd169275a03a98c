#include "reproduce/execute.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backends/install.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

Result<ProcessCommand> interpreter_of(const std::string& backend) {
  const Result<BackendName> name = parse_backend(backend);
  if (!name) return name.error();
  Result<WorkerCommand> worker = worker_command(*name);
  if (!worker) return worker.error();
  const auto module = std::find(worker->arguments.begin(), worker->arguments.end(), "assay_worker");
  if (module - worker->arguments.begin() < 2 || *(module - 1) != "-m") {
    return Error{"environment", fmt::format("{} does not run in Python", backend), backend};
  }
  ProcessCommand command;
  command.arguments.assign(worker->arguments.begin(), module - 1);
  for (const auto& variable : worker->variables) {
    if (variable.first != "PYTHONPATH") command.variables.push_back(variable);
  }
  return command;
}

void read_all(const Process& process, Clock::time_point deadline, Execution& execution) {
  pollfd files[] = {{process.output(), POLLIN, 0}, {process.errors(), POLLIN, 0}};
  std::string* texts[] = {&execution.printed, &execution.errors};
  while ((files[0].fd >= 0 || files[1].fd >= 0) && Clock::now() < deadline) {
    if (poll(files, 2, 100) < 0 && errno != EINTR) return;
    for (int i = 0; i < 2; ++i) {
      char buffer[4096];
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      const ssize_t count = read(files[i].fd, buffer, sizeof buffer);
      if (count > 0) texts[i]->append(buffer, static_cast<std::size_t>(count));
      if (count <= 0) files[i].fd = -1;
    }
  }
}

}  // namespace

Result<Execution> execute(const std::filesystem::path& script, const std::string& backend,
                          double seconds) {
  Result<ProcessCommand> command = interpreter_of(backend);
  if (!command) return command.error();
  command->arguments.push_back(script.string());
  Result<Process> process = Process::start(*command);
  if (!process) return process.error();
  process->close_input();
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  Execution execution;
  read_all(*process, deadline, execution);
  const std::optional<Ending> ending = process->ending(Clock::now() < deadline ? 5 : 0);
  execution.finished = ending.has_value();
  if (ending) execution.ending = *ending;
  return execution;
}

}  // namespace assay
