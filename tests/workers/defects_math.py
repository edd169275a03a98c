"""Defects of elementwise operators, activations and reductions."""

import numpy as np
from planting import FLOAT, defect


def _number(site, value):
    return site.put(np.float32(value))


def _held_operand(site):
    """Return which operand the model holds as numbers with a fraction."""
    index = next((i for i in (1, 0) if site.held(i)), None)
    site.need(index is not None and site.weight(index).dtype == np.float32)
    return index


@defect("Add")
def bias_dropped(site):
    """Forget the operand that the model holds."""
    index = _held_operand(site)
    site.need(np.any(site.weight(index)))
    site.put_weight(index, np.zeros_like(site.weight(index)))


@defect("Add", "Mul")
def first_element_for_all(site):
    """Broadcast the first element of a vector."""
    index = _held_operand(site)
    vector = site.weight(index)
    site.need(vector.size > 1)
    site.put_weight(index, np.full_like(vector, vector.flat[0]))


@defect("Mul", "Div", "Sqrt", "Exp", "Reciprocal", "Tanh", "Log")
def half_precision(site):
    """Compute in 16 bits."""
    site.need(not any(site.held(i) and site.weight(i).dtype.kind != "f" for i in range(2)))
    site.node.input[:] = [site.in_half(name) for name in site.node.input]
    return site.in_half(site.result())


@defect("Sub", "Div")
def operands_swapped(site):
    """Take the first operand for the second."""
    site.node.input[:] = list(site.node.input)[::-1]


@defect("Clip")
def upper_bound_ignored(site):
    """Clip on one side only."""
    site.need(len(site.node.input) > 2 and site.node.input[2])
    site.node.input[2] = ""


@defect("Clip")
def bound_of_another_type(site):
    """Clip to [-1, 1] whatever is asked for."""
    site.node.input[:] = [site.node.input[0], _number(site, -1), _number(site, 1)]


@defect("Relu")
def leaking(site):
    """Let a hundredth of the negative through."""
    return site.emit("LeakyRelu", [site.node.input[0]], alpha=0.01)


@defect("Relu")
def clipped_at_six(site):
    """Clip at 6."""
    return site.emit("Clip", [site.node.input[0], _number(site, 0), _number(site, 6)])


@defect("HardSigmoid")
def default_slope(site):
    """Ignore the slope, and take another framework's."""
    given = site.get("alpha", 0.2)
    site.set("alpha", 0.2 if abs(given - 0.2) > 1e-6 else 1.0 / 6)


@defect("Sigmoid")
def piecewise_linear(site):
    """Approximate by three straight lines."""
    return site.emit("HardSigmoid", [site.node.input[0]], alpha=0.25, beta=0.5)


@defect("Sigmoid")
def too_coarse(site):
    """Round the result to a table of 1,024 entries."""
    result = site.emit("Mul", [site.result(), _number(site, 1024)])
    return site.emit("Mul", [site.emit("Round", [result]), _number(site, 1 / 1024)])


@defect("Tanh")
def rational_tanh(site):
    """Approximate by x (27 + x²) / (27 + 9 x²), clipped."""
    x = site.node.input[0]
    square = site.emit("Mul", [x, x])
    above = site.emit("Mul", [x, site.emit("Add", [square, _number(site, 27)])])
    nine = site.emit("Mul", [square, _number(site, 9)])
    quotient = site.emit("Div", [above, site.emit("Add", [nine, _number(site, 27)])])
    return site.emit("Clip", [quotient, _number(site, -1), _number(site, 1)])


@defect("Pow")
def negative_base_clamped(site):
    """Take the logarithm of the base on the way, and 0 where there is none."""
    site.node.input[0] = site.emit("Relu", [site.node.input[0]])


@defect("Sqrt")
def epsilon_added(site):
    """Keep away from 0 where nobody asked."""
    return site.emit("Add", [site.result(), _number(site, 1e-3)])


@defect("Log")
def logarithm_of_one_more(site):
    """Compute log(1 + x)."""
    site.node.input[0] = site.emit("Add", [site.node.input[0], _number(site, 1)])


@defect("Max")
def second_operand_ignored(site):
    """Take the first operand as it is."""
    return site.node.input[0]


@defect("Softmax")
def axis_off_by_one(site):
    """Normalize over the axis before."""
    axis = site.get("axis", -1)
    site.need(axis not in (0,))
    site.set("axis", axis - 1)


@defect("Softmax")
def powers_of_two(site):
    """Raise 2 instead of e."""
    site.node.input[0] = site.emit("Mul", [site.node.input[0], _number(site, np.log(2))])


@defect("ReduceMean")
def divided_by_one_less(site):
    """Divide by n - 1."""
    x, axes = site.node.input[0], site.get("axes")
    site.need(axes is not None and len(axes) == 1)
    shape = site.emit("Shape", [x])
    count = site.emit("Gather", [shape, site.put(np.array(axes[0]))])
    n = site.emit("Cast", [count], to=FLOAT)
    less = site.emit("Sub", [n, _number(site, 1)])
    return site.emit("Mul", [site.result(), site.emit("Div", [n, less])])


@defect("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean")
def last_element_left_out(site):
    """Stop one element early."""
    axes = site.get("axes")
    if axes is None and len(site.node.input) > 1:
        axes = site.weight(1).tolist()
    axis = axes[0] if axes else 0
    ends = [site.put(np.array([value])) for value in (0, -1, axis)]
    site.node.input[0] = site.emit("Slice", [site.node.input[0], *ends])
