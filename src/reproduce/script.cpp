#include "reproduce/script.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "reproduce/model_source.h"
#include "reproduce/python_source.h"

namespace assay {
namespace {

constexpr std::int64_t kInline = 64;  // elements that stand in a script
constexpr std::size_t kOperators = 4;

Error refused(const std::string& why) { return Error{"script", why, {}}; }

std::string ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) {
    if (std::find(ops.begin(), ops.end(), node.op) == ops.end()) ops.push_back(node.op);
  }
  const bool many = ops.size() > kOperators;
  if (many) ops.resize(kOperators);
  return printable(fmt::format("{}{}", fmt::join(ops, ", "), many ? ", …" : ""));
}

std::string element_text(const Tensor& tensor, std::int64_t element) {
  if (tensor.type() == ElementType::string) {
    return python_text(tensor.data<std::string>()[static_cast<std::size_t>(element)]);
  }
  if (domain_of(tensor.type()) == Domain::unsigned_integer) {
    return std::to_string(static_cast<std::uint64_t>(tensor.integer(element)));
  }
  return is_real(tensor.type()) ? fmt::format("{:.9g}", tensor.real(element))
                                : std::to_string(tensor.integer(element));
}

std::string what_is_wrong(const ScriptSubject& subject) {
  const std::string ops = ops_of(subject.test->model.graph);
  if (!subject.expectation) return ops + " brings it down, or is refused.";
  const Expectation& told = *subject.expectation;
  switch (told.kind) {
    case Expectation::Kind::type:
      return fmt::format("{} gives {} where {} is right.", ops, standard_name(told.found.type()),
                         standard_name(told.right.type()));
    case Expectation::Kind::shape:
      return fmt::format("{} gives shape {} where {} is right.", ops, to_text(told.found.shape()),
                         to_text(told.right.shape()));
    case Expectation::Kind::element:
      break;
  }
  std::string text =
      fmt::format("{} gives {} where {} is right", ops, element_text(told.found, told.element),
                  element_text(told.right, told.element));
  if (told.right.size() > 1) {
    text += fmt::format("; {} of {} elements are wrong", told.outside, told.right.size());
  }
  return text + ".";
}

// One element of `found` as Python's own number or text, and the right one.
struct Compared {
  std::string value, right, wrong;
};

Compared compared(const Expectation& told) {
  const std::string element = fmt::format("np.ravel(found[{}])[{}]", told.output, told.element);
  const Domain domain = domain_of(told.right.type());
  const char* kind = domain == Domain::text      ? "str"
                     : domain == Domain::boolean ? "bool"
                     : domain == Domain::real    ? "float"
                                                 : "int";
  std::string right = element_text(told.right, told.element);
  if (domain == Domain::boolean) right = right == "1" ? "True" : "False";
  if (domain == Domain::real) right = python_real(told.right.real(told.element));
  Compared result{fmt::format("{}({})", kind, element), right, "value != " + right};
  if (right == "np.nan") {
    result.wrong = "not np.isnan(value)";
  } else if (told.tolerance > 0 && right.find("np.") == std::string::npos) {
    // A little more than the bound, whose printed digits are few.
    const std::string tolerance = fmt::format("{:.2e}", told.tolerance * 1.01);
    result.wrong = fmt::format("not abs(value - {}) <= {}", right, tolerance);
    result.right += " +- " + tolerance;
  }
  return result;
}

Result<std::vector<std::string>> decision(const ScriptSubject& subject) {
  if (!subject.expectation) return std::vector<std::string>{"print(\"found an answer\")"};
  const Expectation& told = *subject.expectation;
  const std::string output = fmt::format("found[{}]", told.output);
  if (domain_of(told.right.type()) == Domain::complex) return refused("complex results");
  if (told.kind == Expectation::Kind::shape) {
    const std::string shape = tuple_source(told.right.shape());
    return std::vector<std::string>{
        fmt::format("print(\"expected shape {}, found\", {}.shape)", shape, output),
        fmt::format("raise SystemExit({}.shape != {})", output, shape)};
  }
  if (told.kind == Expectation::Kind::type) {
    if (!numpy_has(told.right.type()) || !numpy_has(told.found.type())) {
      return refused("numpy has not the types that differ");
    }
    const std::string type = numpy_type(told.right.type());
    return std::vector<std::string>{
        fmt::format("print(\"expected {}, found\", {}.dtype)", standard_name(told.right.type()),
                    output),
        fmt::format("raise SystemExit(bool({}.dtype != {}))", output, type)};
  }
  const Compared one = compared(told);
  return std::vector<std::string>{
      "value = " + one.value,
      fmt::format("print({}, value)", python_text(fmt::format("expected {} at element {}, found",
                                                              one.right, told.element))),
      fmt::format("raise SystemExit(bool({}))", one.wrong)};
}

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

class Writer {
 public:
  Writer(const ScriptSubject& subject, const VariableNames& names, const ScriptParts& parts)
      : subject_(subject), names_(names), parts_(parts) {}

  Result<Script> write() {
    Result<std::vector<std::string>> end = decision(subject_);
    if (!end) return end.error();
    if (Result<void> done = write_variables(); !done) return done.error();
    if (parts_.from_model) write_model();
    if (!subject_.expectation) body_.emplace_back("print(\"expected an answer\", flush=True)");
    body_.insert(body_.end(), parts_.lines.begin(), parts_.lines.end());
    body_.insert(body_.end(), end->begin(), end->end());
    return assemble();
  }

 private:
  const Value* value_of(const std::string& name) const {
    for (const NamedValue& input : subject_.test->inputs) {
      if (input.name == name) return &input.value;
    }
    return nullptr;
  }

  const Tensor* weight_of(const std::string& name) const {
    for (const NamedTensor& one : subject_.test->model.graph.initializers) {
      if (one.name == name) return &one.tensor;
    }
    return nullptr;
  }

  Result<std::string> source_of(const std::string& name, const std::string& variable) {
    const auto generated = subject_.generated.find(name);
    if (generated != subject_.generated.end()) return generated->second;
    const Value* value = value_of(name);
    const Tensor* weight = weight_of(name);
    if (value && value->kind() == Value::Kind::sequence) {
      std::vector<std::string> parts;
      for (const Value& one : value->elements()) {
        if (!one.is_tensor()) return refused("sequences of other things than tensors");
        parts.push_back(array_source(one.tensor()));
      }
      return fmt::format("[{}]", fmt::join(parts, ", "));
    }
    if (!weight && (!value || !value->is_tensor())) {
      return refused("inputs that are neither tensors nor sequences");
    }
    const Tensor& tensor = weight ? *weight : value->tensor();
    if (parts_.from_model && !numpy_has(tensor.type())) {
      return refused(fmt::format("numpy has no {}", standard_name(tensor.type())));
    }
    inline_ += written_elements(tensor);
    if (written_elements(tensor) <= kInline && inline_ <= 2 * kInline) return array_source(tensor);
    script_.data.emplace_back(variable, in_numpy(tensor));
    return fmt::format("data[{}]", python_text(variable));
  }

  Result<void> write_variables() {
    for (const auto& [name, variable] : names_) {
      std::string put = "{}";
      if (!parts_.from_model) {
        const auto used = std::find_if(parts_.variables.begin(), parts_.variables.end(),
                                       [&](const auto& one) { return one.first == variable; });
        if (used == parts_.variables.end()) continue;
        put = used->second;
      } else if (!value_of(name) && !weight_of(name)) {
        continue;
      }
      const Result<std::string> source = source_of(name, variable);
      if (!source) return source.error();
      const std::size_t place = put.find("{}");
      if (place == std::string::npos) return refused("a variable that is not written");
      variables_.emplace_back(variable, put.replace(place, 2, *source));
    }
    return {};
  }

  // A line each, or all in one statement where lines are scarce.
  std::vector<std::string> variable_lines(bool compact) const {
    std::vector<std::string> lines, names, sources;
    if (!script_.data.empty()) lines.emplace_back("data = np.load(__file__[:-3] + \".npz\")");
    for (const auto& [name, source] : variables_) {
      if (!compact) lines.push_back(fmt::format("{} = {}", name, source));
      names.push_back(name);
      sources.push_back(source);
    }
    if (compact && !names.empty()) {
      const char* end = names.size() == 1 ? "," : "";
      lines.push_back(
          fmt::format("{}{} = ({}{})", fmt::join(names, ", "), end, fmt::join(sources, ", "), end));
    }
    return lines;
  }

  void write_model() {
    std::map<std::string, std::string> names(names_.begin(), names_.end());
    std::set<std::string> taken;
    for (const auto& [name, variable] : names_) taken.insert(variable);
    for (const Node& node : subject_.test->model.graph.nodes) {
      for (const std::string& output : node.outputs) {
        if (output.empty() || names.contains(output)) continue;
        std::string short_name = output;
        for (int i = 1; !is_variable(short_name) || taken.contains(short_name); ++i) {
          short_name = fmt::format("y{}", i);
        }
        taken.insert(short_name);
        names.emplace(output, short_name);
      }
    }
    std::optional<std::vector<std::string>> lines;
    if (parts_.has_onnx) lines = model_source(subject_.test->model, names);
    script_.needs_model = !lines;
    if (lines) {
      built_ = true;
      body_.insert(body_.end(), lines->begin(), lines->end());
    } else {
      body_.emplace_back("model = open(__file__[:-3] + \"/model.onnx\", \"rb\").read()");
    }
    std::vector<std::string> feed;
    for (const NamedValue& input : subject_.test->inputs) {
      if (!input.value.present()) continue;
      const std::string variable = variable_of(input.name);
      feed.push_back(fmt::format("{}: {}", python_text(lines ? variable : input.name), variable));
    }
    body_.push_back(fmt::format("feed = {{{}}}", fmt::join(feed, ", ")));
  }

  std::string variable_of(const std::string& name) const {
    for (const auto& [value, variable] : names_) {
      if (value == name) return variable;
    }
    return name;
  }

  std::vector<std::string> head() const {
    std::vector<std::string> lines = {
        fmt::format("# backend: {} {}", printable(subject_.backend), printable(subject_.version)),
        "# " + what_is_wrong(subject_)};
    if (!subject_.explanation.empty()) {
      lines.push_back(fmt::format("# Known as: {}.", printable(subject_.explanation)));
    }
    std::vector<std::string> imports = parts_.imports;
    imports.emplace_back("import numpy as np");
    if (built_) {
      const bool arrays = std::any_of(body_.begin(), body_.end(), [](const std::string& line) {
        return line.find("numpy_helper.") != std::string::npos;
      });
      imports.push_back(
          fmt::format("from onnx import TensorProto, helper{}", arrays ? ", numpy_helper" : ""));
    }
    // Plain imports, then those of names, then what sets a framework up.
    const auto rank = [](const std::string& line) {
      return line.starts_with("import ") ? 0 : line.starts_with("from ") ? 1 : 2;
    };
    std::stable_sort(imports.begin(), imports.end(), [&](const auto& a, const auto& b) {
      return rank(a) != rank(b) ? rank(a) < rank(b) : rank(a) < 2 && a < b;
    });
    lines.insert(lines.end(), imports.begin(), imports.end());
    return lines;
  }

  std::vector<std::string> lines(bool compact, bool broken) const {
    std::vector<std::string> all = head(), body = variable_lines(compact);
    body.insert(body.end(), body_.begin(), body_.end());
    if (!compact) all.emplace_back();
    for (const std::string& line : body) {
      const std::vector<std::string> parts = broken ? wrapped(line) : std::vector{line};
      all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
  }

  // The whole text, in the most readable form that has room.
  Result<Script> assemble() {
    std::vector<std::string> all;
    for (const auto& [compact, broken] :
         {std::pair{false, true}, {true, true}, {false, false}, {true, false}}) {
      all = lines(compact, broken);
      if (all.size() > kMostScriptLines) continue;
      script_.text = fmt::format("{}\n", fmt::join(all, "\n"));
      return std::move(script_);
    }
    return refused(fmt::format("it would take {} lines", all.size()));
  }

  const ScriptSubject& subject_;
  const VariableNames& names_;
  const ScriptParts& parts_;
  Script script_;
  std::vector<std::pair<std::string, std::string>> variables_;  // with their source
  std::vector<std::string> body_;                               // behind them
  std::int64_t inline_ = 0;
  bool built_ = false;
};

}  // namespace

VariableNames name_variables(const Graph& graph) {
  VariableNames names;
  std::set<std::string> taken;
  const auto add = [&](const std::string& name) {
    for (const auto& [known, variable] : names) {
      if (known == name) return;
    }
    std::string variable = name;
    for (int i = 1; !is_variable(variable) || taken.contains(variable); ++i) {
      variable = fmt::format("x{}", i);
    }
    taken.insert(variable);
    names.emplace_back(name, variable);
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
