// The command line: parses, runs one command, prints its report, and turns failures into exit
// codes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/json_text.h"
#include "base/parallel.h"
#include "cli/allocator.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/watchdog.h"
#include "generated/version.h"
#include "graph/names.h"
#include "tensor/tensor.h"

namespace assay {
namespace {

constexpr Command (*kCommands[])() = {
    run_command,      validate_command, inspect_command, convert_command, conformance_command,
    backends_command, compare_command,  lint_command,    ops_command,     completion_command};

constexpr const char* kFooter = R"(Examples:
  assay validate model.onnx                 say what is wrong with a model, without running it
  assay run model.onnx --random             run it, and find what makes NaN or infinity
  assay run model.onnx --inputs x.npz --bounds --json
  assay ops Softmax                         what the catalogue says about an operator
  assay backends install onnxruntime        get a framework to run models on
  assay run model.onnx --random --backend onnxruntime

Exit codes: 0 nothing found, 1 something found, 2 wrong usage or unreadable input,
3 a backend is missing, 70 a defect of Assay itself.

'assay COMMAND --help' tells more about a command. Settings may stand in assay.toml.)";

void add_common(CLI::App& app, Common& common) {
  const char* group = "Everywhere";
  app.add_flag("--json", common.json, "Print one JSON document")->group(group);
  app.add_option("--threads", common.threads, "Threads to compute with (default: all)")
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--seed", common.seed, "Seed of everything random")->type_name("N")->group(group);
  app.add_option("--memory-limit", common.memory_limit,
                 "Most bytes that tensors may take (default: 3/4 of the memory)")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("BYTES")
      ->group(group);
  app.add_option("--timeout", common.timeout, "Most seconds to run")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("SECONDS")
      ->group(group);
}

ExitCode fail(const Common& common, const Error& error) {
  if (common.json) {
    const nlohmann::ordered_json document = {
        {"assay", kVersion},
        {"error",
         {{"kind", error.kind}, {"message", one_line(error.message)}, {"where", error.where}}}};
    fmt::print("{}\n", to_json_text(document));
  } else {
    fmt::print(stderr, "{} {}\n", Style(colors_on_stderr()).bad("assay:"), one_line(error.message));
  }
  if (error.kind == "environment") return ExitCode::environment;
  return error.kind == "internal" ? ExitCode::defect : ExitCode::usage;
}

Result<ExitCode> act(const Action& action, Report& report) {
  try {
    return action(report);
  } catch (const MemoryLimitError& failure) {
    return Error{"limit", failure.what(), {}};
  } catch (const std::bad_alloc&) {
    return Error{"limit", "out of memory", {}};
  } catch (const std::exception& failure) {
    return Error{"internal", fmt::format("a defect of Assay itself: {}", failure.what()), {}};
  }
}

// What the command works on, for messages that come from nowhere in particular.
std::string subject_of(const CLI::App& parser) {
  for (const char* name : {"MODEL", "PATH"}) {
    const CLI::Option* option = parser.get_option_no_throw(name);
    if (option && option->count() > 0) return option->results().front();
  }
  return {};
}

Error about(const std::string& subject, Error error) {
  if (!subject.empty() && error.message.find(subject) == std::string::npos) {
    error.message = fmt::format("{}: {}", subject, error.message);
  }
  return error;
}

ExitCode run(const Command& command, const Action& action, const Common& common,
             const std::string& subject) {
  set_thread_count(common.threads);
  apply_memory_limit(common.memory_limit);
  const Watchdog watchdog(common.timeout, [&] {
    fail(common,
         about(subject, {"timeout",
                         fmt::format("{} did not end within {} s", command.name, common.timeout),
                         {}}));
  });
  const auto start = std::chrono::steady_clock::now();
  // Never destroyed: see Report::keep.
  static Report& report = *new Report(common);
  const Result<ExitCode> code = act(action, report);
  if (!code) return fail(common, about(subject, code.error()));
  if (!common.json) {
    fmt::print("{}", report.text);
    return *code;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::ordered_json document = {{"assay", kVersion},
                                     {"command", command.name},
                                     {"seconds", seconds},
                                     {"peak_bytes", peak_bytes()}};
  for (auto& [key, value] : report.document.items()) document[key] = std::move(value);
  fmt::print("{}\n", to_json_text(document));
  return *code;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

// The library's layout, without its double blank lines.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos;
         at = text.find("\n\n\n", at)) {
      text.erase(at, 1);
    }
    return text;
  }
};

// What the command line is, with the commands' actions.
struct Program {
  CLI::App app{"Assay tells whether a framework computes what a model means, and why not.",
               "assay"};
  Common common{};
  std::vector<Command> commands{};
  std::vector<CLI::App*> parsers{};
  std::vector<Action> actions{};

  Program() {
    app.set_version_flag("--version", fmt::format("assay {}", kVersion));
    app.require_subcommand(1);
    app.footer(kFooter);
    app.formatter(std::make_shared<HelpFormatter>());
    app.get_formatter()->column_width(26);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.get_formatter()->label("Positionals", "Arguments");
    app.get_formatter()->label("REQUIRED", "");
    for (const auto& make : kCommands) {
      const Command command = make();
      CLI::App* sub = app.add_subcommand(command.name, command.summary);
      sub->footer(command.help);
      sub->group("Commands");
      commands.push_back(command);
      actions.push_back(command.configure(*sub));
      add_common(*sub, common);
      parsers.push_back(sub);
    }
  }

  // What is wrong with the first word; empty if it is a command or an option.
  std::string refusal(int argc, char** argv) const {
    if (argc < 2) return "no command given (see assay --help)";
    const std::string_view word = argv[1];
    if (word.starts_with("-")) return {};
    const Command* nearest = &commands.front();
    for (const Command& command : commands) {
      if (word == command.name) return {};
      if (edit_distance(word, command.name) < edit_distance(word, nearest->name)) {
        nearest = &command;
      }
    }
    const bool close = edit_distance(word, nearest->name) <= 2;
    return fmt::format("'{}' is no command{} (see assay --help)", word,
                       close ? fmt::format("; did you mean '{}'?", nearest->name) : "");
  }
};

int main_guarded(int argc, char** argv) {
  Program program;
  Common asked;
  for (int i = 1; i < argc; ++i) asked.json = asked.json || std::string_view(argv[i]) == "--json";
  if (std::string refusal = program.refusal(argc, argv); !refusal.empty()) {
    return static_cast<int>(fail(asked, {"usage", refusal, {}}));
  }
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return program.app.exit(failure);
    return static_cast<int>(
        fail(asked, {"usage", fmt::format("{} (see assay --help)", failure.what()), {}}));
  }
  for (std::size_t i = 0; i < program.parsers.size(); ++i) {
    if (!program.parsers[i]->parsed()) continue;
    if (Result<void> settings = apply_settings("assay.toml", program.app, *program.parsers[i]);
        !settings) {
      return static_cast<int>(fail(asked, settings.error()));
    }
    return static_cast<int>(run(program.commands[i], program.actions[i], program.common,
                                subject_of(*program.parsers[i])));
  }
  return static_cast<int>(ExitCode::usage);
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  assay::set_up_memory();
  try {
    return assay::ended(assay::main_guarded(argc, argv));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "assay: a defect of Assay itself: {}\n", failure.what());
    return static_cast<int>(assay::ExitCode::defect);
  }
}
