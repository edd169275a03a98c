#include "compare/case_file.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "backends/backend.h"
#include "compare/agreement.h"
#include "formats/onnx_export.h"
#include "ops/catalogue.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

std::vector<Value> values_of(const std::vector<NamedValue>& named) {
  std::vector<Value> values;
  for (const NamedValue& one : named) values.push_back(one.value);
  return values;
}

class CaseRun {
 public:
  CaseRun(const TextCase& given, std::uint64_t seed) : case_(given), seed_(seed) {
    if (given.tolerance) tolerance_ = {given.tolerance->first, given.tolerance->second};
  }

  // Empty if all holds, else the first thing that does not.
  std::string judge(CaseStatus* status) {
    *status = CaseStatus::failed;
    found_ = evaluate(case_.node, case_.inputs, nullptr);
    if (!found_) {
      *status = found_.error().kind == "unsupported" ? CaseStatus::unsupported : CaseStatus::error;
      return found_.error().message;
    }
    for (std::string problem : {outputs(), variants(), refusals(), legal()})
      if (!problem.empty()) return problem;
    *status = CaseStatus::passed;
    return {};
  }

  // The same for a backend's outputs alone.
  void judge(Backend& backend, CaseResult& result) {
    const Model model = to_model(case_);
    Result<std::string> bytes = to_onnx(model);
    if (!bytes) {
      result.detail = bytes.error().message;
      return;
    }
    Job job{{"", *std::move(bytes)}};
    for (const NamedValue& input : case_.inputs) {
      if (input.value.present()) job.inputs.emplace_back(input.name, input.value);
    }
    const Answer answer = backend.run(job);
    result.evaluation_seconds = answer.seconds;
    if (!answer.ok()) return note_refusal(answer, result);
    result.detail = compare(answer);
    result.status = result.detail.empty() ? CaseStatus::passed : CaseStatus::failed;
  }

 private:
  std::string compare(const Answer& answer) const {
    Result<std::vector<Value>> bounded = std::vector<Value>{};
    for (std::size_t i = 0; i < case_.outputs.size(); ++i) {
      const NamedValue& expected = case_.outputs[i];
      if (expected.name.empty()) continue;
      const Value* found = answer.find(expected.name);
      if (!found) return fmt::format("no value of output {}", expected.name);
      const Agreement one = agrees(expected.value, *found, tolerance_);
      if (one.agrees) continue;
      if (bounded && bounded->empty()) bounded = evaluate_bounded();
      if (bounded && within_bound(*found, (*bounded)[i]).agrees) continue;
      return fmt::format("output {}: {}", expected.name, one.detail);
    }
    return {};
  }

  Result<std::vector<Value>> evaluate_bounded() const {
    return evaluate_node(case_.node, static_cast<int>(opset_of(case_)), values_of(case_.inputs),
                         Reading::bounded, nullptr, seed_);
  }

  Result<std::vector<Value>> evaluate(const Node& node, const std::vector<NamedValue>& inputs,
                                      Composition rewrite) const {
    return evaluate_node(node, static_cast<int>(opset_of(case_)), values_of(inputs), Reading::value,
                         rewrite, seed_);
  }

  std::string outputs() const {
    for (std::size_t i = 0; i < case_.outputs.size(); ++i) {
      if (case_.outputs[i].name.empty()) continue;
      const Agreement one = agrees(case_.outputs[i].value, (*found_)[i], tolerance_);
      if (!one.agrees) return fmt::format("output {}: {}", case_.outputs[i].name, one.detail);
    }
    return {};
  }

  std::size_t output_index(const std::string& name) const {
    for (std::size_t i = 0; i < case_.outputs.size(); ++i)
      if (case_.outputs[i].name == name) return i;
    return case_.outputs.size();
  }

  std::string variants() const {
    const Lookup found = find_operator(case_.node.domain, case_.node.op, opset_of(case_));
    for (const TextVariant& expected : case_.variants) {
      const auto place = std::find_if(found.entry->variants.begin(), found.entry->variants.end(),
                                      [&](const Variant& v) { return v.name == expected.name; });
      const std::size_t output = output_index(expected.output);
      if (place == found.entry->variants.end() || output == case_.outputs.size())
        return fmt::format("line {}: no such variant or output", expected.line);
      const auto values = evaluate(case_.node, case_.inputs, place->rewrite);
      if (!values) return fmt::format("line {}: {}", expected.line, values.error().message);
      const Agreement one = agrees(expected.value, (*values)[output], tolerance_);
      if (!one.agrees) return fmt::format("line {}: variant: {}", expected.line, one.detail);
      if (agrees((*found_)[output], (*values)[output], tolerance_).agrees)
        return fmt::format("line {}: the variant does not differ from the standard", expected.line);
    }
    return {};
  }

  std::string refusals() const {
    for (const TextChange& change : case_.refusals) {
      const auto values = evaluate(change.node, change.inputs, nullptr);
      if (values) return fmt::format("line {}: accepted, expected {}", change.line, change.rule);
      if (values.error().message.find("(" + change.rule + ")") == std::string::npos)
        return fmt::format("line {}: expected {}, refused with: {}", change.line, change.rule,
                           values.error().message);
    }
    return {};
  }

  std::string legal() const {
    for (const TextChange& change : case_.legal) {
      const auto values = evaluate(change.node, change.inputs, nullptr);
      if (!values) return fmt::format("line {}: refused: {}", change.line, values.error().message);
    }
    return {};
  }

  const TextCase& case_;
  std::uint64_t seed_;
  Tolerance tolerance_;
  Result<std::vector<Value>> found_ = std::vector<Value>{};
};

}  // namespace

std::vector<std::filesystem::path> find_case_files(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  if (path.extension() == ".txt") files.push_back(path);
  for (const auto& entry : std::filesystem::directory_iterator(path, failure))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

CaseResult run_text_case(const TextCase& text_case, std::uint64_t seed, Backend* backend) {
  CaseResult result;
  result.id =
      fmt::format("{}/{}", std::filesystem::path(text_case.file).stem().string(), text_case.name);
  const auto start = std::chrono::steady_clock::now();
  CaseRun run(text_case, seed);
  if (backend) {
    run.judge(*backend, result);
  } else {
    result.detail = run.judge(&result.status);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!backend) result.evaluation_seconds = result.seconds;
  return result;
}

}  // namespace assay
