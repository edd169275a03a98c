#include "reproduce/check_source.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "reproduce/python_source.h"

namespace assay {
namespace {

constexpr std::size_t kOperators = 4;  // that are named
constexpr std::size_t kColumns = 98;

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

}  // namespace

std::string what_is_wrong(const Graph& graph, const std::optional<Expectation>& expectation) {
  const std::string ops = ops_of(graph);
  if (!expectation) return ops + " brings it down, or is refused.";
  const Expectation& told = *expectation;
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
  const std::string share =
      fmt::format("; {} of {} elements are wrong", told.outside, told.right.size());
  if (told.right.size() > 1 && text.size() + share.size() < kColumns) text += share;
  return text + ".";
}

Result<std::vector<std::string>> check_source(const std::optional<Expectation>& expectation) {
  if (!expectation) return std::vector<std::string>{"print(\"found an answer\")"};
  const Expectation& told = *expectation;
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

}  // namespace assay
