#include "backends/environment.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <toml++/toml.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/places.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Broken {
  std::string reason;
};

std::vector<std::string> texts(const toml::table& table, const char* key) {
  std::vector<std::string> found;
  const toml::node* node = table.get(key);
  if (!node) return found;
  if (const auto text = node->value_exact<std::string>()) return {*text};
  const toml::array* array = node->as_array();
  for (std::size_t i = 0; array && i < array->size(); ++i) {
    const auto text = array->get(i)->value_exact<std::string>();
    if (!text) break;
    found.push_back(*text);
  }
  if (!array || found.size() != array->size()) {
    throw Broken{fmt::format("'{}' is a text or a list of texts", key)};
  }
  return found;
}

std::string text(const toml::table& table, const char* key, const std::string& otherwise) {
  const std::vector<std::string> found = texts(table, key);
  if (found.size() > 1) throw Broken{fmt::format("'{}' is one text", key)};
  return found.empty() ? otherwise : found.front();
}

void read_variables(const toml::table& table, Environment& environment) {
  const toml::node* node = table.get("variables");
  if (!node) return;
  if (!node->is_table()) throw Broken{"'variables' is a table of texts"};
  for (const auto& [name, value] : *node->as_table()) {
    const auto given = value.value_exact<std::string>();
    if (!given) throw Broken{fmt::format("variable {} is a text", std::string(name.str()))};
    environment.variables.emplace_back(std::string(name.str()), *given);
  }
}

void read_older(const toml::table& table, Environment& environment) {
  const toml::node* node = table.get("older");
  if (!node) return;
  if (!node->is_array_of_tables()) throw Broken{"'older' is a list of tables"};
  for (const toml::node& one : *node->as_array()) {
    const toml::table& release = *one.as_table();
    environment.older.push_back(
        {text(release, "before", ""), texts(release, "packages"), texts(release, "python")});
  }
}

void refuse_unknown(const toml::table& table) {
  static const std::set<std::string_view> kKeys = {
      "framework", "module",    "uses",  "package", "python",        "packages", "pins",
      "apt",       "variables", "modes", "command", "shared_memory", "divides",  "older"};
  for (const auto& [key, value] : table) {
    if (!kKeys.contains(key.str())) {
      throw Broken{fmt::format("there is no setting '{}'", std::string(key.str()))};
    }
  }
}

Environment to_environment(const toml::table& table, const fs::path& file) {
  refuse_unknown(table);
  Environment environment;
  environment.name = file.stem().string();
  environment.file = file;
  environment.framework = text(table, "framework", environment.name);
  environment.module = text(table, "module", environment.framework);
  environment.uses = text(table, "uses", "");
  environment.package = text(table, "package", environment.framework);
  environment.pythons = texts(table, "python");
  environment.packages = texts(table, "packages");
  environment.pins = texts(table, "pins");
  environment.system_packages = texts(table, "apt");
  environment.modes = texts(table, "modes");
  environment.command = texts(table, "command");
  environment.shared_memory = table["shared_memory"].value_or(environment.command.empty());
  environment.divides = table["divides"].value_or(false);
  read_variables(table, environment);
  read_older(table, environment);
  const bool installed = environment.uses.empty() && environment.command.empty();
  if (installed && environment.pythons.empty()) throw Broken{"'python' is missing"};
  return environment;
}

std::vector<std::int64_t> numbers(const std::string& version) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < version.size(); ++at) {
    char* end = nullptr;
    found.push_back(std::strtoll(version.c_str() + at, &end, 10));
    at = static_cast<std::size_t>(end - version.c_str());
  }
  return found;
}

}  // namespace

std::string Environment::fingerprint() const {
  const std::string all = fmt::format("{}|{}|{}", fmt::join(pythons, ","), fmt::join(packages, ","),
                                      fmt::join(system_packages, ","));
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char letter : all) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3;
  }
  return fmt::format("{:016x}", hash);
}

Result<Environment> read_environment(const std::string& name) {
  for (const fs::path& folder : environment_folders()) {
    const fs::path file = folder / (name + ".toml");
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) continue;
    const auto refuse = [&](const std::string& reason) {
      return Error{"usage", fmt::format("{}: {}", file.string(), reason), file.string()};
    };
    try {
      return to_environment(toml::parse_file(file.string()), file);
    } catch (const toml::parse_error& failure) {
      return refuse(fmt::format("line {}: {}", failure.source().begin.line,
                                std::string(failure.description())));
    } catch (const Broken& broken) {
      return refuse(broken.reason);
    }
  }
  return Error{"environment", fmt::format("there is no backend {}", name), name};
}

std::vector<std::string> environment_names() {
  std::set<std::string> names;
  for (const fs::path& folder : environment_folders()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

Environment at_release(const Environment& base, const std::string& version) {
  Environment environment = base;
  environment.name = fmt::format("{}-{}", base.name, version);
  const std::vector<std::int64_t> release = numbers(version);
  // Pins beside the framework are those of its current release; an old one finds its own.
  const std::string any = release.size() < 3 ? ".*" : "";
  environment.pins.clear();
  environment.packages = {fmt::format("{}=={}{}", base.package, version, any)};
  for (const OlderReleases& older : base.older) {
    if (release >= numbers(older.before)) continue;
    environment.packages.insert(environment.packages.end(), older.packages.begin(),
                                older.packages.end());
    if (!older.pythons.empty()) environment.pythons = older.pythons;
  }
  return environment;
}

}  // namespace assay
