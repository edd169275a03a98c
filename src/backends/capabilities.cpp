// What a backend can do: asked of its worker once, and remembered beside its environment.
#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/install.h"
#include "backends/layer_model.h"
#include "backends/places.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kProbeSeconds = 600;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
  return text;
}

// Changes when the framework's table does.
std::string table_fingerprint(const BackendName& backend) {
  std::vector<std::string> parts;
  std::error_code ignored;
  const fs::path tables = workers_folder() / "assay_worker";
  for (const fs::path& folder : {tables, tables / backend.environment.module}) {
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() != ".py") continue;
      const auto changed = entry.last_write_time(ignored).time_since_epoch().count();
      parts.push_back(fmt::format("{}{}", entry.path().filename().string(), changed));
    }
  }
  std::sort(parts.begin(), parts.end());
  std::size_t hash = 0;
  for (const std::string& part : parts) hash = 31 * hash + std::hash<std::string>()(part);
  return fmt::format("{}-{:x}", backend.environment.fingerprint(), hash);
}

std::vector<std::string> standard_names() {
  std::set<std::string> names;
  for (const Operator& entry : catalogue()) names.insert(full_name(entry));
  for (std::string& name : layer_names()) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

// Runtimes tell of kernels of their own too, which no model of the standard can call.
void keep_standard(const std::vector<std::string>& standard, std::vector<std::string>& names) {
  std::erase_if(names, [&](const std::string& name) {
    const bool ours = name.find('.') == std::string::npos || name.starts_with("ai.onnx.ml.");
    return ours && !std::binary_search(standard.begin(), standard.end(), name);
  });
}

fs::path memory_file(const BackendName& backend) {
  return home_folder() / "capabilities" / (backend.text + ".json");
}

void remember(const BackendName& backend, const Capabilities& known) {
  Json missing = Json::object();
  for (const auto& [name, reason] : known.operators.missing) missing[name] = reason;
  const Json document = {
      {"of", table_fingerprint(backend)},     {"framework", known.identity.framework},
      {"version", known.identity.version},    {"python", known.identity.python},
      {"operators", known.operators.present}, {"missing", missing}};
  std::error_code ignored;
  const fs::path file = memory_file(backend);
  fs::create_directories(file.parent_path(), ignored);
  std::ofstream(file.string() + ".new") << document.dump(1) << '\n';
  fs::rename(file.string() + ".new", file, ignored);
}

}  // namespace

std::optional<Capabilities> remembered(const BackendName& backend) {
  std::ifstream file(memory_file(backend));
  const Json document = Json::parse(file, nullptr, false);
  if (!document.is_object() || document.value("of", "") != table_fingerprint(backend)) {
    return std::nullopt;
  }
  Capabilities known;
  known.identity = {document.value("framework", ""), document.value("version", ""),
                    document.value("python", "")};
  known.operators.present = document.value("operators", std::vector<std::string>());
  const Json missing = document.value("missing", Json::object());
  for (const auto& [name, reason] : missing.items()) {
    known.operators.missing.emplace_back(name, reason.is_string() ? reason.get<std::string>() : "");
  }
  return known;
}

Result<WorkerCommand> worker_command(const BackendName& backend) {
  const Environment& environment = backend.environment;
  WorkerCommand command;
  command.mode = backend.mode;
  command.variables = environment.variables;
  command.shared_memory = environment.shared_memory;
  const std::string folder = environment_folder(environment).string();
  for (auto& [name, value] : command.variables) value = replaced(value, "{environment}", folder);
  if (!environment.command.empty()) {
    for (const std::string& word : environment.command) {
      command.arguments.push_back(replaced(replaced(word, "{workers}", workers_folder().string()),
                                           "{folder}", environment.file.parent_path().string()));
    }
    return command;
  }
  if (!is_installed(environment)) {
    return Error{"environment",
                 fmt::format("backend {} is not installed: assay backends install {}", backend.text,
                             backend.text),
                 backend.text};
  }
  command.arguments = {folder + "/bin/python", "-m", "assay_worker", environment.module};
  command.divides = environment.divides;
  command.variables.emplace_back(
      "PYTHONPATH", workers_folder().string() + ":" + environment.file.parent_path().string());
  command.variables.emplace_back("PYTHONNOUSERSITE", "1");
  // Where nobody may keep what imports compile, as in many containers, each takes three times as
  // long; these environments are our own.
  command.variables.emplace_back("PYTHONDONTWRITEBYTECODE", "");
  return command;
}

Result<Capabilities> probe(const BackendName& backend) {
  if (std::optional<Capabilities> known = remembered(backend)) return *std::move(known);
  const auto about = [&](const Error& error) {
    return Error{"environment", fmt::format("backend {}: {}", backend.text, error.message),
                 backend.text};
  };
  const Result<WorkerCommand> command = worker_command(backend);
  if (!command) return command.error();
  Result<std::unique_ptr<Worker>> worker = Worker::start(*command, {});
  if (!worker) return about(worker.error());
  const std::vector<std::string> standard = standard_names();
  Result<OperatorList> operators = (*worker)->operators(standard, {kProbeSeconds, 0});
  if (!operators) return about(operators.error());
  keep_standard(standard, operators->present);
  Capabilities known{(*worker)->identity(), *std::move(operators)};
  remember(backend, known);
  return known;
}

std::vector<BackendName> known_backends() {
  std::vector<BackendName> backends;
  for (const std::string& name : environment_names()) {
    Result<Environment> environment = read_environment(name);
    if (!environment) continue;
    backends.push_back({name, *environment, ""});
    for (const std::string& mode : environment->modes) {
      backends.push_back({fmt::format("{}-{}", name, mode), *environment, mode});
    }
  }
  return backends;
}

std::map<std::string, std::vector<std::string>> backends_by_operator() {
  std::map<std::string, std::vector<std::string>> found;
  for (const BackendName& backend : known_backends()) {
    const std::optional<Capabilities> known = remembered(backend);
    if (!known || !is_installed(backend.environment)) continue;
    for (const std::string& name : known->operators.present) found[name].push_back(backend.text);
  }
  return found;
}

}  // namespace assay
