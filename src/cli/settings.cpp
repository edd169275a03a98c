#include "cli/settings.h"

#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace assay {
namespace {

bool is_command(CLI::App& program, const std::string& name) {
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return true;
  }
  return false;
}

bool any_command_has(CLI::App& program, const std::string& option) {
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_option_no_throw(option)) return true;
  }
  return false;
}

Error refuse(const std::string& path, const std::string& reason) {
  return {"usage", fmt::format("{}: {}", path, reason), path};
}

Result<void> apply(const CLI::ConfigItem& item, const std::string& path, CLI::App& program,
                   CLI::App& command) {
  const std::string option = "--" + item.name;
  const std::string section = item.parents.empty() ? "" : item.parents.front();
  if (item.name == "++" || item.name == "--") return {};  // the start and end of a section
  if (!section.empty() && !is_command(program, section)) {
    return refuse(path, fmt::format("[{}] is no command", section));
  }
  if (!section.empty() && section != command.get_name()) return {};
  CLI::Option* place = command.get_option_no_throw(option);
  if (!place) {
    const bool elsewhere = section.empty() && any_command_has(program, option);
    return elsewhere ? Result<void>{}
                     : refuse(path, fmt::format("no setting '{}'", item.fullname()));
  }
  if (place->count() > 0) return {};
  try {
    place->add_result(item.inputs);
    place->run_callback();
  } catch (const CLI::ParseError& failure) {
    return refuse(path, failure.what());
  }
  return {};
}

}  // namespace

Result<void> apply_settings(const std::string& path, CLI::App& program, CLI::App& command) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(path);
  } catch (const CLI::Error& failure) {
    return refuse(path, failure.what());
  }
  for (const CLI::ConfigItem& item : items) {
    if (Result<void> done = apply(item, path, program, command); !done) return done.error();
  }
  return {};
}

}  // namespace assay
