// Activation functions and operations that pass a value on.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

constexpr Renamed kRenamed[] = {
    {"CheckNumerics", "Identity"},
    {"DeepCopy", "Identity"},
    {"EnsureShape", "Identity"},
    {"Identity", "Identity"},
    {"PreventGradient", "Identity"},
    {"Print", "Identity"},
    {"RefIdentity", "Identity"},
    {"Relu", "Relu"},
    {"Selu", "Selu"},
    {"Sigmoid", "Sigmoid"},
    {"Snapshot", "Identity"},
    {"Softplus", "Softplus"},
    {"Softsign", "Softsign"},
    {"StopGradient", "Identity"},
    {"Tanh", "Tanh"},
};

void renamed(Builder& b) {
  b.output(0, b(std::string(standard_name(kRenamed, b.site().node().op)), {b.input(0)}));
}

void elu(Builder& b) { b.output(0, b("Elu", {b.input(0)}, {attribute("alpha", 1.0)})); }

void leaky_relu(Builder& b) {
  const double slope = b.site().real("alpha", static_cast<double>(0.2F));
  b.output(0, b("LeakyRelu", {b.input(0)}, {attribute("alpha", slope)}));
}

void relu6(Builder& b) { b.output(0, b("Clip", {b.input(0), number(b, 0), number(b, 6)})); }

void softmax(Builder& b) { b.output(0, b("Softmax", {b.input(0)}, {attribute("axis", -1)})); }

void log_softmax(Builder& b) {
  b.output(0, b("LogSoftmax", {b.input(0)}, {attribute("axis", -1)}));
}

void identity_n(Builder& b) {
  for (std::size_t i = 0; i < b.site().input_count(); ++i) {
    b.output(i, b("Identity", {b.input(i)}));
  }
}

}  // namespace

std::vector<Definition> activation_definitions() {
  std::vector<Definition> all = {{"Elu", elu},
                                 {"IdentityN", identity_n, 0, "T"},
                                 {"LeakyRelu", leaky_relu},
                                 {"LogSoftmax", log_softmax},
                                 {"Relu6", relu6},
                                 {"Softmax", softmax}};
  for (const Renamed& row : kRenamed) all.push_back({row.op, renamed});
  return all;
}

}  // namespace assay::tensorflow
