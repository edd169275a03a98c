// Matrix products, biases.
#include <numeric>

#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

void mat_mul(Builder& b) {
  const auto side = [&](std::size_t i, const char* flag) {
    return b.site().integer(flag) ? transpose(b, b.input(i), {1, 0}) : b.input(i);
  };
  b.output(0, b("MatMul", {side(0, "transpose_a"), side(1, "transpose_b")}));
}

// The last two axes exchanged, whatever comes before them.
std::string adjoint(Builder& b, std::size_t i) {
  const auto rank = b.site().rank(i);
  if (!rank || *rank < 2) return b("Einsum", {b.input(i)}, {attribute("equation", "...ij->...ji")});
  std::vector<std::int64_t> perm(static_cast<std::size_t>(*rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose(b, b.input(i), perm);
}

void batch_mat_mul(Builder& b) {
  const std::string x = b.site().integer("adj_x") ? adjoint(b, 0) : b.input(0);
  const std::string y = b.site().integer("adj_y") ? adjoint(b, 1) : b.input(1);
  b.output(0, b("MatMul", {x, y}));
}

void bias_add(Builder& b) {
  b.output(0, b("Add", {b.input(0), along_channels(b, b.input(1), b.input(0))}));
}

void bias_add_grad(Builder& b) {
  b.output(0, sum_over(b, b.input(0), channel_axes(b, b.input(0)), false));
}

void einsum(Builder& b) {
  b.output(0, b("Einsum", all_inputs(b), {attribute("equation", b.site().text("equation"))}));
}

}  // namespace

std::vector<Definition> matrix_definitions() {
  return {{"BatchMatMul", batch_mat_mul},
          {"BatchMatMulV2", batch_mat_mul},
          {"BiasAdd", bias_add},
          {"BiasAddGrad", bias_add_grad},
          {"BiasAddV1", bias_add},
          {"Einsum", einsum},
          {"MatMul", mat_mul}};
}

}  // namespace assay::tensorflow
