// assay completion: scripts that complete commands and options in a shell.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"

namespace assay {
namespace {

constexpr const char* kHelp = R"(Examples:
  source <(assay completion bash)
  assay completion zsh > ~/.zfunc/_assay
  assay completion fish > ~/.config/fish/completions/assay.fish)";

struct Option {
  std::string name, summary;
  bool takes_value;
};

struct Entry {
  std::string name, summary;
  std::vector<Option> options;
};

// Everything comes from the parser itself, so that a new option is completed without a word here.
std::vector<Entry> entries_of(const CLI::App& program) {
  std::vector<Entry> entries;
  for (const CLI::App* command : program.get_subcommands({})) {
    Entry entry{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        entry.options.push_back(
            {"--" + name, option->get_description(), option->get_items_expected_max() > 0});
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string words(const std::vector<Option>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const Option& option : options) names.push_back(option.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Text between single quotes of any of the shells.
std::string quoted(std::string text) {
  for (char& c : text) {
    if (c == '\'' || c == '[' || c == ']' || c == ':') c = ' ';
  }
  return "'" + text + "'";
}

std::string bash_script(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  std::string cases;
  for (const Entry& entry : entries) {
    names.push_back(entry.name);
    cases += fmt::format("    {}) options=\"{}\" ;;\n", entry.name, words(entry.options));
  }
  return fmt::format(R"(# Completion of assay for bash.
_assay() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _assay assay
)",
                     fmt::join(names, " "), cases);
}

std::string zsh_script(const std::vector<Entry>& entries) {
  std::string commands, cases;
  for (const Entry& entry : entries) {
    commands += fmt::format("    {}\n", quoted(entry.name) + "':'" + quoted(entry.summary));
    cases += fmt::format("    {})\n      _arguments", entry.name);
    for (const Option& option : entry.options) {
      std::string text = quoted(option.summary);
      cases += fmt::format(" \\\n        '{}[{}]{}'", option.name, text.substr(1, text.size() - 2),
                           option.takes_value ? ":value:_files" : "");
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(R"(#compdef assay
# Completion of assay for zsh.
_assay() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="${{words[2]}}"
  shift words
  (( CURRENT-- ))
  case "$command" in
{}  esac
}}
compdef _assay assay
)",
                     commands, cases);
}

std::string fish_script(const std::vector<Entry>& entries) {
  std::string script = "# Completion of assay for fish.\n";
  for (const Entry& entry : entries) {
    script += fmt::format("complete -c assay -n __fish_use_subcommand -f -a {} -d {}\n", entry.name,
                          quoted(entry.summary));
    for (const Option& option : entry.options) {
      script += fmt::format("complete -c assay -n '__fish_seen_subcommand_from {}' -l {} -d {}{}\n",
                            entry.name, option.name.substr(2), quoted(option.summary),
                            option.takes_value ? " -r" : "");
    }
  }
  return script;
}

Result<ExitCode> run(const CLI::App& program, const std::string& shell, Report& report) {
  const std::vector<Entry> entries = entries_of(program);
  report.text = shell == "bash"  ? bash_script(entries)
                : shell == "zsh" ? zsh_script(entries)
                                 : fish_script(entries);
  report.document["shell"] = shell;
  report.document["script"] = report.text;
  return ExitCode::clean;
}

Action configure(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  const CLI::App* program = app.get_parent();
  return [program, shell](Report& report) { return run(*program, *shell, report); };
}

}  // namespace

Command completion_command() {
  return {"completion", "Print a script that completes commands in a shell", kHelp, configure};
}

}  // namespace assay
