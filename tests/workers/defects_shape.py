"""Defects of operators that move, choose and make elements."""

import numpy as np
from planting import defect


@defect("Concat")
def pieces_in_reverse(site):
    """Join the last piece first."""
    site.need(len(site.node.input) > 1)
    site.node.input[:] = list(site.node.input)[::-1]


@defect("Split")
def outputs_swapped(site):
    """Give the first piece for the second."""
    site.need(len(site.node.output) > 1)
    names = list(site.node.output)
    site.node.output[:] = [names[1], names[0], *names[2:]]


@defect("Transpose")
def data_left_in_place(site):
    """Change the shape and not the order of the elements."""
    shape = site.emit("Shape", [site.result()])
    return site.emit("Reshape", [site.node.input[0], shape])


@defect("Slice")
def shifted_by_one(site):
    """Start, and end, one element early."""
    starts, ends = site.weight(1), site.weight(2)
    site.need(starts.size == 1 and starts.item() > 0)
    site.put_weight(1, starts - 1)
    if abs(ends.item()) < 1 << 30:
        site.put_weight(2, ends - 1)
    else:
        site.put_weight(2, np.array([-1], ends.dtype))


@defect("Pad")
def edge_for_reflection(site):
    """Repeat the edge."""
    site.need(site.get("mode", b"constant") == b"reflect")
    site.set("mode", "edge")


@defect("Pad")
def edge_for_zeros(site):
    """Repeat the edge where zeros are asked for."""
    site.need(site.get("mode", b"constant") == b"constant" and np.any(site.weight(1) > 0))
    site.set("mode", "edge")
    del site.node.input[2:]


@defect("Pad")
def all_padding_before(site):
    """Put what belongs behind the data before them."""
    pads = site.weight(1).copy()
    half = pads.size // 2
    site.put_weight(1, np.concatenate([pads[:half] + pads[half:], 0 * pads[half:]]))


@defect("Resize")
def half_pixel_for_asymmetric(site):
    """Take another transformation of coordinates."""
    site.need(site.get("coordinate_transformation_mode", b"half_pixel") == b"asymmetric")
    site.set("coordinate_transformation_mode", "half_pixel")
    site.set("nearest_mode", "ceil")


@defect("Resize")
def linear_for_nearest(site):
    """Interpolate."""
    site.need(site.get("mode", b"nearest") == b"nearest")
    site.set("mode", "linear")


@defect("Where")
def branches_swapped(site):
    """Take the second where the first is meant."""
    first, second = site.node.input[1:3]
    site.node.input[1:3] = [second, first]


@defect("Range")
def starts_at_one(site):
    """Count from one."""
    one = site.emit("CastLike", [site.put(np.float32(1)), site.node.input[0]])
    return site.emit("Add", [site.result(), one])


@defect("Reshape")
def read_by_columns(site):
    """Take the elements in the order of columns."""
    flat = site.put(np.array([-1]))
    turned = site.emit("Reshape", [site.emit("Transpose", [site.node.input[0]]), flat])
    return site.emit("Reshape", [turned, site.emit("Shape", [site.result()])])
