// Command: one word of the command line, with its options and what it does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace CLI {
class App;
}

namespace assay {

enum class ExitCode : int { clean = 0, found = 1, usage = 2, environment = 3, defect = 70 };

// Options that mean the same everywhere.
struct Common {
  bool json = false;
  std::int64_t memory_limit = 0;  // bytes; 0: none
  double timeout = 0;             // seconds; 0: none
  int threads = 0;                // 0: one a processor
  std::uint64_t seed = 0;
};

// What a command has to say: `document` for machines, `print` for people. Only one is shown.
class Report {
 public:
  explicit Report(const Common& common) : common_(&common) {}
  const Common& common() const { return *common_; }
  bool json() const { return common_->json; }

  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  std::string text;  // printed on stdout unless --json

  // What is large and of no more use: taken apart it would cost as much as it did to make, and the
  // process ends soon.
  void keep(std::shared_ptr<const void> thing) { kept_.push_back(std::move(thing)); }

 private:
  const Common* common_;
  std::vector<std::shared_ptr<const void>> kept_;
};

using Action = std::function<Result<ExitCode>(Report&)>;

struct Command {
  const char* name;
  const char* summary;
  const char* help;  // what it does, with an example, below the options
  Action (*configure)(CLI::App&);
};

Command run_command();
Command validate_command();
Command conformance_command();
Command backends_command();
Command compare_command();
Command lint_command();
Command ops_command();
Command inspect_command();
Command convert_command();
Command completion_command();

}  // namespace assay
