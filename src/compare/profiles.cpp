// What is known of how well backends compute functions, a line a measurement.
#include <algorithm>
#include <map>
#include <string_view>

#include "compare/judge.h"

namespace assay {
namespace {

struct Line {
  std::string_view backend;
  Operation operation;
  OperationError error;  // units in the last place, and absolute
};

// On x86-64 in float32, against double on two million points: e^x with x in [-20, 20] for the first
// five and the logarithm, [-20, 20] for the others. The worst seen is in the remark. What is not
// here has the four units that every function is allowed.
constexpr Line kLines[] = {
    {"onnxruntime", Operation::sigmoid, {4, 2e-7}},   // 1.31; by node over the models of the tests
    {"onnxruntime", Operation::tanh, {4, 3e-7}},      //
    {"onnxruntime", Operation::erf, {4, 2e-7}},       //
    {"onnxruntime", Operation::asin, {4.5, 0}},       // 4.33
    {"onnxruntime", Operation::acos, {4.5, 0}},       // 4.29
    {"openvino", Operation::divide, {1.5, 0}},        // 2026.4.1: 1.46
    {"openvino", Operation::sigmoid, {4, 2e-38}},     // 0 near the smallest normal number
    {"openvino", Operation::erf, {4, 5.5e-7}},        // 5.0e-7 beyond four units
    {"openvino", Operation::softplus, {4, 2e-6}},     // 1.9e-6
    {"torch", Operation::square_root, {0.8, 0}},      // 2.15: 0.75, where 0.5 is the best
    {"torch", Operation::sigmoid, {4, 2e-7}},         // 2.4
    {"torch-compile", Operation::erf, {4, 5.5e-7}},   // 2.15: 5.0e-7 beyond four units
    {"jax", Operation::divide, {1.5, 0}},             // 0.10.2: 1.38 by one number, a reciprocal
    {"jax", Operation::tanh, {6, 0}},                 // 4.7
    {"jax", Operation::erf, {6, 0}},                  // 5.5
    {"tflite", Operation::divide, {1.5, 0}},          // 2.3: AveragePool multiplies by 1 / n
    {"tflite", Operation::square_root, {2.5, 0}},     // 2.3: 2.31
    {"tflite", Operation::exp, {16, 0}},              // 15.8
    {"tflite", Operation::log, {4, 1.3e-7}},          // 1.2e-7 beyond four units
    {"tflite", Operation::sin, {4, 2.5e-7}},          // 2.2e-7, the same up to 10,000
    {"tflite", Operation::cos, {4, 2.5e-7}},          // 2.4e-7
    {"tensorflow-xla", Operation::divide, {1.5, 0}},  // 2.21: 1.14 by one number, a reciprocal
    {"tensorflow-xla", Operation::sinh, {9, 0}},      // 8.7
    {"tensorflow-xla", Operation::cosh, {9, 0}},      // 8.8
    {"tensorflow-xla", Operation::tanh, {4.5, 0}},    // 4.4
    {"tensorflow-xla", Operation::erf, {7, 0}},       // 6.7
    {"tensorflow-xla", Operation::softplus, {8, 0}},  // 7.4
    {"tensorflow", Operation::reciprocal, {3, 0}},    // 2.21: 2.7
    {"tensorflow", Operation::sigmoid, {6.5, 0}},     // 5.9
    {"tensorflow", Operation::tanh, {6.5, 0}},        // 5.6
    {"tensorflow", Operation::erf, {6.5, 0}},         // 6.0
};

// Whose processors run with subnormals set to zero, operands and results: seen by adding 0 to 1e-40
// and by multiplying 1e-30 with 1e-10.
constexpr std::string_view kFlushing[] = {
    "jax",             // 0.10.2
    "tensorflow",      // 2.21
    "tensorflow-xla",  // 2.21
    "tflite",          // 2.3
    "openvino",        // 2026.4.1, constants of a file as well
};

// What either of the two may do.
void join(Arithmetic& widest, const Arithmetic& other) {
  for (std::size_t i = 0; i < widest.functions.size(); ++i) {
    OperationError& error = widest.functions[i];
    error.ulps = std::max(error.ulps, other.functions[i].ulps);
    error.absolute = std::max(error.absolute, other.functions[i].absolute);
  }
  widest.flushes_subnormals = widest.flushes_subnormals || other.flushes_subnormals;
}

// A mode that compiles shows inner values as they are without it, so it may do both.
std::map<std::string_view, Arithmetic> read_lines() {
  std::map<std::string_view, Arithmetic> profiles;
  for (const Line& line : kLines) {
    profiles[line.backend].functions[static_cast<std::size_t>(line.operation)] = line.error;
  }
  for (const std::string_view backend : kFlushing) profiles[backend].flushes_subnormals = true;
  for (auto& [name, profile] : profiles) {
    const std::size_t dash = name.rfind('-');
    const auto base = profiles.find(dash == name.npos ? "" : name.substr(0, dash));
    if (base != profiles.end()) join(profile, base->second);
  }
  return profiles;
}

}  // namespace

const Arithmetic* profile_of(const std::string& backend) {
  static const std::map<std::string_view, Arithmetic> kProfiles = read_lines();
  std::string_view name = backend;
  while (true) {
    const auto found = kProfiles.find(name);
    if (found != kProfiles.end()) return &found->second;
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos) return nullptr;
    name = name.substr(0, dash);
  }
}

const Arithmetic* profile_of(const Backend& backend) {
  const Arithmetic* named = profile_of(backend.name());
  return named ? named : profile_of(backend.identity().framework);
}

Arithmetic joined_profile(const std::vector<std::unique_ptr<Backend>>& backends) {
  Arithmetic joined;
  for (const std::unique_ptr<Backend>& backend : backends) {
    if (const Arithmetic* one = profile_of(*backend)) join(joined, *one);
  }
  return joined;
}

std::optional<Arithmetic> joined_profile(const std::vector<std::string>& names) {
  Arithmetic joined;
  for (const std::string& name : names) {
    const Arithmetic* one = profile_of(name);
    if (!one && name != "reference") return std::nullopt;
    if (one) join(joined, *one);
  }
  return joined;
}

}  // namespace assay
