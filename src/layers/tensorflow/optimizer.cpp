// Steps of optimisers: the value that a variable has after the step.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

std::string scaled(Builder& b, const std::string& value, const std::string& by) {
  return b("Mul", {value, by});
}

std::string without(Builder& b, const std::string& share) {
  return b("Sub", {number(b, 1), share});
}

// old * share + fresh * (1 - share), where it shows that a mean of squares is not negative
std::string towards(Builder& b, const std::string& old, const std::string& fresh,
                    const std::string& share) {
  return b("Add", {scaled(b, old, share), scaled(b, fresh, without(b, share))});
}

// old * share + fresh * (1 - share), which is not negative where both are not
std::string blended(Builder& b, const std::string& old, const std::string& fresh,
                    const std::string& share) {
  return b("Add", {scaled(b, old, share), scaled(b, fresh, without(b, share))});
}

// (var, rate, gradient)
void gradient_descent(Builder& b) {
  b.output(0, b("Sub", {b.input(0), scaled(b, b.input(1), b.input(2))}));
}

// (var, sum, rate, gradient, momentum)
void momentum(Builder& b) {
  const std::string sum = b("Add", {scaled(b, b.input(1), b.input(4)), b.input(3)});
  std::string step = scaled(b, sum, b.input(2));
  if (b.site().integer("use_nesterov")) {
    const std::string ahead = scaled(b, scaled(b, sum, b.input(4)), b.input(2));
    step = b("Add", {scaled(b, b.input(3), b.input(2)), ahead});
  }
  b.output(0, b("Sub", {b.input(0), step}));
}

// (var, sum, rate, gradient, momentum): the rate is inside the sum
void keras_momentum(Builder& b) {
  const std::string way = scaled(b, b.input(3), b.input(2));
  const std::string sum = b("Sub", {scaled(b, b.input(1), b.input(4)), way});
  const bool ahead = b.site().integer("use_nesterov") != 0;
  const std::string step = ahead ? b("Sub", {scaled(b, sum, b.input(4)), way}) : sum;
  b.output(0, b("Add", {b.input(0), step}));
}

// (var, m, v, beta1^t, beta2^t, rate, beta1, beta2, epsilon, gradient)
void adam(Builder& b) {
  const std::string gradient = b.input(9), beta = b.input(6);
  const std::string fair = b("Sqrt", {without(b, b.input(4))});
  const std::string rate = b("Div", {scaled(b, b.input(5), fair), without(b, b.input(3))});
  const std::string m = towards(b, b.input(1), gradient, beta);
  const std::string v = blended(b, b.input(2), square(b, gradient), b.input(7));
  const std::string size = b("Add", {b("Sqrt", {v}), b.input(8)});
  std::string way = m;
  if (b.site().integer("use_nesterov")) {
    way = b("Add", {scaled(b, m, beta), scaled(b, gradient, without(b, beta))});
  }
  b.output(0, b("Sub", {b.input(0), b("Div", {scaled(b, way, rate), size})}));
}

// The step that root-mean-square propagation takes: (momentum, rate, momentum's share, epsilon).
void rms_step(Builder& b, std::size_t first, const std::string& mean, const std::string& gradient) {
  const std::string root = b("Sqrt", {b("Add", {mean, b.input(first + 4)})});
  const std::string step = b("Div", {scaled(b, gradient, b.input(first + 1)), root});
  const std::string sum = b("Add", {scaled(b, b.input(first), b.input(first + 3)), step});
  b.output(0, b("Sub", {b.input(0), sum}));
}

// (var, mean square, momentum, rate, rho, momentum's share, epsilon, gradient)
void rms_prop(Builder& b) {
  const std::string mean = blended(b, b.input(1), square(b, b.input(7)), b.input(4));
  rms_step(b, 2, mean, b.input(7));
}

// (var, mean, mean square, momentum, rate, rho, momentum's share, epsilon, gradient)
void centered_rms_prop(Builder& b) {
  const std::string gradient = b.input(8);
  const std::string mean = towards(b, b.input(1), gradient, b.input(5));
  const std::string squares = towards(b, b.input(2), square(b, gradient), b.input(5));
  rms_step(b, 3, b("Sub", {squares, square(b, mean)}), gradient);
}

// (var, sum, rate, gradient)
void adagrad(Builder& b) {
  const bool update = b.site().integer("update_slots", 1) != 0;
  const std::string sum = update ? b("Add", {b.input(1), square(b, b.input(3))}) : b.input(1);
  const std::string step = b("Div", {scaled(b, b.input(3), b.input(2)), b("Sqrt", {sum})});
  b.output(0, b("Sub", {b.input(0), step}));
}

// (var, sum, sum of updates, rate, rho, epsilon, gradient)
void adadelta(Builder& b) {
  const std::string epsilon = b.input(5), gradient = b.input(6);
  const std::string sum = blended(b, b.input(1), square(b, gradient), b.input(4));
  const std::string top = b("Sqrt", {b("Add", {b.input(2), epsilon})});
  const std::string bottom = b("Sqrt", {b("Add", {sum, epsilon})});
  const std::string update = scaled(b, b("Div", {top, bottom}), gradient);
  b.output(0, b("Sub", {b.input(0), scaled(b, update, b.input(3))}));
}

constexpr double kLargest = 3.4028234663852886e38;
constexpr double kBelowOne = 0.9999999;  // powers of a decay; 1 stands for no step at all
constexpr SlotRange kAdamSlots[] = {{2, 0, kLargest}, {3, 0, kBelowOne}, {4, 0, kBelowOne}};
constexpr SlotRange kSecondSlot[] = {{1, 0, kLargest}};
constexpr SlotRange kAdadeltaSlots[] = {{1, 0, kLargest}, {2, 0, kLargest}};

struct Row {
  std::string_view op;
  Composition body;
  std::span<const SlotRange> slots = {};
};
constexpr Row kRows[] = {
    {"ApplyAdadelta", adadelta, kAdadeltaSlots},
    {"ApplyAdagrad", adagrad, kSecondSlot},
    {"ApplyAdam", adam, kAdamSlots},
    {"ApplyCenteredRMSProp", centered_rms_prop},
    {"ApplyGradientDescent", gradient_descent},
    {"ApplyMomentum", momentum},
    {"ApplyRMSProp", rms_prop, kSecondSlot},
    {"ResourceApplyAdadelta", adadelta, kAdadeltaSlots},
    {"ResourceApplyAdagrad", adagrad, kSecondSlot},
    {"ResourceApplyAdam", adam, kAdamSlots},
    {"ResourceApplyCenteredRMSProp", centered_rms_prop},
    {"ResourceApplyGradientDescent", gradient_descent},
    {"ResourceApplyKerasMomentum", keras_momentum},
    {"ResourceApplyMomentum", momentum},
    {"ResourceApplyRMSProp", rms_prop, kSecondSlot},
};

}  // namespace

std::vector<Definition> optimizer_definitions() {
  std::vector<Definition> all;
  for (const Row& row : kRows) all.push_back({row.op, row.body, 1, "", Part::value, row.slots});
  return all;
}

}  // namespace assay::tensorflow
