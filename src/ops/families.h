// The families of operators, one file each.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator> unary_operators();
std::vector<Operator> activation_operators();
std::vector<Operator> arithmetic_operators();
std::vector<Operator> logic_operators();
std::vector<Operator> reduce_operators();
std::vector<Operator> rows_operators();
std::vector<Operator> pool_operators();
std::vector<Operator> matrix_operators();
std::vector<Operator> conv_operators();
std::vector<Operator> shape_operators();
std::vector<Operator> layout_operators();
std::vector<Operator> index_operators();
std::vector<Operator> select_operators();
std::vector<Operator> sample_operators();
std::vector<Operator> norm_operators();
std::vector<Operator> recurrent_operators();
std::vector<Operator> attention_operators();
std::vector<Operator> quantize_operators();
std::vector<Operator> cast_operators();
std::vector<Operator> signal_operators();
std::vector<Operator> random_operators();
std::vector<Operator> control_operators();
std::vector<Operator> container_operators();
std::vector<Operator> text_operators();
std::vector<Operator> loss_operators();
std::vector<Operator> training_operators();
std::vector<Operator> image_operators();
std::vector<Operator> ml_linear_operators();
std::vector<Operator> ml_trees_operators();
std::vector<Operator> ml_encode_operators();

}  // namespace assay
