// Gradients of elementwise operations, as TensorFlow's own gradient nodes have them.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// Where `condition` holds the gradient passes, elsewhere it is 0.
std::string pass_where(Builder& b, const std::string& condition, const std::string& gradient) {
  return b("Where", {condition, gradient, number(b, 0)});
}

// (gradient, features)
void relu_grad(Builder& b) {
  b.output(0, pass_where(b, b("Greater", {b.input(1), number(b, 0)}), b.input(0)));
}

void relu6_grad(Builder& b) {
  const std::string above = b("Greater", {b.input(1), number(b, 0)});
  const std::string below = b("Less", {b.input(1), number(b, 6)});
  b.output(0, pass_where(b, b("And", {above, below}), b.input(0)));
}

void leaky_relu_grad(Builder& b) {
  const double slope = b.site().real("alpha", static_cast<double>(0.2F));
  b.output(0, b("Where", {b("Greater", {b.input(1), number(b, 0)}), b.input(0),
                          b("Mul", {b.input(0), number(b, slope)})}));
}

// (gradient, outputs)
void elu_grad(Builder& b) {
  const std::string slope = b("Add", {b.input(1), number(b, 1)});
  b.output(0, b("Where", {b("Less", {b.input(1), number(b, 0)}), b("Mul", {slope, b.input(0)}),
                          b.input(0)}));
}

void selu_grad(Builder& b) {
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kScaleAlpha = 1.7580993408473768599402175208123;
  const std::string slope = b("Add", {b.input(1), number(b, kScaleAlpha)});
  b.output(0, b("Where", {b("Less", {b.input(1), number(b, 0)}), b("Mul", {slope, b.input(0)}),
                          b("Mul", {b.input(0), number(b, kScale)})}));
}

// (outputs, gradient)
void sigmoid_grad(Builder& b) {
  const std::string rest = b("Sub", {number(b, 1), b.input(0)});
  b.output(0, b("Mul", {b("Mul", {b.input(1), b.input(0)}), rest}));
}

void tanh_grad(Builder& b) {
  const std::string slope = b("Sub", {number(b, 1), square(b, b.input(0))});
  b.output(0, b("Mul", {b.input(1), slope}));
}

void sqrt_grad(Builder& b) {
  const std::string half = b("Mul", {b.input(1), number(b, 0.5)});
  b.output(0, b("Div", {half, b.input(0)}));
}

void rsqrt_grad(Builder& b) {
  const std::string cube = b("Mul", {square(b, b.input(0)), b.input(0)});
  b.output(0, b("Mul", {b("Mul", {b.input(1), number(b, -0.5)}), cube}));
}

void reciprocal_grad(Builder& b) {
  b.output(0, b("Mul", {b("Neg", {b.input(1)}), square(b, b.input(0))}));
}

// (gradient, features)
void softplus_grad(Builder& b) { b.output(0, b("Mul", {b.input(0), b("Sigmoid", {b.input(1)})})); }

void softsign_grad(Builder& b) {
  const std::string side = b("Add", {b("Abs", {b.input(1)}), number(b, 1)});
  b.output(0, b("Div", {b.input(0), square(b, side)}));
}

}  // namespace

std::vector<Definition> activation_gradient_definitions() {
  return {{"EluGrad", elu_grad},
          {"InvGrad", reciprocal_grad},
          {"LeakyReluGrad", leaky_relu_grad},
          {"ReciprocalGrad", reciprocal_grad},
          {"Relu6Grad", relu6_grad},
          {"ReluGrad", relu_grad},
          {"RsqrtGrad", rsqrt_grad},
          {"SeluGrad", selu_grad},
          {"SigmoidGrad", sigmoid_grad},
          {"SoftplusGrad", softplus_grad},
          {"SoftsignGrad", softsign_grad},
          {"SqrtGrad", sqrt_grad},
          {"TanhGrad", tanh_grad}};
}

}  // namespace assay::tensorflow
