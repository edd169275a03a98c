#include "reproduce/script.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "reproduce/check_source.h"
#include "reproduce/model_source.h"
#include "reproduce/python_source.h"

namespace assay {
namespace {

constexpr std::int64_t kInline = 64;  // elements that stand in a script

Error refused(const std::string& why) { return Error{"script", why, {}}; }

// Types that numpy lacks, in the type that a script has for them.
Tensor in_numpy(const Tensor& tensor) {
  if (numpy_has(tensor.type())) return tensor;
  switch (tensor.type()) {
    case ElementType::u4:
    case ElementType::u2:
      return tensor.retyped(ElementType::u8);
    case ElementType::i4:
    case ElementType::i2:
      return tensor.retyped(ElementType::i8);
    default:
      return tensor.retyped(ElementType::f32);
  }
}

// The name itself if a script can have it, else the first of x1, x2, … that is free.
std::string free_name(const std::string& name, const char* letter, std::set<std::string>& taken) {
  std::string free = name;
  for (int i = 1; !is_variable(free) || taken.contains(free); ++i) {
    free = fmt::format("{}{}", letter, i);
  }
  taken.insert(free);
  return free;
}

class Writer {
 public:
  Writer(const ScriptSubject& subject, const VariableNames& names, const ScriptParts& parts)
      : subject_(subject), graph_(subject.test->model.graph), names_(names), parts_(parts) {}

  Result<Script> write() {
    Result<std::vector<std::string>> end = check_source(subject_.expectation);
    if (!end) return end.error();
    if (Result<void> done = parts_.from_model ? write_model() : write_variables(); !done) {
      return done.error();
    }
    if (!subject_.expectation) body_.emplace_back("print(\"expected an answer\", flush=True)");
    body_.insert(body_.end(), parts_.lines.begin(), parts_.lines.end());
    body_.insert(body_.end(), end->begin(), end->end());
    return assemble();
  }

 private:
  Result<std::string> source_of(const Value& value, const std::string& variable) {
    if (value.kind() == Value::Kind::sequence) {
      std::vector<std::string> parts;
      for (const Value& one : value.elements()) {
        if (!one.is_tensor()) return refused("sequences of other things than tensors");
        Result<std::string> part = source_of(one, fmt::format("{}_{}", variable, parts.size()));
        if (!part) return part;
        parts.push_back(*std::move(part));
      }
      return fmt::format("[{}]", fmt::join(parts, ", "));
    }
    if (!value.is_tensor()) return refused("inputs that are neither tensors nor sequences");
    const Tensor& tensor = value.tensor();
    if (parts_.from_model && !numpy_has(tensor.type())) {
      return refused(fmt::format("numpy has no {}", standard_name(tensor.type())));
    }
    inline_ += written_elements(tensor);
    if (written_elements(tensor) <= kInline && inline_ <= 2 * kInline) return array_source(tensor);
    script_.data.emplace_back(variable, in_numpy(tensor));
    return fmt::format("data[{}]", python_text(variable));
  }

  Result<std::string> input_source(const NamedValue& input) {
    const auto generated = subject_.generated.find(input.name);
    if (generated != subject_.generated.end()) return generated->second;
    return source_of(input.value, variable_of(input.name));
  }

  const std::string& variable_of(const std::string& name) const {
    for (const auto& [value, variable] : names_) {
      if (value == name) return variable;
    }
    return name;
  }

  // What a framework's lines read: inputs and initializers alike.
  Result<void> write_variables() {
    std::vector<NamedValue> values = subject_.test->inputs;
    for (const NamedTensor& one : graph_.initializers) values.push_back({one.name, one.tensor});
    for (const NamedValue& one : values) {
      const auto used =
          std::find_if(parts_.variables.begin(), parts_.variables.end(),
                       [&](const auto& pair) { return pair.first == variable_of(one.name); });
      if (used == parts_.variables.end()) continue;
      const Result<std::string> source = input_source(one);
      if (!source) return source.error();
      std::string put = used->second;
      const std::size_t place = put.find("{}");
      if (place == std::string::npos) return refused("a variable that is not written");
      variables_.emplace_back(used->first, put.replace(place, 2, *source));
    }
    return {};
  }

  // What a runtime's lines read: the inputs by name, and the file's bytes.
  Result<void> write_model() {
    const std::map<std::string, std::string> names = model_names();
    std::map<std::string, std::string> weights;
    bool built = !parts_.onnx.empty();
    for (const NamedTensor& one : graph_.initializers) {
      built = built && written_elements(one.tensor) <= kInline && numpy_has(one.tensor.type());
      if (built) weights[one.name] = array_source(one.tensor);
    }
    std::optional<std::vector<std::string>> lines;
    if (built) lines = model_source(subject_.test->model, names, weights);
    if (!lines && !subject_.has_file) return refused("a few calls cannot say what its layers mean");
    std::vector<std::string> feed;
    for (const NamedValue& input : subject_.test->inputs) {
      if (!input.value.present()) continue;
      const Result<std::string> source = input_source(input);
      if (!source) return source.error();
      feed.push_back(
          fmt::format("{}: {}", python_text(lines ? names.at(input.name) : input.name), *source));
    }
    body_.push_back(fmt::format("feed = {{{}}}", fmt::join(feed, ", ")));
    script_.needs_model = !lines;
    if (lines) {
      body_.insert(body_.end(), lines->begin(), lines->end());
    } else {
      body_.emplace_back("model = open(__file__[:-3] + \"/model.onnx\", \"rb\").read()");
    }
    return {};
  }

  // Short names for all values: those of a file may be long, or worse.
  std::map<std::string, std::string> model_names() const {
    std::map<std::string, std::string> names(names_.begin(), names_.end());
    std::set<std::string> taken;
    for (const auto& [name, variable] : names_) taken.insert(variable);
    for (const Node& node : graph_.nodes) {
      for (const std::string& output : node.outputs) {
        if (output.empty() || names.contains(output)) continue;
        names.emplace(output, free_name(output, "y", taken));
      }
    }
    return names;
  }

  std::vector<std::string> head() const {
    std::vector<std::string> lines = {
        fmt::format("# backend: {} {}", printable(subject_.backend), printable(subject_.version)),
        "# " + what_is_wrong(graph_, subject_.expectation)};
    if (!subject_.explanation.empty()) {
      lines.push_back(fmt::format("# Known as: {}.", printable(subject_.explanation)));
    }
    std::vector<std::string> imports = {"import numpy as np"};
    if (parts_.from_model && !script_.needs_model) imports.push_back(parts_.onnx);
    imports.insert(imports.end(), parts_.imports.begin(), parts_.imports.end());
    // Plain imports, then those of names, then what sets a framework up. What comes after the
    // process's own variables were set reads them.
    const auto fixed = std::find_if(imports.begin(), imports.end(), [](const std::string& line) {
      return line.starts_with("os.environ");
    });
    const auto rank = [](const std::string& line) {
      return line.starts_with("import ") ? 0 : line.starts_with("from ") ? 1 : 2;
    };
    std::stable_sort(imports.begin(), fixed, [&](const auto& a, const auto& b) {
      return rank(a) != rank(b) ? rank(a) < rank(b) : rank(a) < 2 && a < b;
    });
    lines.insert(lines.end(), imports.begin(), imports.end());
    return lines;
  }

  // Each variable has a line, or all have one where lines are scarce.
  std::vector<std::string> variable_lines(bool scarce) const {
    std::vector<std::string> lines, names, sources;
    if (!script_.data.empty()) lines.emplace_back("data = np.load(__file__[:-3] + \".npz\")");
    for (const auto& [name, source] : variables_) {
      if (!scarce) lines.push_back(fmt::format("{} = {}", name, source));
      names.push_back(name);
      sources.push_back(source);
    }
    if (scarce && !names.empty()) {
      const char* end = names.size() == 1 ? "," : "";
      lines.push_back(
          fmt::format("{}{} = ({}{})", fmt::join(names, ", "), end, fmt::join(sources, ", "), end));
    }
    return lines;
  }

  Result<Script> assemble() {
    for (const bool scarce : {false, true}) {
      std::vector<std::string> lines = head();
      const std::size_t start = lines.size();
      for (const auto& part : {variable_lines(scarce), body_}) {
        lines.insert(lines.end(), part.begin(), part.end());
      }
      if (lines.size() > kMostScriptLines && !scarce) continue;
      if (lines.size() > kMostScriptLines) {
        return refused(fmt::format("it would take {} lines", lines.size()));
      }
      if (break_long_lines(lines) < kMostScriptLines) {
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(start), "");
      }
      script_.text = fmt::format("{}\n", fmt::join(lines, "\n"));
      break;
    }
    return std::move(script_);
  }

  // The longest first, as long as there is room; returns how many lines there are then.
  static std::size_t break_long_lines(std::vector<std::string>& lines) {
    std::vector<std::size_t> order(lines.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return lines[a].size() > lines[b].size();
    });
    std::size_t count = lines.size();
    for (const std::size_t i : order) {
      const std::vector<std::string> parts = wrapped(lines[i]);
      if (lines[i].starts_with("#") || count + parts.size() - 1 > kMostScriptLines) continue;
      count += parts.size() - 1;
      lines[i] = fmt::format("{}", fmt::join(parts, "\n"));
    }
    return count;
  }

  const ScriptSubject& subject_;
  const Graph& graph_;
  const VariableNames& names_;
  const ScriptParts& parts_;
  Script script_;
  std::vector<std::pair<std::string, std::string>> variables_;  // with their source
  std::vector<std::string> body_;                               // behind them
  std::int64_t inline_ = 0;                                     // elements written out
};

}  // namespace

VariableNames name_variables(const Graph& graph) {
  VariableNames names;
  std::set<std::string> known, taken;
  const auto add = [&](const std::string& name) {
    if (known.insert(name).second) names.emplace_back(name, free_name(name, "x", taken));
  };
  for (const NamedType& input : graph.inputs) add(input.name);
  for (const NamedTensor& one : graph.initializers) add(one.name);
  return names;
}

Result<Script> write_script(const ScriptSubject& subject, const VariableNames& names,
                            const ScriptParts& parts) {
  return Writer(subject, names, parts).write();
}

}  // namespace assay
