#include "reproduce/reproduce.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/layer_model.h"
#include "formats/onnx_export.h"
#include "graph/names.h"
#include "reproduce/execute.h"
#include "reproduce/script.h"
#include "reproduce/simple_inputs.h"
#include "semantics/expand_layers.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// What the backend did with the inputs of a script.
struct Seen {
  Answer answer;
  std::optional<Expectation> expectation;
  bool wrong() const { return !answer.ok() || expectation; }
};

Result<Job> job_of(const BackendTest& test) {
  Job job;
  if (has_layers(test.model)) {
    job.model = source_of(std::make_shared<const Model>(test.model), "");
  } else {
    Result<std::string> bytes = to_onnx(test.model);
    if (!bytes) return bytes.error();
    job.model = {"", *std::move(bytes)};
  }
  for (const NamedValue& input : test.inputs) {
    if (input.value.present()) job.inputs.emplace_back(input.name, input.value);
  }
  return job;
}

Result<Seen> look(const BackendTest& test, Backend& backend, std::uint64_t seed) {
  Result<Job> job = job_of(test);
  if (!job) return job.error();
  const Result<std::vector<Allowance>> allowed = allowances(test, backend.name(), seed);
  if (!allowed) return allowed.error();
  Seen seen;
  seen.answer = backend.run(*job);
  if (seen.answer.ok()) {
    seen.expectation = contradiction(test.model.graph, *allowed, seen.answer);
  }
  return seen;
}

// A model that kills its worker cannot be asked about; what a runtime's lines are, any model tells.
BackendTest harmless() {
  TextCase identity;
  identity.name = "Identity";
  identity.node.op = "Identity";
  identity.node.inputs = {"x"};
  identity.node.outputs = {"y"};
  identity.inputs = {{"x", make_scalar(ElementType::f32, 1)}};
  identity.outputs = {{"y", make_scalar(ElementType::f32, 1)}};
  return to_test(identity);
}

Result<ScriptParts> parts_of(const BackendTest& test, Backend& backend, const VariableNames& names,
                             const Answer& seen) {
  const Result<Job> job = job_of(test);
  if (!job) return job.error();
  // Layers are written down as they are, and none of them is called for that.
  if (seen.ok() || has_layers(test.model)) {
    ScriptAnswer told = backend.script(*job, names);
    if (told.answer.ok()) return std::move(told.parts);
    return Error{"script", one_line(told.answer.message), {}};
  }
  const BackendTest other = harmless();
  const Result<Job> asked = job_of(other);
  if (!asked) return asked.error();
  ScriptAnswer told = backend.script(*asked, name_variables(other.model.graph));
  if (!told.answer.ok()) return Error{"script", one_line(told.answer.message), {}};
  if (told.parts.from_model) return std::move(told.parts);
  return Error{"script", "calls that end in no answer cannot be followed", {}};
}

// Whether an execution shows what was seen.
bool shows(const Execution& execution, const Seen& seen) {
  const bool told = execution.printed.find("expected ") != std::string::npos;
  if (seen.answer.outcome == Outcome::hung) return told && !execution.finished;
  if (!execution.finished || !told) return false;
  if (seen.answer.outcome == Outcome::crashed && seen.answer.signal != 0) {
    return execution.ending.signal == seen.answer.signal;
  }
  return execution.ending.signal == 0 && execution.ending.code == 1;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t start = text.rfind('\n', end);
  return one_line(text.substr(start == std::string::npos ? 0 : start + 1, 200));
}

Result<void> put_down(const Script& script, const fs::path& path) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  if (!script.data.empty()) {
    fs::path data = path;
    Result<void> done = write_npz(data.replace_extension(".npz").string(), script.data);
    if (!done) return done.error();
  }
  return write_file(path, script.text);
}

void take_away(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  fs::path data = path;
  fs::remove(data.replace_extension(".npz"), ignored);
}

Result<fs::path> try_out(const ScriptSubject& subject, const Backend& backend, const Seen& seen,
                         const ScriptParts& parts, const fs::path& base, double seconds) {
  const Result<Script> script =
      write_script(subject, name_variables(subject.test->model.graph), parts);
  if (!script) return script.error();
  const fs::path path = base.string() + ".py";
  if (Result<void> done = put_down(*script, path); !done) return done.error();
  const Result<Execution> execution = execute(path, backend.name(), seconds);
  if (execution && shows(*execution, seen)) return path;
  take_away(path);
  if (!execution) return execution.error();
  return Error{"script",
               fmt::format("executed by itself it does not show it: {}; {}",
                           execution->finished ? execution->ending.text() : "it took too long",
                           last_line(execution->printed + execution->errors)),
               {}};
}

Result<fs::path> make(const ScriptSubject& subject, Backend& backend, const Seen& seen,
                      const fs::path& base, double seconds) {
  const VariableNames names = name_variables(subject.test->model.graph);
  Result<ScriptParts> parts = parts_of(*subject.test, backend, names, seen.answer);
  if (!parts) return parts.error();
  Result<fs::path> path = try_out(subject, backend, seen, *parts, base, seconds);
  if (path || parts->onnx.empty()) return path;
  parts->onnx.clear();  // with the file as it is, which says more than the calls
  return try_out(subject, backend, seen, *parts, base, seconds);
}

// What a backend without layers is given for them; none for any other suspect.
Result<std::optional<BackendTest>> without_layers(const BackendTest& suspect, Backend& backend) {
  if (!has_layers(suspect.model) || backend.takes_layers()) return std::optional<BackendTest>();
  BackendTest test = suspect;
  for (NamedType& input : test.model.graph.inputs) {
    const auto given = std::ranges::find(test.inputs, input.name, &NamedValue::name);
    if (given != test.inputs.end() && given->value.is_tensor()) {
      input.type = given->value.value_type();
    }
  }
  Result<Model> expanded = expand_layers(test.model);
  if (!expanded) return expanded.error();
  test.model = *std::move(expanded);
  return std::optional(std::move(test));
}

Reproduction show(const BackendTest& suspect, Backend& backend, const fs::path& base,
                  const ReproduceOptions& options, bool has_file) {
  ScriptSubject subject{
      &suspect, {}, backend.name(), backend.identity().version, options.explanation};
  subject.has_file = has_file;
  // Inputs that a line can make say the same in less, if they still show it.
  const std::optional<SimpleInputs> simple = simple_inputs(suspect);
  if (simple) {
    const Result<Seen> seen = look(simple->test, backend, options.seed);
    if (seen && seen->expectation) {
      ScriptSubject simpler = subject;
      simpler.test = &simple->test;
      simpler.generated = simple->sources;
      simpler.expectation = seen->expectation;
      const Result<fs::path> path = make(simpler, backend, *seen, base, options.seconds);
      if (path) return {*path, ""};
    }
  }
  const Result<Seen> seen = look(suspect, backend, options.seed);
  if (!seen) return {{}, one_line(seen.error().message)};
  if (!seen->wrong()) return {{}, "by itself, the suspect is right"};
  subject.expectation = seen->expectation;
  const Result<fs::path> path = make(subject, backend, *seen, base, options.seconds);
  return path ? Reproduction{*path, ""} : Reproduction{{}, one_line(path.error().message)};
}

}  // namespace

Reproduction reproduce(const BackendTest& suspect, Backend& backend, const fs::path& base,
                       const ReproduceOptions& options) {
  const Result<std::optional<BackendTest>> plain = without_layers(suspect, backend);
  if (!plain) return {{}, one_line(plain.error().message)};
  return show(*plain ? **plain : suspect, backend, base, options, !*plain);
}

}  // namespace assay
