#include "reproduce/python_source.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "tensor/utf.h"

namespace assay {
namespace {

constexpr std::size_t kColumns = 100;

// Names that mean something else in a script: Python's own, and those of its other lines.
constexpr auto kTaken = std::to_array<std::string_view>(
    {"False",     "None",        "True",     "abs",         "and",        "as",          "assert",
     "async",     "await",       "bool",     "break",       "class",      "compiled",    "read",
     "continue",  "core",        "data",     "def",         "del",        "elif",        "else",
     "evaluator", "exact",       "except",   "feed",        "finally",    "float",       "for",
     "found",     "from",        "global",   "graph",       "make",       "if",          "import",
     "in",        "info",        "inputs",   "kind",        "n",          "weights",     "int",
     "is",        "jax",         "jnp",      "lambda",      "list",       "lite",        "model",
     "mx",        "nodes",       "nonlocal", "not",         "np",         "arrays",      "one",
     "onnx",      "onnxruntime", "openvino", "options",     "opsets",     "value",       "or",
     "pass",      "print",       "raise",    "results",     "return",     "runner",      "slice",
     "specs",     "str",         "tf",       "torch",       "traced",     "try",         "tuple",
     "while",     "with",        "yield",    "Interpreter", "SystemExit", "TensorProto", "keras",
     "layer",     "os",          "reader",   "theano"});

std::string element_source(const Tensor& tensor, std::int64_t i) {
  switch (domain_of(tensor.type())) {
    case Domain::text:
      return python_text(tensor.data<std::string>()[static_cast<std::size_t>(i)]);
    case Domain::boolean:
      return tensor.integer(i) ? "True" : "False";
    case Domain::signed_integer:
      return std::to_string(tensor.integer(i));
    case Domain::unsigned_integer:
      return std::to_string(static_cast<std::uint64_t>(tensor.integer(i)));
    case Domain::complex: {
      std::complex<double> value;
      if (tensor.type() == ElementType::c64) {
        value = tensor.data<std::complex<float>>()[static_cast<std::size_t>(i)];
      } else {
        value = tensor.data<std::complex<double>>()[static_cast<std::size_t>(i)];
      }
      return fmt::format("complex({}, {})", python_real(value.real()), python_real(value.imag()));
    }
    default:
      return python_real(tensor.real(i), tensor.type());
  }
}

// Whether every element has the first one's source.
bool is_uniform(const Tensor& tensor) {
  if (tensor.size() < 2) return false;
  const std::string first = element_source(tensor, 0);
  for (std::int64_t i = 1; i < tensor.size(); ++i) {
    if (element_source(tensor, i) != first) return false;
  }
  return true;
}

}  // namespace

std::string python_text(std::string_view text) {
  std::string source = "\"";
  const std::string clean = to_utf8(text);
  for (std::size_t i = 0; i < clean.size();) {
    const auto byte = static_cast<unsigned char>(clean[i]);
    std::uint32_t code = byte;
    int length = 1;
    if (byte >= 0x80) {
      length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      code = byte & (0x7Fu >> length);
      for (int k = 1; k < length; ++k) {
        code = code << 6 |
               (static_cast<unsigned char>(clean[i + static_cast<std::size_t>(k)]) & 0x3Fu);
      }
    }
    i += static_cast<std::size_t>(length);
    if (code == '"' || code == '\\') {
      source += {'\\', static_cast<char>(code)};
    } else if (code >= 0x20 && code < 0x7F) {
      source += static_cast<char>(code);
    } else {
      source += code < 0x100     ? fmt::format("\\x{:02x}", code)
                : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                                 : fmt::format("\\U{:08x}", code);
    }
  }
  return source + "\"";
}

std::string python_real(double value, ElementType type) {
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  // Formats below 32 bits are read as float32, which has all their values.
  std::string text = type == ElementType::f64 ? fmt::format("{}", value)
                                              : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool numpy_has(ElementType type) {
  return type <= ElementType::c128 && type != ElementType::undefined;
}

std::string numpy_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "np.float32";
    case ElementType::f64:
      return "np.float64";
    case ElementType::boolean:
      return "np.bool_";
    case ElementType::string:
      return "object";
    case ElementType::u4:
    case ElementType::u2:
      return "np.uint8";
    case ElementType::i4:
    case ElementType::i2:
      return "np.int8";
    default:
      break;
  }
  return numpy_has(type) ? fmt::format("np.{}", standard_name(type)) : "np.float32";
}

std::string tuple_source(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::int64_t written_elements(const Tensor& tensor) {
  return is_uniform(tensor) ? 1 : tensor.size();
}

std::string array_source(const Tensor& tensor) {
  const std::string type = numpy_type(tensor.type());
  if (tensor.size() == 0)
    return fmt::format("np.zeros({}, {})", tuple_source(tensor.shape()), type);
  if (tensor.rank() == 0) return fmt::format("np.array({}, {})", element_source(tensor, 0), type);
  if (is_uniform(tensor)) {
    return fmt::format("np.full({}, {}, {})", tuple_source(tensor.shape()),
                       element_source(tensor, 0), type);
  }
  std::vector<std::string> elements;
  for (std::int64_t i = 0; i < tensor.size(); ++i) elements.push_back(element_source(tensor, i));
  std::string flat = fmt::format("np.array([{}], {})", fmt::join(elements, ", "), type);
  if (tensor.rank() == 1) return flat;
  return fmt::format("{}.reshape({})", flat, fmt::join(tensor.shape(), ", "));
}

bool is_variable(std::string_view name) {
  const auto letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const auto inner = [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 16 || !letter(name[0])) return false;
  if (!std::all_of(name.begin(), name.end(), inner)) return false;
  if (name.size() > 1 && name[0] == 'v' &&
      name.find_first_not_of("0123456789", 1) == std::string_view::npos) {
    return false;  // those of the framework's lines
  }
  return std::find(kTaken.begin(), kTaken.end(), name) == kTaken.end();
}

std::vector<std::string> wrapped(const std::string& statement) {
  std::vector<std::string> lines;
  const std::string margin(statement.find_first_not_of(' ') + 4, ' ');
  std::string line;
  std::size_t breakable = 0;  // behind the last comma inside of brackets
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    const char c = statement[i];
    line += c;
    if (quote) {
      if (c == '\\' && i + 1 < statement.size()) line += statement[++i];
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth > 0) {
      breakable = line.size();
    }
    if (line.size() < kColumns || breakable == 0 || i + 1 == statement.size()) continue;
    lines.push_back(line.substr(0, breakable));
    line.erase(0, breakable);
    line.replace(0, std::min(line.find_first_not_of(' '), line.size()), margin);
    breakable = 0;
  }
  lines.push_back(line);
  return lines;
}

}  // namespace assay
