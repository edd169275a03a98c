"""Defects of fused pairs: each kernel alone is right, the one for both is not."""

import defects_layers as layers
import defects_math as math
import defects_shape as shape
import numpy as np
from planting import fused


def added_before_multiplied(site):
    """Compute (x + b) a for x a + b."""
    index = math._held_operand(site)
    factor = next((n for n in site.first.input if n in site.graph.tensors), None)
    site.need(factor is not None)
    scaled = site.emit("Mul", [site.node.input[index], factor])
    return site.emit("Add", [site.node.input[1 - index], scaled])


def epsilon_after_the_root(site):
    """Compute sqrt(x) + e for sqrt(x + e)."""
    held = next((n for n in site.first.input if n in site.graph.tensors), None)
    site.need(held is not None)
    other = next(n for n in site.first.input if n != held)
    return site.emit("Add", [site.emit("Sqrt", [other]), held])


def quick_swish(site):
    """Compute x sigmoid(1.702 x) for x sigmoid(x)."""
    x = site.first.input[0]
    site.need(x in site.node.input)
    steep = site.emit("Mul", [x, site.put(np.float32(1.702))])
    return site.emit("Mul", [x, site.emit("Sigmoid", [steep])])


def border_of_zeros(site):
    """Fold a reflecting padding into the convolution, which pads with zeros."""
    mode = {one.name: one.s for one in site.first.attribute}.get("mode", b"constant")
    site.need(mode == b"reflect")
    pads = site.first.input[1]
    site.node.input[0] = site.emit("Pad", [site.first.input[0], pads])


fused("Conv", "BatchNormalization", layers.epsilon_outside_the_root)
fused("Conv", "BatchNormalization", layers.default_epsilon)
fused("Conv", "Relu", math.clipped_at_six)
fused("MatMul", "Add", math.bias_dropped)
fused("Mul", "Add", added_before_multiplied)
fused("Add", "Sqrt", epsilon_after_the_root)
fused("Add", "Clip", math.upper_bound_ignored)
fused("Add", "Relu", math.leaking)
fused("Sigmoid", "Mul", quick_swish)
fused("Pad", "Unsqueeze", border_of_zeros)
fused("Reshape", "Transpose", shape.data_left_in_place)
fused("Transpose", "MatMul", layers.half_accumulation)
