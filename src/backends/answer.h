// What a backend answers when it is asked to run a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/value.h"

namespace assay {

// `unsupported`: it lacks an operator, a type or an option. `failed`: it says that something is
// wrong. The other three end the worker: it died, gave no answer in time, took too much memory.
enum class Outcome : std::uint8_t { ok, unsupported, failed, crashed, hung, memory };
std::string_view to_text(Outcome outcome);

using NamedValues = std::vector<std::pair<std::string, Value>>;

struct Answer {
  Outcome outcome = Outcome::ok;
  std::string message;
  std::string node, op;  // where, if the backend knows
  int signal = 0;        // that killed the worker
  NamedValues values, hidden;
  double seconds = 0;  // of the framework's own work
  // What is asked takes a new process with these variables beside its own; `run` of a Backend has
  // seen to that.
  std::optional<std::vector<std::pair<std::string, std::string>>> restart{};

  bool ok() const { return outcome == Outcome::ok; }
  bool fatal() const { return outcome >= Outcome::crashed; }
  const Value* find(std::string_view name) const;  // among `values`
};

}  // namespace assay
