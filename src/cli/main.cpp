// The command line: parses, runs one command, prints its report, and turns failures into exit codes.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "base/parallel.h"
#include "cli/command.h"
#include "cli/watchdog.h"
#include "generated/version.h"
#include "tensor/tensor.h"

namespace assay {
namespace {

constexpr Command (*kCommands[])() = {conformance_command, ops_command};

void add_common(CLI::App& app, Common& common) {
  const char* group = "Everywhere";
  app.add_flag("--json", common.json, "Print one JSON document")->group(group);
  app.add_option("--threads", common.threads, "Threads to compute with (default: all)")
      ->check(CLI::Range(0, 1024))->group(group);
  app.add_option("--seed", common.seed, "Seed of everything random")->group(group);
  app.add_option("--memory-limit", common.memory_limit, "Most bytes that tensors may take")
      ->check(CLI::NonNegativeNumber)->group(group);
  app.add_option("--timeout", common.timeout, "Most seconds to run")
      ->check(CLI::NonNegativeNumber)->group(group);
}

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void print_error(const Common& common, const Error& error) {
  if (common.json) {
    const nlohmann::ordered_json document = {
        {"assay", kVersion},
        {"error", {{"kind", error.kind}, {"message", error.message}, {"where", error.where}}}};
    fmt::print("{}\n", document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print(stderr, "assay: {}\n", error.message);
  }
}

ExitCode exit_code_of(const Error& error) {
  if (error.kind == "environment") return ExitCode::environment;
  return error.kind == "internal" ? ExitCode::defect : ExitCode::usage;
}

ExitCode run(const Command& command, const Action& action, const Common& common) {
  set_thread_count(common.threads);
  if (common.memory_limit > 0) set_memory_limit(static_cast<std::size_t>(common.memory_limit));
  const Watchdog watchdog(common.timeout, [&] {
    print_error(common, {"timeout", fmt::format("{} did not end within {} s", command.name, common.timeout), {}});
  });
  const auto start = std::chrono::steady_clock::now();
  Report report(common);
  const Result<ExitCode> code = action(report);
  if (!code) {
    print_error(common, code.error());
    return exit_code_of(code.error());
  }
  if (!common.json) {
    fmt::print("{}", report.text);
    return *code;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::ordered_json document = {{"assay", kVersion}, {"command", command.name},
                                     {"seconds", seconds}, {"peak_bytes", peak_bytes()}};
  document.update(report.document);
  fmt::print("{}\n", document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return *code;
}

int main_guarded(int argc, char** argv) {
  CLI::App app{"Assay tells whether a framework computes what a model means, and why not.", "assay"};
  app.set_version_flag("--version", fmt::format("assay {}", kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  Common common;
  std::vector<std::pair<Command, Action>> actions;
  std::vector<CLI::App*> parsers;
  for (const auto& make : kCommands) {
    const Command command = make();
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(command.help);
    add_common(*sub, common);
    actions.emplace_back(command, command.configure(*sub));
    parsers.push_back(sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const int code = failure.get_exit_code();
    if (code == 0) return app.exit(failure);
    for (int i = 1; i < argc; ++i) common.json = common.json || std::string_view(argv[i]) == "--json";
    print_error(common, {"usage", fmt::format("{} (see assay --help)", failure.what()), {}});
    return static_cast<int>(ExitCode::usage);
  }
  for (std::size_t i = 0; i < parsers.size(); ++i)
    if (parsers[i]->parsed())
      return static_cast<int>(run(actions[i].first, actions[i].second, common));
  return static_cast<int>(ExitCode::usage);
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  try {
    return assay::main_guarded(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "assay: a defect of Assay itself: {}\n", failure.what());
    return static_cast<int>(assay::ExitCode::defect);
  }
}
