"""Constants and control flow of models on a table: Python's own, the same for every framework.

A framework supplies `truth` (a tensor of one boolean as Python's) and `count` (as a Python number),
`whole` (a tensor from a Python number) and `stack` (tensors of one shape, along a new first axis).
These rows let a model run; they are no operators of the framework and are not counted as such.
"""

import numpy as np

from .arrays import from_numpy
from .failure import Failed, Unsupported


def rows(framework):
    """Return the rows."""

    def If(node, condition):
        return tuple(node["then_branch" if framework.truth(condition) else "else_branch"]())

    def Loop(node, limit, condition, *carried):
        body, values, scanned = node["body"], list(carried), []
        steps = None if limit is None else framework.count(limit)
        going, step = condition is None or framework.truth(condition), 0
        while going and (steps is None or step < steps):
            condition_in = framework.whole(going, bool)
            results = body([framework.whole(step, int), condition_in] + values, step)
            going = framework.truth(results[0])
            values = list(results[1 : 1 + len(carried)])
            scanned.append(results[1 + len(carried) :])
            step += 1
        if not scanned and len(node.outputs) > len(carried):
            raise Unsupported("a loop that collects values in no step")
        return tuple(values + [framework.stack(list(column), 0) for column in zip(*scanned)])

    def Scan(node, *inputs):
        if node.opset < 9:
            raise Unsupported("Scan before opset 9")
        body, count = node["body"], node["num_scan_inputs"]
        values, scans = list(inputs[: len(inputs) - count]), inputs[len(inputs) - count :]
        axes = node.get("scan_input_axes", [0] * count)
        back = node.get("scan_input_directions", [0] * count)
        length = framework.extent(scans[0], axes[0])
        columns = []
        for step in range(length):
            picked = [
                framework.pick(scan, axis, length - 1 - step if reverse else step)
                for scan, axis, reverse in zip(scans, axes, back)
            ]
            results = body(values + picked, step)
            values = list(results[: len(values)])
            columns.append(results[len(values) :])
        if not columns:
            raise Failed("a scan over nothing")
        out = [list(column) for column in zip(*columns)]
        turned = node.get("scan_output_directions", [0] * len(out))
        places = node.get("scan_output_axes", [0] * len(out))
        return tuple(values) + tuple(
            framework.stack(column[::-1] if reverse else column, axis)
            for column, reverse, axis in zip(out, turned, places)
        )

    def Constant(node):
        for name, value in node.attributes.items():
            if name in _CONSTANTS:
                return framework.constant(_array(value, _CONSTANTS[name]))
        raise Unsupported("a constant that is sparse")

    return {"Constant": Constant, "If": If, "Loop": Loop, "Scan": Scan}


# The attributes of Constant, and the type that each one's elements have.
_CONSTANTS = {
    "value": None, "value_float": np.float32, "value_floats": np.float32,
    "value_int": np.int64, "value_ints": np.int64, "value_string": object, "value_strings": object,
}  # fmt: skip


def _array(value, kind):
    return value if kind is None else from_numpy(np.array(value, kind))
