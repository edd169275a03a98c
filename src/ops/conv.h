// What the files of the convolution family share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/operator.h"
#include "patterns/patches.h"
#include "patterns/window.h"

namespace assay {

// Where a convolution has its input, weight and bias, and what the standard calls them.
struct ConvInputs {
  std::size_t x = 0, w = 1;
  std::string_view x_name = "X", w_name = "W", b_name = "B";
};

std::vector<AttributeRole> conv_roles(std::vector<AttributeRole> more = {});

// The attributes of windows, with the kernel's extents from the weight where none are given; an
// empty kernel if they are unknown.
WindowAttributes conv_attributes(const Site& site, const Dims& x, const Dims& w);

// The preconditions of X (N x C x …), W (M x C/group x …) and a bias; whether they certainly hold.
bool require_conv(Check& c, const ConvInputs& inputs);
// Channels and maps divisible by the group, weights for the channels of one group, a bias of one
// number a map.
bool require_groups(Check& c, const ConvInputs& inputs);
void infer_conv(Infer& n, const ConvInputs& inputs, ElementType type);

// Kernels turned round in all spatial axes: a convolution in the mathematician's sense.
void kernels_turned(Builder& b);

PatchAxis patch_axis(const WindowGeometry& g, std::size_t d);
Patches conv_patches(const Site& site, const Shape& x, const Shape& w);

std::vector<Operator> quantized_conv_operators();
std::vector<Operator> transposed_conv_operators();
std::vector<Operator> deformed_conv_operators();
std::vector<Operator> column_operators();

}  // namespace assay
