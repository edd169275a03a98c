// What the files of the pooling family share.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/operator.h"
#include "scalar/sequences.h"

namespace assay {

// Roles of kernel_shape, strides, pads and auto_pad, and of the further attributes given.
std::vector<AttributeRole> pool_roles(std::vector<AttributeRole> more);
void require_pool(Check& c);
void infer_pool(Infer& n);

double norm_exponent(const Call& call);
void require_norm(Check& c);

// The p-norm. Padding adds nothing to it.
struct Norm {
  double p;
  explicit Norm(const Call& call) : p(norm_exponent(call)) {}

  template <class S>
  S operator()(std::span<const S> x) const {
    if (p == 1) return sum_of_absolutes(x);
    if (p == 2) return sqrt(sum_of_squares(x));
    std::vector<S> powers;
    powers.reserve(x.size());
    for (const S& element : x) powers.push_back(pow(abs(element), constant<S>(p)));
    return pow(sum(std::span<const S>(powers)), constant<S>(1) / constant<S>(p));
  }
};

// Variants of several operators.
void pads_on_the_other_side(Builder& b);
void valid_rounds_up(Builder& b);
// SAME_UPPER and SAME_LOWER as if the windows were not dilated.
void padding_ignores_dilations(Builder& b);
// The input with its padding made explicit, `behind` more elements behind each axis, for a node
// whose own padding is then zero.
std::string padded_input(Builder& b, double value, const std::vector<std::int64_t>& behind);

std::vector<Operator> global_pool_operators();
std::vector<Operator> max_pool_operators();
std::vector<Operator> region_pool_operators();

}  // namespace assay
